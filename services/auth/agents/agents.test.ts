import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { startAuth, type TestAuth } from '../../../test/support/auth-service.ts';
import type { TenantId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { agentConnectionsCollection } from '../../common/records/auth/agent-connections.ts';
import { apiKeysCollection } from '../../common/records/auth/api-keys.ts';
import { createTenants } from '../../common/records/auth/tenants.ts';
import { createUsers, usersCollection } from '../../common/records/auth/users.ts';
import { auditRecordsCollection } from '../repositories/audit-log.ts';
import { createMemberships } from '../repositories/memberships.ts';
import { MAX_AGENTS } from './agents.ts';

interface NewAgent {
  readonly agentId: string;
  readonly agentEmail: string;
  readonly agentApiKey: string;
}

describe('agents', () => {
  let auth: TestAuth;
  let parent: Principal;
  beforeEach(async () => {
    auth = await startAuth();
    parent = await auth.addUser();
  });
  afterEach(() => auth[Symbol.asyncDispose]());

  const create = async (name: string, principal = parent) =>
    (await auth.call('POST', '/api/v1/agents/create', { principal, query: { name } })).json as NewAgent;
  const list = async () => (await auth.call('GET', '/api/v1/agents/list', { principal: parent })).json;
  const call = (method: 'GET' | 'DELETE', agentId: string) =>
    auth.call(method, '/api/v1/agents/:agentId', { principal: parent, params: { agentId } });
  const use = (value: string) => auth.authenticate({ kind: 'api-key', value });
  const principalOf = async ({ agentApiKey }: NewAgent): Promise<Principal> => {
    const principal = await use(agentApiKey);
    if (principal === null) throw new Error('the key of the agent is refused');
    return principal;
  };
  const refusal = (promise: Promise<unknown>) => promise.then(JSON.stringify, (error: unknown) => error);
  const count = (collection: typeof usersCollection | typeof apiKeysCollection) =>
    auth.store.count(SYSTEM_SCOPE, collection as typeof usersCollection, {});
  /** A tenant that the user owns, belongs to and works in. */
  const enterTenant = async (user: Principal): Promise<TenantId> => {
    const tenant = asId<TenantId>(randomUUID());
    const [users, createdAt] = [createUsers(auth.store), auth.clock.now().toISOString()];
    const account = await users.get(user.id);
    if (account === null) throw new Error('no such account');
    await auth.store.commit(SYSTEM_SCOPE, [
      createTenants(auth.store).insertWrite({ id: tenant, name: 'acme', ownerId: user.id, createdAt }),
      createMemberships(auth.store).insertWrite(tenant, user.id, createdAt),
      users.replaceWrite({ ...account, tenant }),
    ]);
    return tenant;
  };

  it('are limited in number, so that their parent can be removed from a tenant', async () => {
    const owner = await auth.addUser();
    const tenant = await enterTenant(owner);
    const member = { ...parent, tenant };
    const users = createUsers(auth.store);
    const account = await users.get(parent.id);
    if (account === null) throw new Error('no such account');
    const agent = { isActive: true, isSuperuser: false, isVerified: false, passwordHash: '!', parentId: parent.id };
    const createdAt = auth.clock.now().toISOString();
    const agents = Array.from({ length: MAX_AGENTS }, (_, index) =>
      users.insertWrite({ ...agent, id: asId(randomUUID()), email: `${index}@cognee.agent`, tenant, createdAt }),
    );
    const joined = createMemberships(auth.store).insertWrite(tenant, parent.id, createdAt);
    await auth.store.commit(SYSTEM_SCOPE, [users.replaceWrite({ ...account, tenant }), joined, ...agents]);
    expect(await refusal(create('one more', member))).to.include({ wireName: 'InvalidRequestError', status: 400 });
    await auth.call('DELETE', '/api/v1/permissions/tenants/:tenantId/users/:userId', {
      principal: { ...owner, tenant },
      params: { tenantId: tenant, userId: parent.id },
    });
    expect(await createMemberships(auth.store).has(tenant, parent.id)).to.equal(false);
  });

  it('are not created for a parent that was deleted or deactivated meanwhile', async () => {
    const users = createUsers(auth.store);
    const account = await users.get(parent.id);
    if (account === null) throw new Error('no such account');
    await auth.store.commit(SYSTEM_SCOPE, [users.replaceWrite({ ...account, isActive: false })]);
    expect(await refusal(create('late'))).to.include({ status: 404 });
    expect(await list()).to.deep.equal([]);
  });

  it('are deleted with their parent, or refused, when they are created during its deletion', async () => {
    const admin = await auth.addUser({ isSuperuser: true });
    const users = await count(usersCollection);
    const keys = await count(apiKeysCollection);
    const remove = () =>
      auth.call('DELETE', '/api/v1/users/:userId', { principal: admin, params: { userId: parent.id } });
    const making = Array.from({ length: 12 }, async (_, index) => {
      for (let turn = 0; turn < index * 4; turn += 1) await Promise.resolve();
      return create(`bot ${index}`);
    });
    const [made] = await Promise.all([Promise.allSettled(making), remove()]);
    for (const result of made) {
      if (result.status === 'fulfilled') expect(await use(result.value.agentApiKey)).to.equal(null);
    }
    expect([await count(usersCollection), await count(apiKeysCollection)]).to.deep.equal([users - 1, keys]);
  });

  it('leave their datasets, and nothing else, to their parent when they are deleted', async () => {
    const agent = await create('bot');
    const principal = await principalOf(agent);
    const { dataset } = await auth.messenger.call(
      'auth.CreateDataset',
      { name: 'notes' },
      { requestId: 'test', principal },
    );
    await auth.call('POST', '/api/v1/agents/register', { principal, body: { agent_session_name: 'work' } });
    expect((await call('DELETE', agent.agentId)).json).to.equal(null);
    expect(await list()).to.deep.equal([]);
    expect(await use(agent.agentApiKey)).to.equal(null);
    expect(await auth.store.count(SYSTEM_SCOPE, agentConnectionsCollection, {})).to.equal(0);
    expect(await auth.store.count(SYSTEM_SCOPE, apiKeysCollection, {})).to.equal(0);
    const { datasets } = await auth.messenger.call(
      'auth.ResolveDatasets',
      { permission: 'delete', ids: [dataset.id] },
      { requestId: 'test', principal: parent },
    );
    expect(datasets[0]).to.include({ name: 'notes', ownerId: parent.id });
    expect(await refusal(call('DELETE', agent.agentId))).to.include({ status: 404 });
  });

  it('are audited without their keys', async () => {
    const agent = await create('bot');
    await call('DELETE', agent.agentId);
    const { items } = await auth.store.find(SYSTEM_SCOPE, auditRecordsCollection, { limit: 100 });
    const told = items.map(({ value }) => value).filter(({ actor }) => actor === parent.id);
    expect(told.map(({ action }) => action)).to.include.members(['agent.created', 'key.created', 'agent.deleted']);
    expect(told.find(({ action }) => action === 'agent.created')).to.include({ subject: agent.agentId });
    expect(JSON.stringify(items)).not.to.contain(agent.agentApiKey);
  });
});
