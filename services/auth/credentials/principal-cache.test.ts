import { expect } from 'chai';
import { testClock } from '../../../test/support/auth-service.ts';
import { asId } from '../../common/kernel/ids.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import { cacheKey, createPrincipalCache } from './principal-cache.ts';

const ada: Principal = {
  id: asId<Principal['id']>('0d6c0000-0000-4000-8000-000000000000'),
  email: 'ada@example.com',
  tenant: PERSONAL_TENANT,
  isSuperuser: false,
  parentId: null,
};

describe('principal cache', () => {
  it('keeps an entry for a second', () => {
    const clock = testClock();
    const cache = createPrincipalCache({ clock });
    const lookUp = cache.lookUp();
    clock.advance(400); // a slow look-up counts
    cache.put('key', ada, lookUp);
    clock.advance(599);
    expect(cache.get('key')).to.equal(ada);
    clock.advance(1);
    expect(cache.get('key')).to.equal(null);
  });

  it('keeps no entry beyond the expiry of its credential', () => {
    const clock = testClock();
    const cache = createPrincipalCache({ clock });
    cache.put('key', ada, cache.lookUp(), 300);
    clock.advance(299);
    expect(cache.get('key')).to.equal(ada);
    clock.advance(1);
    expect(cache.get('key')).to.equal(null);
    cache.put('key', ada, cache.lookUp(), 5000);
    clock.advance(1000);
    expect(cache.get('key')).to.equal(null);
  });

  it('ignores a look-up that began before a change, so that a slow one cannot undo a logout', () => {
    const cache = createPrincipalCache({ clock: testClock() });
    const lookUp = cache.lookUp();
    cache.dropUser(ada.id);
    cache.put('key', ada, lookUp);
    expect(cache.get('key')).to.equal(null);
  });

  it('drops all entries of a user, and none of others', () => {
    const cache = createPrincipalCache({ clock: testClock() });
    const grace = { ...ada, id: asId<Principal['id']>('0d6c0000-0000-4000-8000-000000000001') };
    cache.put('a', ada, cache.lookUp());
    cache.put('b', ada, cache.lookUp());
    cache.put('c', grace, cache.lookUp());
    cache.dropUser(ada.id);
    expect(['a', 'b', 'c'].map((key) => cache.get(key) !== null)).to.deep.equal([false, false, true]);
  });

  it('drops the oldest entry at its size limit', () => {
    const cache = createPrincipalCache({ clock: testClock(), maxEntries: 2 });
    for (const key of ['a', 'b', 'a', 'c']) cache.put(key, ada, cache.lookUp());
    expect(['a', 'b', 'c'].map((key) => cache.get(key) !== null)).to.deep.equal([true, false, true]);
  });

  it('keeps credentials of different kinds apart', () => {
    const kinds = (['api-key', 'bearer', 'cookie'] as const).map((kind) => cacheKey({ kind, value: 'x' }));
    expect(new Set(kinds).size).to.equal(3);
  });
});
