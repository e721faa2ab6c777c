import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { workerTask } from './worker-messages.ts';
import {
  createWorkerPool,
  WorkerFailure,
  type WorkerPool,
  type WorkerPoolOptions,
  WorkerTaskError,
} from './worker-pool.ts';

type Tasks = typeof import('./worker-tasks.fixture.ts');

const MIB = 1024 * 1024;
const HERE = new URL('./worker-tasks.fixture.ts', import.meta.url);
const task = <Name extends keyof Tasks>(name: Name) => workerTask<Tasks, Name>(HERE, name);
const echo = task('echo');
const misbehave = task('misbehave');

describe('worker pool', () => {
  const pools: WorkerPool[] = [];

  afterEach(async () => {
    await Promise.all(pools.splice(0).map((pool) => pool.close()));
  });

  function pool(options: Partial<WorkerPoolOptions> = {}): WorkerPool {
    const made = createWorkerPool({
      size: 1,
      timeoutMs: 20_000,
      idleMs: 20_000,
      memoryBytes: 256 * MIB,
      ...options,
    });
    pools.push(made);
    return made;
  }

  async function failure(work: Promise<unknown>): Promise<unknown> {
    const error: unknown = await work.then(
      () => 'succeeded',
      (reason: unknown) => reason,
    );
    return error instanceof WorkerFailure ? `${error.reason}: ${error.message}` : error;
  }

  it('answers more calls than it has processes', async () => {
    const workers = pool({ size: 2 });
    const answers = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((word) => workers.run(echo, word)));
    expect(answers).to.deep.equal(['done: a', 'done: b', 'done: c', 'done: d', 'done: e']);
  });

  it('passes content of any size on, from memory or from a stream', async () => {
    const content = Buffer.alloc(5_000_001, 1);
    const workers = pool();
    expect(await workers.run(task('sizeOf'), null, { content })).to.deep.equal({ bytes: 5_000_001, sum: 5_000_001 });
    async function* parts() {
      for (let at = 0; at < content.length; at += 700_000) yield content.subarray(at, at + 700_000);
    }
    expect(await workers.run(task('sizeOf'), null, { content: parts() })).to.have.property('sum', 5_000_001);
    async function* broken() {
      yield content;
      throw new Error('the store is gone');
    }
    expect(await failure(workers.run(task('sizeOf'), null, { content: broken() }))).to.have.property(
      'message',
      'the store is gone',
    );
    expect(await workers.run(task('sizeOf'), null)).to.have.property('bytes', 0);
  });

  it('hands over what a generator yields, part by part, and what it returns', async () => {
    for (const name of ['count', 'countSlowly'] as const) {
      const parts: number[] = [];
      const result = await pool().run(task(name), 3, { onPart: (part) => parts.push(part) });
      expect({ parts, result }).to.deep.equal({ parts: [1, 2, 3], result: 'counted' });
    }
  });

  it('fails only the call that took too long, and names the limit', async () => {
    const workers = pool({ timeoutMs: 3_000 });
    const [slow, next] = await Promise.all([failure(workers.run(misbehave, 'spin')), workers.run(echo, 'after')]);
    expect(slow).to.equal('timeout: it took longer than 3 seconds');
    expect(next).to.equal('done: after');
  });

  for (const how of ['grow the heap', 'grow beside the heap']) {
    it(`ends a call that would ${how} beyond the limit, and names the limit`, async () => {
      const workers = pool();
      expect(await failure(workers.run(misbehave, how))).to.equal('memory: it needs more than 256 MiB of memory');
      expect(await workers.run(echo, 'after')).to.equal('done: after');
    });
  }

  it('fails only the call whose process died, and says how', async () => {
    const workers = pool();
    expect(await failure(workers.run(misbehave, 'exit'))).to.equal('crash: the worker process ended with exit code 7');
    expect(await failure(workers.run(misbehave, 'be killed'))).to.equal(
      'memory: the system killed the worker process, as it does when memory runs out',
    );
    expect(await failure(workers.run(misbehave, 'throw later'))).to.equal(
      'crash: the worker process ended with exit code 1: Error: broke behind its back',
    );
    expect(await workers.run(misbehave, 'reject')).to.equal('done: reject');
    expect(await workers.run(echo, 'after')).to.equal('done: after');
  });

  it('passes on what a function throws, with the data of the error', async () => {
    const workers = pool();
    const plain = await failure(workers.run(misbehave, 'throw'));
    expect(plain).to.be.instanceOf(WorkerTaskError).with.property('message', 'something broke');
    const known = await failure(workers.run(misbehave, 'refuse'));
    expect(known).to.have.property('message', 'not today');
    expect(known).to.have.property('properties').that.includes({ wireName: 'DocumentParsingError', status: 422 });
    const missing = workerTask<Tasks, 'echo'>(HERE, 'constructor' as 'echo');
    expect(await failure(workers.run(missing, '')))
      .to.have.property('message')
      .that.includes('exports no constructor');
  });

  it('uses a process again, but not one that kept much memory', async () => {
    const workers = pool({ memoryBytes: 512 * MIB });
    const first = await workers.run(task('keep'), 1);
    expect(await workers.run(task('keep'), 280 * MIB)).to.equal(first);
    expect(await workers.run(task('keep'), 1)).not.to.equal(first);
  });

  it('withdraws a waiting call and ends a running one when its signal is aborted', async () => {
    const workers = pool();
    const running = new AbortController();
    const waiting = new AbortController();
    const first = failure(workers.run(misbehave, 'spin', { signal: running.signal }));
    const second = failure(workers.run(echo, 'never', { signal: waiting.signal }));
    waiting.abort('not needed');
    expect(await second).to.equal('not needed');
    running.abort('stopped');
    expect(await first).to.equal('stopped');
    expect(await workers.run(echo, 'after')).to.equal('done: after');
    expect(await failure(workers.run(echo, 'x', { signal: AbortSignal.abort('late') }))).to.equal('late');
  });

  it('ends idle processes and starts anew', async () => {
    const workers = pool({ idleMs: 20 });
    const first = await workers.run(task('keep'), 1);
    await sleep(200);
    expect(await workers.run(task('keep'), 1)).not.to.equal(first);
  });

  it('prepares a process that stays for a while, and none once it is closed', async () => {
    const workers = pool({ size: 2 });
    const before = new Set(childrenOf());
    const started = () => childrenOf().filter((pid) => !before.has(pid));
    workers.prepare(task('keep'));
    workers.prepare(task('keep'));
    const prepared = started();
    expect(prepared).to.have.length(1);
    expect(await workers.run(task('keep'), 1)).to.equal(prepared[0]);
    await workers.close();
    workers.prepare(task('keep'));
    expect(started()).to.deep.equal([]);
  });

  it('fails what waits and runs when it is closed', async () => {
    const workers = pool();
    const calls = [failure(workers.run(misbehave, 'spin')), failure(workers.run(echo, 'b'))];
    await workers.close();
    expect(await Promise.all(calls)).to.deep.equal([
      'closed: the server is stopping',
      'closed: the server is stopping',
    ]);
    expect(await failure(workers.run(echo, 'c'))).to.equal('closed: the server is stopping');
  });

  it('gives processes none of the secrets in the environment', async () => {
    process.env['ENGRAM_TEST_SECRET'] = 'x';
    try {
      const names = await pool().run(task('environment'), null);
      expect(names).to.include('PATH').and.not.include('ENGRAM_TEST_SECRET');
    } finally {
      delete process.env['ENGRAM_TEST_SECRET'];
    }
  });

  it('leaves no process behind when its own process ends, or is killed', async () => {
    const script = (end: string) => `
      import { createWorkerPool } from './worker-pool.ts';
      const module = './worker-tasks.fixture.ts';
      const pool = createWorkerPool({ size: 2, timeoutMs: 60_000, idleMs: 60_000, memoryBytes: 2 ** 28 });
      const task = (name) => ({ module: new URL(module, 'file://' + process.cwd() + '/').href, name });
      console.log(await pool.run(task('keep'), 1));
      if (${end === 'kill'}) {
        pool.run(task('misbehave'), 'spin');
        setTimeout(() => process.kill(process.pid, 'SIGKILL'), 300);
      }`;
    for (const end of ['exit', 'kill']) {
      const flags = ['--input-type=module', '--eval', script(end)];
      const run = promisify(execFile)(process.execPath, flags, { cwd: import.meta.dirname });
      const { stdout } = await run.catch((error: { stdout: string }) => error);
      const pid = Number(stdout);
      expect(pid).to.be.greaterThan(0);
      for (let looks = 0; isAlive(pid); looks += 1) {
        expect(looks).to.be.lessThan(200);
        await sleep(50);
      }
    }
  });

  /** Processes that this one has started and that have not ended. */
  function childrenOf(): readonly number[] {
    const { pid } = process;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
    return children.filter((child) => child > 0 && isAlive(child));
  }

  /** Where nobody collects them, processes that ended keep their number. */
  function isAlive(pid: number): boolean {
    try {
      if (existsSync('/proc/self/stat')) return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  }
});
