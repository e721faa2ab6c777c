import { expect } from 'chai';
import { type AgentConnection, connectionId } from '../../services/common/domain/agent-connection.ts';
import type { Principal } from '../../services/common/kernel/principal.ts';
import { SYSTEM_SCOPE } from '../../services/common/kernel/scope.ts';
import { createAgentConnections } from '../../services/common/records/auth/agent-connections.ts';
import { apiKeysCollection } from '../../services/common/records/auth/api-keys.ts';
import { startAuth, type TestAuth, testClock } from '../support/auth-service.ts';
import type { SharedDocuments } from '../support/document-stores.ts';

/** What agents, their connections and keys promise over any document store, with two processes at it. */
export function agentsBehaviour(name: string, open: () => Promise<SharedDocuments>): void {
  describe(`agents over ${name}`, () => {
    let subject: SharedDocuments;
    let processes: readonly [TestAuth, TestAuth];
    let parent: Principal;
    const clock = testClock();
    before(async () => {
      subject = await open();
      const [one, other] = subject.stores;
      processes = [await startAuth({ store: one, clock }), await startAuth({ store: other, clock })];
    });
    after(async () => {
      for (const auth of processes) await auth[Symbol.asyncDispose]();
      await subject.dispose();
    });
    beforeEach(async () => {
      parent = await processes[0].addUser();
    });

    const atBoth = <Result>(count: number, ask: (auth: TestAuth, index: number) => Promise<Result>) =>
      Promise.allSettled(Array.from({ length: count }, (_, index) => ask(processes[index % 2 === 0 ? 0 : 1], index)));
    const create = (auth: TestAuth, agent: string) =>
      auth.call('POST', '/api/v1/agents/create', { principal: parent, query: { name: agent } });
    const register = (auth: TestAuth, principal: Principal, body: object) =>
      auth.call('POST', '/api/v1/agents/register', { principal, body });
    const connectionOf = (user: Principal, sessionName: string, more: Partial<AgentConnection>): AgentConnection => ({
      id: connectionId(sessionName, user.id),
      sessionName,
      userId: user.id,
      tenant: user.tenant,
      type: 'api',
      memoryMode: 'none',
      sessionId: null,
      datasets: [],
      lastActiveAt: clock.now().toISOString(),
      state: 'active',
      source: 'api',
      originFunction: null,
      metadata: {},
      ...more,
    });

    it('make one agent of a name, with one key, however many ask at once', async () => {
      const results = await atBoth(6, (auth) => create(auth, 'twin'));
      expect(results.filter(({ status }) => status === 'fulfilled')).to.have.length(1);
      for (const result of results) {
        if (result.status === 'rejected') expect(result.reason).to.include({ status: 409 });
      }
      const { json } = await processes[1].call('GET', '/api/v1/agents/list', { principal: parent });
      const [agent, ...others] = json as readonly { readonly agentId: string }[];
      expect(others).to.deep.equal([]);
      const keys = { userId: agent?.agentId ?? '' };
      expect(await subject.stores[0].count(SYSTEM_SCOPE, apiKeysCollection, keys)).to.equal(1);
    });

    it('make every agent of different names that are asked for at once', async () => {
      await atBoth(6, (auth, index) => create(auth, `bot ${index}`));
      const { json } = await processes[0].call('GET', '/api/v1/agents/list', { principal: parent });
      expect(json).to.have.length(6);
    });

    it('never make more keys than an account may have', async () => {
      const results = await atBoth(16, (auth, index) =>
        auth.call('POST', '/api/v1/auth/api-keys', { principal: parent, body: { name: `key ${index}` } }),
      );
      expect(results.filter(({ status }) => status === 'fulfilled')).to.have.length(10);
      expect(await subject.stores[1].count(SYSTEM_SCOPE, apiKeysCollection, { userId: parent.id })).to.equal(10);
    });

    it('lose no metadata of sessions that register under one name at once', async () => {
      await atBoth(6, (auth, index) =>
        register(auth, parent, { agent_session_name: 's', metadata: { [`key${index}`]: index } }),
      );
      const stored = await createAgentConnections(subject.stores[0]).get(parent.id, connectionId('s', parent.id));
      expect(Object.keys(stored?.metadata ?? {})).to.have.length(6);
    });

    it('keep metadata as it was given, whatever its names and depth', async () => {
      let deep: object = {};
      for (let level = 0; level < 200; level += 1) deep = { deep };
      const metadata = { deep, 'a.b': 1, $set: 2, '': null, '\u0000': 'ü' };
      await register(processes[0], parent, { agent_session_name: 's', metadata });
      const stored = await createAgentConnections(subject.stores[1]).get(parent.id, connectionId('s', parent.id));
      expect(stored?.metadata).to.deep.equal(metadata);
    });

    it('page the connections of several users by time, and count those of a time', async () => {
      const connections = createAgentConnections(subject.stores[0]);
      const child = await processes[1].addUser({ parentId: parent.id });
      const stranger = await processes[1].addUser();
      const writes = [
        connectionOf(parent, 'a', { lastActiveAt: '2020-01-01T00:00:01.000Z' }),
        connectionOf(child, 'b', { lastActiveAt: '2020-01-01T00:00:02.000Z' }),
        connectionOf(parent, 'c', { lastActiveAt: '2020-01-01T00:00:03.000Z', state: 'inactive' }),
        connectionOf(stranger, 'd', { lastActiveAt: '2020-01-01T00:00:04.000Z' }),
        connectionOf(child, 'e', { lastActiveAt: '2020-01-01T00:00:05.000Z' }),
      ];
      await subject.stores[0].commit(SYSTEM_SCOPE, writes.map(connections.insertWrite));
      const page = async (limit: number, offset: number, states: readonly AgentConnection['state'][]) => {
        const found = await connections.page([parent.id, child.id], { states, limit, offset });
        return [found.connections.map(({ sessionName }) => sessionName).join(''), found.total];
      };
      expect(await page(2, 0, ['active'])).to.deep.equal(['eb', 3]);
      expect(await page(2, 2, ['active'])).to.deep.equal(['a', 3]);
      expect(await page(9, 0, ['active', 'inactive'])).to.deep.equal(['ecba', 4]);
      expect(await page(9, 9, ['inactive'])).to.deep.equal(['', 1]);
      expect((await connections.latestActive(parent.id))?.sessionName).to.equal('a');
      expect(
        (await connections.allActive([parent.id, child.id])).map(({ sessionName }) => sessionName).sort(),
      ).to.deep.equal(['a', 'b', 'e']);
      expect(await connections.countActive(child.id)).to.equal(2);
      const [early, late] = [new Date('2020-01-01T00:00:02Z'), new Date('2020-01-01T00:00:06Z')];
      const laterOnes = await connections.countActiveSince(late);
      expect((await connections.countActiveSince(early)) - laterOnes).to.equal(3);
      await connections.deactivate(child.id, connectionId('e', child.id));
      await connections.deactivate(child.id, 'nothing');
      expect((await connections.countActiveSince(early)) - laterOnes).to.equal(2);
    });
  });
}
