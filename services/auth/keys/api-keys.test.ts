import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { startAuth, type TestAuth } from '../../../test/support/auth-service.ts';
import type { DatasetId } from '../../common/kernel/brand.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { apiKeysCollection } from '../../common/records/auth/api-keys.ts';
import { newApiKeyText } from '../credentials/api-key-text.ts';

interface KeyRecord {
  readonly key: string;
  readonly id: string;
  readonly expires_at: string | null;
}

const path = '/api/v1/auth/api-keys';

describe('API keys with an expiry and limits', () => {
  let auth: TestAuth;
  let principal: Principal;
  beforeEach(async () => {
    auth = await startAuth();
    principal = await auth.addUser();
  });
  afterEach(() => auth[Symbol.asyncDispose]());

  const create = async (body: object) => (await auth.call('POST', path, { principal, body })).json as KeyRecord;
  const list = async () => (await auth.call('GET', path, { principal })).json as readonly KeyRecord[];
  const use = (value: string) => auth.authenticate({ kind: 'api-key', value });
  const refusal = (body: object) => create(body).then(JSON.stringify, (error: unknown) => error);
  const makeDataset = async (owner: Principal): Promise<DatasetId> => {
    const call = { requestId: 'test', principal: owner };
    return (await auth.messenger.call('auth.CreateDataset', { name: `set-${randomUUID()}` }, call)).dataset.id;
  };

  it('returns the limits of a key with the principal', async () => {
    const dataset = await makeDataset(principal);
    const { key, id } = await create({ permissions: ['read', 'write', 'read'], datasets: [dataset] });
    expect((await use(key))?.key).to.deep.equal({ id, permissions: ['read', 'write'], datasets: [dataset] });
  });

  it('refuses an expired key to the millisecond, cached or not', async () => {
    const { key } = await create({ expires_at: 1 });
    auth.clock.advance(999);
    expect(await use(key)).not.to.equal(null);
    auth.clock.advance(1);
    expect(await use(key)).to.equal(null);
  });

  it('refuses an epoch time as a lifetime, and empty lists of limits', async () => {
    for (const body of [
      { expires_at: 1_767_323_045 },
      ...[0, -1, 'soon', '2026-13-01T00:00:00Z'].map((expires_at) => ({ expires_at })),
      ...[[], ['admin'], 'read'].map((permissions) => ({ permissions })),
      ...[[], ['x']].map((datasets) => ({ datasets })),
    ]) {
      expect(await refusal(body), JSON.stringify(body)).to.have.property('name', 'ZodError');
    }
  });

  it('replaces an expired key at the limit, before one of the same name', async () => {
    const expiring = await create({ name: 'short', expires_at: 1 });
    for (let count = 1; count < 10; count += 1) await create({ name: 'plugin' });
    auth.clock.advance(1000);
    await create({ name: 'plugin' });
    const ids = (await list()).map(({ id }) => id);
    expect(ids).to.have.length(10).and.not.to.include(expiring.id);
  });

  it('writes at most one last use for a burst of requests', async () => {
    const { key, id } = await create({});
    await Promise.all(Array.from({ length: 20 }, () => use(key)));
    for (let count = 0; count < 20; count += 1) {
      await use(key);
      auth.clock.advance(1500); // beyond what is remembered, so that each looks the key up
    }
    expect((await auth.store.get(SYSTEM_SCOPE, apiKeysCollection, id))?.version).to.equal(2);
  });

  it('does not send keys of this server to the hosted service', async () => {
    const { key } = await create({});
    const check = (sent: string) => auth.call('POST', '/api/v1/checks/connection', { headers: { 'x-api-key': sent } });
    const refused = await check(` ${key} `).catch((error: unknown) => error);
    expect(refused).to.include({ wireName: 'CloudApiKeyMissingError', status: 400 });
    expect((await check(newApiKeyText())).json).to.equal(null);
  });
});
