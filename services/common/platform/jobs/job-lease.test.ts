import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { until } from '../../../../test/support/until.ts';
import { asId } from '../../kernel/ids.ts';
import { type ClaimedJob, LeaseLostError } from '../../ports/work-queue.ts';
import { holdLease } from './job-lease.ts';

const LEASE_MS = 15;

const job: ClaimedJob = {
  id: 'job',
  kind: 'kind',
  scope: { tenant: asId('tenant') },
  payload: {},
  attempt: 1,
  maxAttempts: 5,
  fencingToken: 1,
  worker: 'worker',
  cancelRequested: false,
};

/** A clock that tells what it is told: how long a lease really takes is up to the machine. */
function standingClock() {
  let now = 0;
  return {
    monotonicMs: () => now,
    advance(ms: number) {
      now += ms;
    },
  };
}

function hold(
  heartbeat: () => Promise<{ readonly cancelRequested: boolean }>,
  more: Partial<ClaimedJob> = {},
  clock = standingClock(),
) {
  const logged: string[] = [];
  const write = (event: string) => void logged.push(event);
  const logger = { debug: write, info: write, warn: write, error: write };
  return { lease: holdLease({ workQueue: { heartbeat }, clock, logger }, { ...job, ...more }, LEASE_MS), logged };
}

describe('lease of a job', () => {
  it('ends when all heartbeats fail or hang for its term', async () => {
    for (const beat of [() => Promise.reject(new Error('store away')), () => new Promise<never>(() => {})]) {
      const clock = standingClock();
      const { lease } = hold(beat, {}, clock);
      clock.advance(LEASE_MS - 1);
      await sleep(LEASE_MS * 3);
      expect(lease.signal.aborted).to.equal(false);
      clock.advance(1);
      await until('it is over', () => lease.signal.aborted);
      expect(lease.signal.reason).to.be.instanceOf(LeaseLostError);
    }
  });

  it('survives heartbeats that fail for a while', async () => {
    let beats = 0;
    const clock = standingClock();
    const beat = async () => {
      beats += 1;
      clock.advance(LEASE_MS / 3);
      if (beats % 2 === 1) throw new Error('store away');
      return { cancelRequested: false };
    };
    const { lease } = hold(beat, {}, clock);
    await until('it beat through several leases', () => beats >= 12);
    expect(lease.signal.aborted).to.equal(false);
    await lease[Symbol.asyncDispose]();
  });

  it('logs that clocks differ when another worker claims the job before its end', async () => {
    const taken = hold(() => Promise.reject(new LeaseLostError('gone', { isTaken: true })));
    const ended = hold(() => Promise.reject(new LeaseLostError('gone')));
    for (const { lease } of [taken, ended]) {
      const over = once(lease.signal, 'abort');
      lease.beat();
      await over;
    }
    expect(taken.logged).to.deep.equal(['job.lease.taken_early']);
    expect(ended.logged).to.deep.equal([]);
    expect(taken.lease.signal.reason).to.be.instanceOf(LeaseLostError);
    await Promise.all([taken, ended].map(({ lease }) => lease[Symbol.asyncDispose]()));
  });

  it('is aborted from the start when the job was cancelled before the claim', async () => {
    const { lease } = hold(async () => ({ cancelRequested: true }), { cancelRequested: true });
    expect(lease.signal.reason).to.include({ wireName: 'CancelledError' });
    await lease[Symbol.asyncDispose]();
  });
});
