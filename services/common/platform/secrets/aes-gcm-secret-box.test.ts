import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { isEngramError } from '../../kernel/errors.ts';
import type { SecretBox } from '../../ports/secret-box.ts';
import { createAesGcmSecretBox, type RootKey } from './aes-gcm-secret-box.ts';

const PLACE = { collection: 'connections', id: '1', field: 'token' };
const rootKey = (id: string): RootKey => ({ id, bytes: randomBytes(32) });
const boxOf = (...keys: readonly [RootKey, ...RootKey[]]): SecretBox => createAesGcmSecretBox(async () => keys);

async function faultOf(opening: Promise<string>): Promise<string> {
  const error = await opening.then(
    (plain) => expect.fail(`opened: ${plain.length} characters`),
    (reason: unknown) => reason,
  );
  return isEngramError(error) ? error.wireName : String(error);
}

describe('secret box', () => {
  const old = rootKey('old');
  const box = boxOf(old);

  it('opens what it sealed, whatever the text, and shows nothing of it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 200 }), async (plain) => {
        const sealed = await box.seal(plain, PLACE);
        expect(await box.open(sealed, PLACE)).to.equal(plain);
        expect(sealed).to.match(/^1\.old\.[\w-]+$/);
        if (plain.length > 3) expect(sealed).to.not.contain(plain);
      }),
      { numRuns: 50 },
    );
  });

  it('seals the same secret differently each time', async () => {
    expect(await box.seal('same', PLACE)).to.not.equal(await box.seal('same', PLACE));
  });

  it('opens nothing in which a character was changed, added or left out', async () => {
    const sealed = await box.seal('sk-secret', PLACE);
    for (let at = 0; at < sealed.length; at += 1) {
      const other = sealed[at] === 'A' ? 'B' : 'A';
      const changed = sealed.slice(0, at) + other + sealed.slice(at + 1);
      const faults = [changed, sealed.slice(0, at), sealed.slice(0, at) + sealed.slice(at + 1)];
      for (const text of faults) expect(await faultOf(box.open(text, PLACE))).to.equal('CorruptStoreError');
    }
    for (const text of [`${sealed}A`, `${sealed}=`, `${sealed}.`, ` ${sealed}`, '', '1', '1.old', '1.old.AAAA']) {
      expect(await faultOf(box.open(text, PLACE))).to.equal('CorruptStoreError');
    }
  });

  it('opens nothing that was moved to another collection, document or field', async () => {
    const sealed = await box.seal('sk-secret', PLACE);
    const places = [
      { ...PLACE, collection: 'settings' },
      { ...PLACE, id: '2' },
      { ...PLACE, field: 'refreshToken' },
      // Joined without care these would read like the right one.
      { collection: 'connections/1', id: '', field: 'token' },
      { collection: 'connections', id: '1/token', field: '' },
    ];
    for (const place of places) expect(await faultOf(box.open(sealed, place))).to.equal('CorruptStoreError');
  });

  it('opens what an older root key sealed after a rotation, and seals with the newer one', async () => {
    const fresh = rootKey('fresh');
    const before = await box.seal('secret', PLACE);
    const rotated = boxOf(fresh, old);
    expect(await rotated.open(before, PLACE)).to.equal('secret');
    const after = await rotated.seal('secret', PLACE);
    expect(after).to.match(/^1\.fresh\./);
    expect(await faultOf(box.open(after, PLACE))).to.equal('CorruptStoreError');
    expect(await boxOf(fresh).open(after, PLACE)).to.equal('secret');
    expect([await rotated.isCurrent(before), await rotated.isCurrent(after)]).to.deep.equal([false, true]);
  });

  it('opens nothing with another key of the same name', async () => {
    const sealed = await box.seal('secret', PLACE);
    expect(await faultOf(boxOf(rootKey('old')).open(sealed, PLACE))).to.equal('CorruptStoreError');
  });

  it('asks for its root keys with the first secret, once, and again only after a failure', async () => {
    let asked = 0;
    const lazy = createAesGcmSecretBox(async () => {
      asked += 1;
      if (asked === 1) throw new Error('not there yet');
      return [old];
    });
    expect(asked).to.equal(0);
    expect(await faultOf(lazy.seal('secret', PLACE))).to.contain('not there yet');
    const sealed = await Promise.all([lazy.seal('a', PLACE), lazy.seal('b', PLACE)]);
    expect(await lazy.open(sealed[1], PLACE)).to.equal('b');
    expect(asked).to.equal(2);
  });
});
