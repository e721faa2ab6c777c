import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { apiKeyHash, apiKeyPrefix, newApiKeyText } from '../../services/auth/credentials/api-key-text.ts';
import type { UserId } from '../../services/common/kernel/brand.ts';
import { asId } from '../../services/common/kernel/ids.ts';
import { PERSONAL_TENANT } from '../../services/common/kernel/scope.ts';
import { createApiKeys } from '../../services/common/records/auth/api-keys.ts';
import { required } from '../support/auth-service.ts';
import { startTwoReplicas, type TwoReplicas } from '../support/two-replicas.ts';
import { until } from '../support/until.ts';

describe('people shut out by their directory', function () {
  this.timeout(60_000);
  let replicas: TwoReplicas;
  before(async () => {
    replicas = await startTwoReplicas({ auth: { posture: required } });
  });
  after(() => replicas[Symbol.asyncDispose]());

  async function call(
    base: string,
    method: string,
    path: string,
    { key, body }: { key?: string; body?: unknown } = {},
  ) {
    const headers = { 'content-type': 'application/json', ...(key === undefined ? {} : { authorization: key }) };
    return fetch(`${base}${path}`, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  }
  const json = async (response: Response) => (await response.json()) as Record<string, string>;

  it('are refused by every replica, whichever was told', async () => {
    const { one, two, store } = replicas;
    const account = { email: 'owner@example.com', password: 'a long enough password' };
    expect((await call(one.baseUrl, 'POST', '/api/v1/auth/register', { body: account })).status).to.equal(201);
    const login = await fetch(`${one.baseUrl}/api/v1/auth/login`, {
      method: 'POST',
      body: new URLSearchParams({ username: account.email, password: account.password }),
    });
    const key = `Bearer ${(await json(login))['access_token']}`;
    expect((await call(one.baseUrl, 'POST', '/api/v1/permissions/tenants?tenant_name=acme', { key })).status).to.equal(
      200,
    );
    for (let [round, isByNews] = [0, false]; !isByNews; round += 1) {
      const userName = `ada-${round}@example.com`;
      const created = await call(one.baseUrl, 'POST', '/scim/v2/Users', { key, body: { userName } });
      expect(created.status).to.equal(201);
      const id = (await json(created))['id'] ?? '';

      const text = newApiKeyText();
      const parts = { id: randomUUID(), userId: asId<UserId>(id), hash: apiKeyHash(text), prefix: apiKeyPrefix(text) };
      const limits = { label: null, expiresAt: null, permissions: null, datasets: null, tenant: null };
      const apiKey = { ...parts, ...limits, name: null, lastUsedAt: null, createdAt: new Date().toISOString() };
      await store.commit({ tenant: PERSONAL_TENANT }, [createApiKeys(store).insertWrite(apiKey)]);
      const statusAt = async (base: string) =>
        (await call(base, 'GET', '/api/v1/users/me', { key: `Bearer ${text}` })).status;
      const askedAt = performance.now();
      expect([await statusAt(one.baseUrl), await statusAt(two.baseUrl)]).to.deep.equal([200, 200]);

      const body = { Operations: [{ op: 'replace', path: 'active', value: false }] };
      expect((await call(one.baseUrl, 'PATCH', `/scim/v2/Users/${id}`, { key, body })).status).to.equal(200);
      expect(await statusAt(one.baseUrl)).to.equal(401);
      await until('it is refused at the other one', async () => (await statusAt(two.baseUrl)) === 401);
      // After a second it would be refused without news: where all this takes so long, once more.
      isByNews = performance.now() - askedAt < 1000;
      expect(round, 'rounds without news').to.be.lessThan(8);
    }
  });
});
