import { expect } from 'chai';
import { startAuth, type TestAuth } from '../../../test/support/auth-service.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { auditRecordsCollection } from '../repositories/audit-log.ts';
import { storedConfigurationsCollection } from '../repositories/stored-configurations.ts';

const STORE = '/api/v1/configuration/store_user_configuration';
const LIST = '/api/v1/configuration/get_user_configuration';
const READ = `${LIST}/:configId`;

interface Listed {
  readonly id: string;
  readonly ownerId: string;
  readonly name: string;
  readonly configuration: unknown;
  readonly updatedAt: string | null;
}

describe('stored configurations', () => {
  let auth: TestAuth;
  let user: Principal;
  beforeEach(async () => {
    auth = await startAuth();
    user = await auth.addUser();
  });
  afterEach(() => auth[Symbol.asyncDispose]());

  const store = (principal: Principal, name: string, config: unknown) =>
    auth.call('POST', STORE, { principal, body: { name, config } });
  const list = async (principal: Principal) => (await auth.call('GET', LIST, { principal })).json as readonly Listed[];
  const read = async (principal: Principal, configId: string) =>
    (await auth.call('GET', READ, { principal, params: { configId } })).json;

  it('are returned exactly as they were sent, whatever their names and depth', async () => {
    const config = JSON.parse(
      '{"z":1,"a":{"snake_case":[1.5,"ü\\u0000",null,{"$set":{"a.b":true}}],"camelCase":{}},"__proto__":{"admin":true},"":"empty"}',
    ) as Record<string, unknown>;
    await store(user, 'graph-models', config);
    const [stored] = await list(user);
    expect(JSON.stringify(stored?.configuration)).to.equal(JSON.stringify(config));
    expect(JSON.stringify(await read(user, stored?.id ?? ''))).to.equal(JSON.stringify(config));
  });

  it('of one name are stored once by concurrent requests', async () => {
    await Promise.all(Array.from({ length: 12 }, (_, size) => store(user, 'pipeline-settings', { size })));
    const found = await list(user);
    expect(found).to.have.length(1);
    const { items } = await auth.store.find(SYSTEM_SCOPE, storedConfigurationsCollection, { limit: 10 });
    expect(items[0]?.version).to.equal(12);
  });

  it('are visible to their owner and to the parent of an agent only', async () => {
    const agent = await auth.addUser({ parentId: user.id });
    const stranger = await auth.addUser();
    const superuser = await auth.addUser({ isSuperuser: true });
    await store(user, 'own', { of: 'user' });
    await store(agent, 'agent_configuration', { of: 'agent' });
    const seen = await list(user);
    expect(seen.map(({ name }) => name)).to.have.members(['own', 'agent_configuration']);
    expect((await list(agent)).map(({ name }) => name)).to.deep.equal(['agent_configuration']);
    for (const other of [stranger, superuser]) expect(await list(other)).to.deep.equal([]);
    for (const { id, ownerId, configuration } of seen) {
      expect(await read(user, id)).to.deep.equal(configuration);
      expect(await read(agent, id)).to.deep.equal(ownerId === agent.id ? configuration : {});
      for (const other of [stranger, superuser]) expect(await read(other, id)).to.deep.equal({});
    }
    expect(await read(user, '00000000-0000-4000-8000-00000000dead')).to.deep.equal({});
  });

  it('are limited in size and number, and existing ones can still be changed', async () => {
    const tooMuch = { text: 'ü'.repeat(140_000) };
    const refusal = async (storing: Promise<unknown>) => storing.catch((error: unknown) => error);
    expect(await refusal(store(user, 'a', tooMuch))).to.include({ wireName: 'PayloadTooLargeError', status: 413 });
    expect(await list(user)).to.deep.equal([]);
    for (let number = 0; number < 100; number += 1) await store(user, `name-${number}`, { number });
    expect(await refusal(store(user, 'one-more', {}))).to.include({ wireName: 'PayloadTooLargeError' });
    await store(user, 'name-7', { number: 'seven' });
    expect(await list(user)).to.have.length(100);
  });

  it('are deleted with their account, and not stored during its deletion', async () => {
    const superuser = await auth.addUser({ isSuperuser: true });
    const agent = await auth.addUser({ parentId: user.id });
    await store(user, 'own', {});
    await store(agent, 'agent_configuration', {});
    await store(superuser, 'other', {});
    const deletion = auth.call('DELETE', '/api/v1/users/:userId', {
      principal: superuser,
      params: { userId: user.id },
    });
    const storing = Array.from({ length: 5 }, (_, number) =>
      store(user, `late-${number}`, {}).then(
        () => 'stored',
        (error: unknown) => (error as { wireName?: string }).wireName,
      ),
    );
    await deletion;
    for (const outcome of await Promise.all(storing)) expect(outcome).to.be.oneOf(['stored', 'UserNotFoundError']);
    const refused = await store(user, 'later', {}).catch((error: unknown) => error);
    expect(refused).to.include({ wireName: 'UserNotFoundError' });
    const { items } = await auth.store.find(SYSTEM_SCOPE, storedConfigurationsCollection, { limit: 50 });
    expect(items.map(({ value }) => value.name)).to.deep.equal(['other']);
  });

  it('are audited by name, without their content', async () => {
    await store(user, 'graph-models', { apiKey: 'a-secret-of-somebody' });
    const { items } = await auth.store.find(SYSTEM_SCOPE, auditRecordsCollection, { limit: 10 });
    const told = items.map(({ value }) => value).filter(({ action }) => action === 'configuration.stored');
    expect(told).to.have.length(1);
    expect(told[0]).to.include({ actor: user.id, details: '{"name":"graph-models"}' });
    expect(JSON.stringify(items)).to.not.contain('a-secret-of-somebody');
  });
});
