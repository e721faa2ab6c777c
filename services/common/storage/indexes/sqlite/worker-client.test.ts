import { expect } from 'chai';
import { rejection } from '../../../../../test/support/dataset-rows.ts';
import type { EchoMethods } from '../../../../../test/support/echo-worker.ts';
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

  it('fails calls in flight when its thread dies, and starts another for the next call', async () => {
    const client = open();
    for (const method of ['exit', 'crash'] as const) {
      const waiting = [
        client.call(method, 'path', null),
        client.call('sleep', 'path', 50),
        client.call('echo', 'path', 1),
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
