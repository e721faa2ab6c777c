import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { createHeartbeat, type HeartbeatOptions } from './heartbeat.ts';

const LEASE_MS = 1000;

/** Beats when the test says so; the clock moves when it says so. */
function start(afterPause: HeartbeatOptions['afterPause'], extend: () => Promise<void>) {
  let now = 0;
  const told: string[] = [];
  const heartbeat = createHeartbeat({
    clock: { monotonicMs: () => now },
    leaseMs: LEASE_MS,
    everyMs: 3_600_000,
    heldSinceMs: 0,
    afterPause,
    extend,
    onFailed: (_, leftMs) => told.push(`failed, ${leftMs} left`),
    onOver: () => told.push('over'),
  });
  const advance = (ms: number): void => {
    now += ms;
  };
  return { heartbeat, told, advance };
}

describe('heartbeat of a lease', () => {
  it('with afterPause beat, renews the lease after a pause of the process', async () => {
    const { heartbeat, told, advance } = start('beat', async () => {});
    advance(LEASE_MS * 3);
    heartbeat.beat();
    await heartbeat.stop();
    expect(told).to.deep.equal([]);
  });

  it('with afterPause over, treats the lease as over after a pause of the process', async () => {
    const { heartbeat, told, advance } = start('over', async () => {});
    advance(LEASE_MS);
    heartbeat.beat();
    expect(told).to.deep.equal(['over']);
    await heartbeat.stop();
  });

  it('counts the term from the start of the beat that renewed the lease', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const beats = [() => promise, () => Promise.reject(new Error('away'))];
    const { heartbeat, told, advance } = start('beat', async () => beats.shift()?.());
    advance(100);
    heartbeat.beat();
    advance(600);
    resolve();
    await setImmediate();
    advance(399);
    heartbeat.beat();
    await heartbeat.stop();
    expect(told).to.deep.equal(['failed, 1 left']);
  });

  it('ends the lease when a beat hangs for its term', async () => {
    const { heartbeat, told, advance } = start('beat', () => new Promise<never>(() => {}));
    heartbeat.beat();
    advance(LEASE_MS);
    expect(told).to.deep.equal([]);
    heartbeat.beat();
    expect(told).to.deep.equal(['over']);
  });
});
