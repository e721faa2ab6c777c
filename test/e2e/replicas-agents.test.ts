import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { SYSTEM_SCOPE } from '../../services/common/kernel/scope.ts';
import { apiKeysCollection } from '../../services/common/records/auth/api-keys.ts';
import { required } from '../support/auth-service.ts';
import { startTwoReplicas, type TwoReplicas } from '../support/two-replicas.ts';
import { createWire, type Wire } from '../support/wire.ts';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
/** Longer than a message takes, and much shorter than cache entries live. */
const MESSAGE_MS = 100;

describe('agents at two replicas', () => {
  let world: TwoReplicas;
  let people = 0;
  before(async () => {
    world = await startTwoReplicas({ auth: { posture: required } });
  });
  after(() => world[Symbol.asyncDispose]());
  afterEach(() => {
    world.messages.letAnswer(null);
    world.messages.loseMessages(false);
  });

  /** Registers an account and logs in at both replicas. */
  async function signUp(): Promise<readonly [Wire, Wire]> {
    people += 1;
    const account = { email: `person-${people}@example.com`, password: 'a-long-password' };
    await world.one.wire.post('/auth/register', account);
    const form = new URLSearchParams({ username: account.email, password: account.password });
    const token = (await world.one.wire.post('/auth/login', String(form), FORM)).json.access_token;
    return withHeaders({ authorization: `Bearer ${token}` });
  }
  const withHeaders = (headers: Record<string, string>): readonly [Wire, Wire] => [
    createWire(world.one.baseUrl, headers),
    createWire(world.two.baseUrl, headers),
  ];
  const withKey = (key: string) => withHeaders({ 'x-api-key': key });
  const both = <Result>(wires: readonly [Wire, Wire], ask: (wire: Wire) => Promise<Result>) =>
    Promise.all(wires.map(ask));

  it('of one name are created once when both create them at the same time', async () => {
    const wires = await signUp();
    for (let round = 0; round < 5; round += 1) {
      const answers = await both(wires, (wire) => wire.post(`/agents/create?name=bot-${round}`, ''));
      expect(answers.map(({ status }) => status).toSorted()).to.deep.equal([200, 409]);
    }
    expect((await wires[1].get('/agents/list')).json).to.have.length(5);
  });

  it('lose access at both when they are deleted at one, also where their key is cached', async () => {
    const wires = await signUp();
    const { agentId, agentApiKey } = (await wires[0].post('/agents/create?name=bot', '')).json;
    const agent = withKey(agentApiKey);
    expect((await both(agent, (wire) => wire.get('/auth/me'))).map(({ status }) => status)).to.deep.equal([200, 200]);
    expect((await wires[0].remove(`/agents/${agentId}`)).status).to.equal(200);
    await sleep(MESSAGE_MS);
    for (const place of [0, 1] as const) {
      world.messages.letAnswer(place);
      expect((await agent[place].get('/auth/me')).status).to.equal(401);
    }
  });

  it('count their connections on all replicas', async () => {
    const [one, two] = await signUp();
    await one.post('/agents/register', { agent_session_name: 'a' });
    await two.post('/agents/register', { agent_session_name: 'b' });
    expect((await one.get('/agents/connections')).json.total).to.equal(2);
    expect((await one.post('/agents/unregister', { agent_session_name: 'b' })).json).to.deep.equal({ activeAgents: 1 });
    expect((await two.get('/agents/connections/me')).json.agent.agent_session_name).to.equal('a');
  });

  it('merge the metadata of a connection that is registered at both at once', async () => {
    const wires = await signUp();
    for (let round = 0; round < 5; round += 1) {
      await Promise.all(
        wires.map((wire, place) =>
          wire.post('/agents/register', { agent_session_name: 's', metadata: { [`${round}-${place}`]: true } }),
        ),
      );
    }
    expect(Object.keys((await wires[0].get('/agents/connections/me')).json.agent.metadata)).to.have.length(10);
  });

  it('never have more keys than allowed, at both together', async () => {
    const wires = await signUp();
    const { agentApiKey } = (await wires[0].post('/agents/create?name=bot', '')).json;
    const agent = withKey(agentApiKey);
    await both(agent, (wire) =>
      Promise.all(Array.from({ length: 8 }, (_, index) => wire.post('/auth/api-keys', { name: `key ${index}` }))),
    );
    expect((await agent[1].get('/auth/api-keys')).json).to.have.length(10);
  });

  it('have keys that expire at both at the same time, with and without messages', async () => {
    const wires = await signUp();
    world.messages.loseMessages(true);
    for (let isInTime = false; !isInTime; ) {
      const { key, expires_at: end } = (await wires[0].post('/auth/api-keys', { expires_at: 1 })).json;
      const program = withKey(key);
      const ask = async () => (await both(program, (wire) => wire.get('/auth/me'))).map(({ status }) => status);
      const statuses = await ask();
      // On a slow machine it may have expired already: then with another one.
      isInTime = Date.now() < Date.parse(end);
      if (isInTime) expect(statuses).to.deep.equal([200, 200]);
      await sleep(Date.parse(end) - Date.now() + 1);
      expect(await ask()).to.deep.equal([401, 401]);
    }
  });

  it('record the last use of a key once, however many requests come to both', async () => {
    const wires = await signUp();
    const { key, id } = (await wires[0].post('/auth/api-keys', {})).json;
    const program = withKey(key);
    await program[0].get('/auth/me');
    for (let burst = 0; burst < 3; burst += 1) {
      await both(program, (wire) => Promise.all(Array.from({ length: 10 }, () => wire.get('/auth/me'))));
    }
    expect((await world.store.get(SYSTEM_SCOPE, apiKeysCollection, id))?.version).to.equal(2);
  });
});
