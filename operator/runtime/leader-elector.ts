import type { Logger } from '../../services/common/ports/logger.ts';
import type { KubeClient } from './kube-client.ts';
import { isKubeError } from './kube-error.ts';
import { KINDS, type KubeObject, type ObjectName } from './kube-object.ts';
import { microTime } from './micro-time.ts';
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

export interface Lease extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}

const TIMES: LeaseTimes = { durationMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2_000 };
/** The loop tries every two seconds, and a try takes five at most. */
const ALIVE_MS = 60_000;

export function createLeaderElector(options: LeaderElectorOptions): LeaderElector {
  const { client, clock, logger, identity, times = TIMES } = options;
  const stopping = new AbortController();
  const leading = Promise.withResolvers<void>();
  /** The lease as last seen, and when it was seen to change: clocks of other machines are not trusted. */
  let seen: { readonly version: string | undefined; readonly at: number } | undefined;
  /** Begin of the try that renewed last; the lease is ours for the renew deadline from then on. */
  let renewedAt = Number.NEGATIVE_INFINITY;
  let state: 'waiting' | 'leading' | 'lost' = 'waiting';
  let triedAt = clock.monotonicMs();
  let running: Promise<void> | undefined;

  const isLeading = () => state === 'leading' && clock.monotonicMs() - renewedAt < times.renewDeadlineMs;

  /** True when the lease is ours after it. */
  async function tryOnce(signal: AbortSignal): Promise<boolean> {
    const begunAt = clock.monotonicMs();
    triedAt = begunAt;
    const held = await client.get<Lease>(KINDS.lease, options.lease, { signal });
    if (held === null) {
      await client.create<Lease>(KINDS.lease, leaseObject(options, undefined, times, clock.now()), { signal });
    } else {
      if (seen === undefined || seen.version !== held.metadata.resourceVersion) {
        seen = { version: held.metadata.resourceVersion, at: begunAt };
      }
      const holder = held.spec?.holderIdentity ?? '';
      const durationMs = (held.spec?.leaseDurationSeconds ?? times.durationMs / 1000) * 1000;
      if (holder !== '' && holder !== identity && begunAt - seen.at < durationMs) return false;
      await client.replace<Lease>(KINDS.lease, leaseObject(options, held, times, clock.now()), { signal });
    }
    renewedAt = begunAt;
    return true;
  }

  function won(): void {
    if (state === 'waiting') {
      state = 'leading';
      logger.info('leader.elected', { identity, lease: options.lease.name });
      options.onLeading?.();
      leading.resolve();
    }
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
        ...(state === 'leading' ? [clock.after(deadlineIn(), () => checkLost(false))] : []),
      ];
      try {
        const ours = await tryOnce(AbortSignal.any([stopping.signal, tooLong.signal]));
        if (ours) won();
        else checkLost(true);
      } catch (error) {
        if (!stopping.signal.aborted) logTry(error);
        checkLost(false);
      } finally {
        for (const cancel of cancels) cancel();
      }
      await pause(clock, times.retryMs, stopping.signal);
    }
  }

  const deadlineIn = () => Math.max(0, renewedAt + times.renewDeadlineMs - clock.monotonicMs());

  function logTry(error: unknown): void {
    // Somebody was quicker; the next look shows who.
    if (isKubeError(error, 409)) return;
    logger.warn('leader.try-failed', { lease: options.lease.name, error });
  }

  async function release(): Promise<void> {
    const held = await client.get<Lease>(KINDS.lease, options.lease);
    if (held?.spec?.holderIdentity !== identity) return;
    const spec = { ...held.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: microTime(clock.now()) };
    await client.replace<Lease>(KINDS.lease, { ...held, spec });
  }

  return {
    start() {
      triedAt = clock.monotonicMs();
      running ??= run();
    },
    whenLeading: (signal) =>
      new Promise((resolve, reject) => {
        void leading.promise.then(resolve);
        if (signal?.aborted) reject(signal.reason);
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      }),
    isLeading,
    isAlive: () => clock.monotonicMs() - triedAt < ALIVE_MS,
    async stop() {
      stopping.abort(new Error('The election ends.'));
      await running;
      const wasLeading = isLeading();
      state = 'lost';
      if (!wasLeading) return;
      // Not given back is only slower: it ends by itself.
      await release().catch((error: unknown) => logger.warn('leader.release-failed', { error }));
    },
  };
}

function leaseObject(
  { lease, identity }: LeaderElectorOptions,
  held: Lease | undefined,
  times: LeaseTimes,
  now: Date,
): Lease {
  const renewed = held?.spec?.holderIdentity === identity;
  return {
    ...(held ?? { apiVersion: KINDS.lease.apiVersion, kind: KINDS.lease.kind, metadata: lease }),
    spec: {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(times.durationMs / 1000),
      acquireTime: (renewed ? held?.spec?.acquireTime : undefined) ?? microTime(now),
      renewTime: microTime(now),
      leaseTransitions: (held?.spec?.leaseTransitions ?? 0) + (renewed || held === undefined ? 0 : 1),
    },
  };
}
