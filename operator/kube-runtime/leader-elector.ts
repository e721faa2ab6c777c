import { abortable } from '../../services/common/platform/async/abortable.ts';
import type { Logger } from '../../services/common/ports/logger.ts';
import type { KubeClient } from './kube-client.ts';
import { isKubeError } from './kube-error.ts';
import type { ObjectName } from './kube-object.ts';
import { createLeaseRecord } from './lease-record.ts';
import { pause, type RuntimeClock } from './runtime-clock.ts';

/** One process leads: it holds a Lease and renews it. */
export interface LeaderElector {
  /** Begins to try. */
  start(): void;
  /** Resolves when this process leads. */
  whenLeading(signal?: AbortSignal): Promise<void>;
  /** By the own monotonic clock: false already before another may take over. Asked before every write. */
  isLeading(): boolean;
  /** The loop turns: tried within its budget, whatever came of it. */
  isAlive(): boolean;
  /** Gives the lease back, so that another leads at once. Call when nothing writes any more. */
  stop(): Promise<void>;
}

export interface LeaderElectorOptions {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'replace'>;
  readonly clock: RuntimeClock;
  readonly logger: Logger;
  readonly lease: Required<ObjectName>;
  /** Names this process: pod name and something random. */
  readonly identity: string;
  /** The lease was held and is lost: the process must end, its caches and workers cannot be trusted to stop in time. */
  onLost(): void;
  onLeading?(): void;
  readonly times?: LeaseTimes;
}

export interface LeaseTimes {
  /** Others take over when the lease was not renewed for so long. */
  readonly durationMs: number;
  /** The holder gives up when it could not renew for so long. */
  readonly renewDeadlineMs: number;
  readonly retryMs: number;
}

const TIMES: LeaseTimes = { durationMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2_000 };
/** The loop tries every two seconds, and a try takes five at most. */
const ALIVE_MS = 60_000;

export function createLeaderElector(options: LeaderElectorOptions): LeaderElector {
  const { clock, logger, identity, times = TIMES } = options;
  const record = createLeaseRecord({ ...options, durationMs: times.durationMs });
  const stopping = new AbortController();
  const leading = Promise.withResolvers<void>();
  /** Begin of the try that renewed last; the lease is ours for the renew deadline from then on. */
  let renewedAt = Number.NEGATIVE_INFINITY;
  let state: 'waiting' | 'leading' | 'lost' = 'waiting';
  let triedAt = clock.monotonicMs();
  let running: Promise<void> | undefined;

  const deadlineInMs = () => renewedAt + times.renewDeadlineMs - clock.monotonicMs();
  const isLeading = () => state === 'leading' && deadlineInMs() > 0;

  /** True when the lease is ours after it. */
  async function tryOnce(signal: AbortSignal): Promise<boolean> {
    const begunAt = clock.monotonicMs();
    triedAt = begunAt;
    if (!(await record.claim(signal))) return false;
    renewedAt = begunAt;
    return true;
  }

  function won(): void {
    if (state !== 'waiting') return;
    state = 'leading';
    logger.info('leader.elected', { identity, lease: options.lease.name });
    options.onLeading?.();
    leading.resolve();
  }

  function checkLost(lostToAnother: boolean): void {
    if (state !== 'leading' || (!lostToAnother && isLeading())) return;
    state = 'lost';
    logger.error('leader.lost', { identity, lease: options.lease.name });
    options.onLost();
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted && state !== 'lost') {
      // A try that hangs is cut off early enough for a second one, and must not hide that the deadline passed.
      const tooLong = new AbortController();
      const cancels = [
        clock.after(times.renewDeadlineMs / 2, () => tooLong.abort()),
        ...(state === 'leading' ? [clock.after(Math.max(0, deadlineInMs()), () => checkLost(false))] : []),
      ];
      try {
        const ours = await tryOnce(AbortSignal.any([stopping.signal, tooLong.signal]));
        if (ours) won();
        else checkLost(true);
      } catch (error) {
        // After a conflict somebody was quicker; the next look shows who.
        const isExpected = stopping.signal.aborted || isKubeError(error, 409);
        if (!isExpected) logger.warn('leader.try-failed', { lease: options.lease.name, error });
        checkLost(false);
      } finally {
        for (const cancel of cancels) cancel();
      }
      await pause(clock, times.retryMs, stopping.signal);
    }
  }

  return {
    start() {
      triedAt = clock.monotonicMs();
      running ??= run();
    },
    whenLeading: (signal) => abortable(leading.promise, signal),
    isLeading,
    isAlive: () => clock.monotonicMs() - triedAt < ALIVE_MS,
    async stop() {
      stopping.abort(new Error('The election ends.'));
      await running;
      const wasLeading = isLeading();
      state = 'lost';
      if (!wasLeading) return;
      // Not given back is only slower: it ends by itself.
      await record.release().catch((error: unknown) => logger.warn('leader.release-failed', { error }));
    },
  };
}
