import type { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import type { EchoMethods } from '../../../../../test/support/echo-worker.ts';
import { rejection } from '../../../../../test/support/refusal-of.ts';
import { createOpeningLock } from './opening-lock.ts';
import { createWorkerClient } from './worker-client.ts';

const MODULE = new URL('../../../../../test/support/echo-worker.ts', import.meta.url);
const SETTINGS = {
  openFiles: 1,
  autoMigrate: true,
  vectorMemoryBytes: 0,
  quantiseAbove: 0,
  openingLock: createOpeningLock(),
};

describe('WorkerClient', () => {
  const clients: { close(): Promise<void> }[] = [];
  const open = () => {
    const client = createWorkerClient<EchoMethods>(MODULE, SETTINGS);
    clients.push(client);
    return client;
  };
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
  });

  it('answers calls in order and carries errors with their name', async () => {
    const client = open();
    const answers = await Promise.all([1, 2, 3].map((argument) => client.call('echo', 'path', argument)));
    expect(answers).to.deep.equal([1, 2, 3].map((argument) => ({ path: 'path', argument })));
    const error = await rejection(client.call('fail', 'path', 'nothing'));
    expect(error).to.include({ name: 'NoDataError', message: 'path: nothing' });
  });

  it('sends the calls of one turn together, and answers them together', async () => {
    const messages: { sent: unknown[]; received: unknown[] } = { sent: [], received: [] };
    const watch = (worker: Worker) => {
      const post = worker.postMessage.bind(worker);
      worker.postMessage = (message: unknown, ...rest: never[]) => {
        messages.sent.push(message);
        post(message, ...rest);
      };
      worker.on('message', (message: unknown) => void messages.received.push(message));
    };
    process.once('worker', watch);
    const client = open();
    const calls = [client.call('echo', 'a', 1), client.call('echo', 'a', () => 2), client.call('fail', 'a', 'three')];
    const outcomes = await Promise.allSettled([...calls, client.call('echo', 'b', 4)]);
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
    messages.sent.length = 0;
    messages.received.length = 0;
    await Promise.all([1, 2, 3].map((argument) => client.call('echo', 'a', argument)));
    expect(messages.sent).to.have.length(1);
    expect(messages.received).to.have.length(1);
  });

  it('fails calls in flight when its thread dies, and starts another for the next call', async () => {
    const client = open();
    for (const method of ['exit', 'crash'] as const) {
      const waiting = [
        client.call(method, 'path', null),
        // Calls for one file are carried out together.
        client.call('sleep', 'second', 50),
        client.call('echo', 'third', 1),
      ];
      const outcomes = await Promise.allSettled(waiting);
      const failed = outcomes.filter(({ status }) => status === 'rejected');
      expect(failed.length).to.be.greaterThan(0);
      for (const outcome of failed) expect(outcome).to.have.nested.property('reason.name', 'ServiceUnavailableError');
      expect(await client.call('echo', 'path', 2)).to.deep.equal({ path: 'path', argument: 2 });
    }
  });

  it('never begins a call that was aborted while it waited', async () => {
    const client = open();
    const controller = new AbortController();
    const busy = client.call('sleep', 'path', 60);
    const aborted = rejection(client.call('note', 'path', 'aborted', { signal: controller.signal }));
    const other = client.call('note', 'path', 'kept', { signal: new AbortController().signal });
    controller.abort();
    expect((await aborted).name).to.equal('AbortError');
    await Promise.all([busy, other]);
    expect(await client.call('noted', 'path', null)).to.deep.equal(['kept']);
  });

  it('rejects an argument that cannot be sent and stays usable', async () => {
    const client = open();
    expect((await rejection(client.call('echo', 'path', () => 1))).name).to.equal('DataCloneError');
    expect(await client.call('echo', 'path', 'fine')).to.deep.equal({ path: 'path', argument: 'fine' });
  });

  it('finishes its calls before it closes, and refuses later ones', async () => {
    const client = open();
    const last = [client.call('sleep', 'path', 30), client.call('echo', 'path', 'last')];
    await client.close();
    expect((await Promise.all(last))[1]).to.deep.equal({ path: 'path', argument: 'last' });
    expect((await rejection(client.call('echo', 'path', 1))).name).to.equal('ServiceUnavailableError');
    await client.close();
  });
});
