import { randomUUID } from 'node:crypto';
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
  const list = async (query: object = {}, principal = parent) =>
    (await auth.call('GET', '/api/v1/agents/connections', { principal, query: { ...query } })).json as Listed;
  const names = async (query: object = {}, principal = parent) =>
    (await list(query, principal)).agents.map((connection) => connection.agent_session_name);
  const me = async (query: object = {}, principal = parent) =>
    (await auth.call('GET', '/api/v1/agents/connections/me', { principal, query: { ...query } })).json as {
      readonly agent: Connection;
      readonly memory_sources: readonly Source[];
    };
  const of = (agentId: string, query: object = {}, principal = parent) =>
    auth.call('GET', '/api/v1/agents/connections/:agentId', { principal, params: { agentId }, query: { ...query } });
  const makeDataset = async (name: string, owner: Principal): Promise<DatasetId> => {
    const call = { requestId: 'test', principal: owner };
    auth.clock.advance(1); // datasets are listed by age
    return (await auth.messenger.call('auth.CreateDataset', { name }, call)).dataset.id;
  };
  const refusal = (promise: Promise<unknown>) => promise.then(JSON.stringify, (error: unknown) => error);

  it('list their datasets as given, ids before names', async () => {
    const brain = await makeDataset('company_brain', parent);
    const role = 'read_write';
    const given = { dataset_ids: [brain], dataset_names: ['company_brain', 'company_brain'] };
    expect(await register('sess-1', given)).to.have.deep.property('datasets', [
      { id: brain, name: null, role, type: 'dataset' },
      { id: null, name: 'company_brain', role, type: 'company_brain' },
      { id: null, name: 'company_brain', role, type: 'company_brain' },
    ]);
  });

  it('start again after they have ended', async () => {
    await register('sess-1', { metadata: { a: 1 } });
    await unregister('sess-1');
    expect(await register('sess-1')).to.deep.include({ status: 'active', metadata: {} });
  });

  it('of one name become one when they are registered at the same time, with all metadata', async () => {
    const keys = Array.from({ length: 8 }, (_, index) => `key${index}`);
    await Promise.all(keys.map((key) => register('sess-1', { metadata: { [key]: true } })));
    const { agents, total } = await list();
    expect(total).to.equal(1);
    expect(Object.keys(agents[0]?.metadata ?? {})).to.have.members(keys);
  });

  it('are refused for missing, foreign and malformed datasets alike, without a trace', async () => {
    const [own, foreign] = [await makeDataset('own', parent), await makeDataset('foreign', stranger)];
    await makeDataset('of the agent', agent);
    for (const given of [
      { dataset_ids: [own, foreign] },
      { dataset_ids: [randomUUID()] },
      { dataset_ids: ['nope'] },
      { dataset_names: ['own', 'nope'] },
      { dataset_names: ['foreign'] },
      { dataset_names: ['of the agent'] },
    ]) {
      expect(await refusal(register('sess-1', given)), JSON.stringify(given)).to.include({
        status: 403,
        wireName: 'PermissionDeniedError',
      });
    }
    expect(await names({ active_only: false })).to.deep.equal([]);
  });

  it('have limited metadata', async () => {
    await register('sess-1', { metadata: { a: 'x'.repeat(40_000) } });
    expect(await refusal(register('sess-1', { metadata: { b: 'x'.repeat(40_000) } }))).to.include({ status: 400 });
  });

  it('are visible to their user and its parent only', async () => {
    const { id } = await register('of the agent', {}, agent);
    await register('of the parent');
    expect(await names()).to.deep.equal(['of the parent', 'of the agent']);
    expect(await names({}, agent)).to.deep.equal(['of the agent']);
    expect(await names({}, stranger)).to.deep.equal([]);
    expect(await names({ agent_id: agent.id })).to.deep.equal(['of the agent']);
    expect(await names({ agent_id: agent.id }, stranger)).to.deep.equal([]);
    expect(await names({ agent_id: parent.id }, agent)).to.deep.equal([]);
    expect((await of(agent.id)).json).to.have.nested.property('agent.id', id);
    expect((await of(agent.id, { agent_session_name: 'of the agent' })).json).to.have.nested.property('agent.id', id);
    const refusals = [of(agent.id, {}, stranger), of(parent.id, {}, agent), of(randomUUID()), of(stranger.id)];
    for (const refused of refusals) {
      expect(await refusal(refused)).to.deep.include({ status: 404, body: { detail: 'connection not found' } });
    }
  });

  it('are not found by name under another user', async () => {
    await register('sess-1');
    expect(await refusal(me({ agent_session_name: 'sess-1' }, stranger))).to.include({ status: 404 });
    await register('sess-1', {}, stranger);
    expect(await unregister('sess-1', stranger)).to.deep.equal({ activeAgents: 0 });
    expect((await me({ agent_session_name: 'sess-1' })).agent.status).to.equal('active');
  });

  it('are found for the caller only while they are active, or by name', async () => {
    expect(await refusal(me())).to.deep.include({ status: 404, body: { detail: 'connection not found' } });
    await register('one');
    await register('two');
    expect((await me()).agent.agent_session_name).to.equal('two');
    await unregister('two');
    expect((await me()).agent.agent_session_name).to.equal('one');
    expect((await me({ agent_session_name: 'two' })).agent.status).to.equal('inactive');
    await unregister('one');
    expect(await refusal(me())).to.include({ status: 404 });
    expect(await me({ agent_session_name: 'one' })).not.to.have.nested.property('agent.registered');
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
