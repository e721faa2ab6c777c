import { expect } from 'chai';
import { startAuth, type TestAuth } from '../../../test/support/auth-service.ts';
import type { DatasetId } from '../../common/kernel/brand.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { agentConnectionsCollection } from '../../common/records/auth/agent-connections.ts';

interface Connection {
  readonly id: string;
  readonly agent_session_name: string;
  readonly status: string;
  readonly metadata: object;
}

interface Source {
  readonly id: string;
  readonly connected_agent_ids: readonly string[];
}

interface Listed {
  readonly agents: readonly Connection[];
  readonly memory_sources: readonly Source[];
  readonly total: number;
  readonly has_more: boolean;
}

describe('agent connections', () => {
  let auth: TestAuth;
  let parent: Principal;
  let agent: Principal;
  let stranger: Principal;
  beforeEach(async () => {
    auth = await startAuth();
    parent = await auth.addUser();
    agent = await auth.addUser({ parentId: parent.id });
    stranger = await auth.addUser();
  });
  afterEach(() => auth[Symbol.asyncDispose]());

  const register = async (name: string, more: object = {}, principal = parent) => {
    const body = { agent_session_name: name, ...more };
    auth.clock.advance(1);
    return (await auth.call('POST', '/api/v1/agents/register', { principal, body })).json as Connection;
  };
  const unregister = async (name: string, principal = parent) =>
    (await auth.call('POST', '/api/v1/agents/unregister', { principal, body: { agent_session_name: name } })).json;
  const list = async (query: object = {}) =>
    (await auth.call('GET', '/api/v1/agents/connections', { principal: parent, query: { ...query } })).json as Listed;
  const me = async (query: object = {}, principal = parent) =>
    (await auth.call('GET', '/api/v1/agents/connections/me', { principal, query: { ...query } })).json as {
      readonly agent: Connection;
      readonly memory_sources: readonly Source[];
    };
  const makeDataset = async (name: string, owner: Principal): Promise<DatasetId> => {
    const call = { requestId: 'test', principal: owner };
    auth.clock.advance(1); // datasets are listed by age
    return (await auth.messenger.call('auth.CreateDataset', { name }, call)).dataset.id;
  };
  const refusal = (promise: Promise<unknown>) => promise.then(JSON.stringify, (error: unknown) => error);

  it('of one name become one when they are registered at the same time, with all metadata', async () => {
    const keys = Array.from({ length: 8 }, (_, index) => `key${index}`);
    await Promise.all(keys.map((key) => register('sess-1', { metadata: { [key]: true } })));
    const { agents, total } = await list();
    expect(total).to.equal(1);
    expect(Object.keys(agents[0]?.metadata ?? {})).to.have.members(keys);
  });

  it('have limited metadata', async () => {
    await register('sess-1', { metadata: { a: 'x'.repeat(40_000) } });
    expect(await refusal(register('sess-1', { metadata: { b: 'x'.repeat(40_000) } }))).to.include({ status: 400 });
  });

  it('are not found by name under another user', async () => {
    await register('sess-1');
    expect(await refusal(me({ agent_session_name: 'sess-1' }, stranger))).to.include({ status: 404 });
    await register('sess-1', {}, stranger);
    expect(await unregister('sess-1', stranger)).to.deep.equal({ activeAgents: 0 });
    expect((await me({ agent_session_name: 'sess-1' })).agent.status).to.equal('active');
  });

  it('list the datasets that the caller can read, and their users', async () => {
    const [notes, brain] = [await makeDataset('notes', parent), await makeDataset('company_brain', parent)];
    await makeDataset('notes', stranger);
    const byId = await register('by id', { dataset_ids: [notes] });
    const byName = await register('by name', { dataset_names: ['notes'] });
    await register('ended', { dataset_ids: [brain] });
    await unregister('ended');
    const { memory_sources: sources } = await list();
    expect(sources).to.deep.equal([
      {
        id: notes,
        name: 'notes',
        type: 'dataset',
        owner_id: parent.id,
        tenant_id: null,
        status: 'active',
        connected_agent_ids: [byId.id, byName.id],
        metadata: {},
      },
      {
        id: brain,
        name: 'company_brain',
        type: 'company_brain',
        owner_id: parent.id,
        tenant_id: null,
        status: 'active',
        connected_agent_ids: [],
        metadata: {},
      },
    ]);
    expect((await me()).memory_sources).to.deep.equal(sources);
    expect((await list({ include_sources: 'false' })).memory_sources).to.deep.equal([]);
    expect((await list({ agent_id: agent.id })).memory_sources.flatMap((source) => source.connected_agent_ids)).to.be
      .empty;
  });

  it('end with their agent, or are refused, when they are registered during its deletion', async () => {
    const registering = Array.from({ length: 12 }, async (_, index) => {
      for (let turn = 0; turn < index * 4; turn += 1) await Promise.resolve();
      return register(`sess-${index}`, {}, agent);
    });
    const remove = () =>
      auth.call('DELETE', '/api/v1/agents/:agentId', { principal: parent, params: { agentId: agent.id } });
    await Promise.all([Promise.allSettled(registering), remove()]);
    expect(await auth.store.count(SYSTEM_SCOPE, agentConnectionsCollection, {})).to.equal(0);
  });

  it('need an existing account', async () => {
    const ghost = {
      ...stranger,
      id: parent.id.replace(/^./, (digit) => (digit === '0' ? '1' : '0')) as Principal['id'],
    };
    expect(await refusal(register('sess-1', {}, ghost))).to.include({ status: 404 });
    expect(await auth.store.count(SYSTEM_SCOPE, agentConnectionsCollection, {})).to.equal(0);
  });
});
