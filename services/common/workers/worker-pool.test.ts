import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createWorkerPool, WorkerFailure, type WorkerPool, type WorkerPoolOptions } from './worker-pool.ts';

describe('worker pool', () => {
  const pools: WorkerPool<string, string>[] = [];

  afterEach(async () => {
    await Promise.all(pools.splice(0).map((pool) => pool.close()));
  });

  function pool(options: Partial<WorkerPoolOptions> = {}): WorkerPool<string, string> {
    const made = createWorkerPool<string, string>({
      entry: new URL('./pool-worker.fixture.ts', import.meta.url),
      size: 1,
      timeoutMs: 10_000,
      idleMs: 10_000,
      maxHeapBytes: 64 * 1024 * 1024,
      workerData: null,
      ...options,
    });
    pools.push(made);
    return made;
  }

  async function reasonOf(work: Promise<unknown>): Promise<unknown> {
    const error: unknown = await work.then(
      () => 'succeeded',
      (reason: unknown) => reason,
    );
    return error instanceof WorkerFailure ? error.reason : error;
  }

  it('answers more jobs than it has workers', async () => {
    const workers = pool({ size: 2 });
    const answers = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((job) => workers.run(job)));
    expect(answers).to.deep.equal(['done: a', 'done: b', 'done: c', 'done: d', 'done: e']);
  });

  it('fails only the job that took too long', async () => {
    const workers = pool({ timeoutMs: 2_000 });
    const [slow, next] = await Promise.all([reasonOf(workers.run('spin')), workers.run('after')]);
    expect(slow).to.equal('timeout');
    expect(next).to.equal('done: after');
  });

  it('fails only the job whose worker died, and tells how', async () => {
    const workers = pool();
    expect(await reasonOf(workers.run('exit'))).to.equal('crash');
    expect(await reasonOf(workers.run('throw'))).to.equal('crash');
    expect(await reasonOf(workers.run('grow'))).to.equal('memory');
    expect(await workers.run('after')).to.equal('done: after');
  });

  it('withdraws a waiting job and ends a running one when its signal is aborted', async () => {
    const workers = pool();
    const running = new AbortController();
    const waiting = new AbortController();
    const first = reasonOf(workers.run('spin', running.signal));
    const second = reasonOf(workers.run('never', waiting.signal));
    waiting.abort('not needed');
    expect(await second).to.equal('not needed');
    running.abort('stopped');
    expect(await first).to.equal('stopped');
    expect(await workers.run('after')).to.equal('done: after');
    expect(await reasonOf(workers.run('x', AbortSignal.abort('late')))).to.equal('late');
  });

  it('ends idle workers and starts anew', async () => {
    const workers = pool({ idleMs: 20 });
    expect(await workers.run('a')).to.equal('done: a');
    await sleep(80);
    expect(await workers.run('b')).to.equal('done: b');
  });

  it('prepares a worker that stays for a while, and none once it is closed', async () => {
    const workers = pool({ idleMs: 20 });
    workers.prepare();
    workers.prepare();
    await sleep(80);
    expect(await workers.run('a')).to.equal('done: a');
    await workers.close();
    workers.prepare(); // starts nothing that nobody would end
  });

  it('fails what waits and runs when it is closed', async () => {
    const workers = pool();
    const jobs = [reasonOf(workers.run('spin')), reasonOf(workers.run('b'))];
    await workers.close();
    expect(await Promise.all(jobs)).to.deep.equal(['closed', 'closed']);
    expect(await reasonOf(workers.run('c'))).to.equal('closed');
  });
});
