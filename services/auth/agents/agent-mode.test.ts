import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { startAuth, testClock } from '../../../test/support/auth-service.ts';
import { createMemoryDocumentStore } from '../../../test/support/memory/document-store.ts';
import { until } from '../../../test/support/until.ts';
import { createSilentLogger } from '../../common/platform/observability/logger.ts';
import { type AgentMode, createAgentMode } from './agent-mode.ts';

const startedAt = new Date('2026-01-02T03:04:05Z');

describe('agent mode', () => {
  let mode: AgentMode;
  let active: number | Error;
  let asked: Date[];
  let stops: number;
  beforeEach(() => {
    active = 0;
    asked = [];
    stops = 0;
    const stopProcess = () => {
      stops += 1;
    };
    const connections = {
      async countActiveSince(time: Date) {
        asked.push(time);
        if (active instanceof Error) throw active;
        return active;
      },
    };
    mode = createAgentMode({ checkEveryMs: 5, stopProcess }, { connections, logger: createSilentLogger(), startedAt });
  });
  afterEach(() => mode.close());

  it('waits for the first connection without a time limit', async () => {
    await sleep(30);
    expect([asked, stops]).to.deep.equal([[], 0]);
  });

  it('stops the process once, when no connection since its start is left', async () => {
    active = 1;
    mode.connectionRegistered();
    mode.connectionRegistered();
    await until('it has asked three times', () => asked.length > 2);
    expect(stops).to.equal(0);
    active = 0;
    await until('the process is stopped', () => stops > 0);
    await sleep(30);
    expect(stops).to.equal(1);
    expect(asked[0]).to.equal(startedAt);
  });

  it('continues while the number of connections is unknown', async () => {
    active = new Error('the store is away');
    mode.connectionRegistered();
    await until('it has asked three times', () => asked.length > 2);
    expect(stops).to.equal(0);
  });

  it('stops a server when its last agent has left, ignoring connections of a killed process', async () => {
    const store = createMemoryDocumentStore();
    let ended = 0;
    const agentMode = {
      checkEveryMs: 5,
      stopProcess() {
        ended += 1;
      },
    };
    const body = { agent_session_name: 'work' };
    const killed = await startAuth({ store });
    const principal = await killed.addUser();
    await killed.call('POST', '/api/v1/agents/register', { principal, body: { agent_session_name: 'left behind' } });
    await killed[Symbol.asyncDispose]();
    const clock = testClock();
    clock.advance(1000);
    await using auth = await startAuth({ store, clock, agentMode });
    await auth.call('POST', '/api/v1/agents/register', { principal, body });
    await sleep(30);
    expect(ended).to.equal(0);
    await auth.call('POST', '/api/v1/agents/unregister', { principal, body });
    await until('a request has ended', () => ended > 0);
  });

  it('makes no checks after it is closed', async () => {
    active = 1;
    mode.connectionRegistered();
    await mode.close();
    const count = asked.length;
    await sleep(30);
    expect(asked).to.have.length(count);
  });
});
