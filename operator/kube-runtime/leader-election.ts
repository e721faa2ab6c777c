import { abortable } from '../../services/common/platform/async/abortable.ts';
import type { Logger } from '../../services/common/ports/logger.ts';
import { isKubeError, type KubeClient, NotLeaderError } from './kube-client.ts';
import { KINDS, type KubeObject, microTime, type ObjectName } from './kube-object.ts';
import { pause, type RuntimeClock } from './runtime-clock.ts';

/** Elects the process that leads: it holds a Lease and renews it. */
export type LeaderElector = ReturnType<typeof createLeaderElector>;

interface LeaderElectorOptions {
  readonly client: KubeClient;
  readonly clock: RuntimeClock;
  readonly logger: Logger;
  readonly lease: Required<ObjectName>;
  /** Names this process: pod name and something random. */
  readonly identity: string;
  /** Called when the lease was held and is lost: the process must end, because its workers may not stop in time. */
  onLost(): void;
  onLeading?(): void;
  readonly times?: LeaseTimes;
}

export interface LeaseTimes {
  /** Others take over when the lease was not renewed for this time. */
  readonly durationMs: number;
  /** The holder stops leading when it could not renew for this time. */
  readonly renewDeadlineMs: number;
  readonly retryMs: number;
}

const TIMES: LeaseTimes = { durationMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2_000 };
/** The loop tries every two seconds, and an attempt takes at most five. */
const ALIVE_MS = 60_000;

export function createLeaderElector(options: LeaderElectorOptions) {
  const { clock, logger, identity, times = TIMES } = options;
  const record = createLeaseRecord({ ...options, durationMs: times.durationMs });
  const stopping = new AbortController();
  const leading = Promise.withResolvers<void>();
  /** Start of the last successful renewal; the lease is held for the renew deadline from then on. */
  let renewedAt = Number.NEGATIVE_INFINITY;
  let state: 'waiting' | 'leading' | 'lost' = 'waiting';
  let triedAt = clock.monotonicMs();
  let running: Promise<void> | undefined;

  const deadlineInMs = () => renewedAt + times.renewDeadlineMs - clock.monotonicMs();
  const isLeading = () => state === 'leading' && deadlineInMs() > 0;

  /** Resolves with whether this process holds the lease now. */
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
      // An attempt that hangs is aborted early enough for a second one, and must not hide that the deadline has passed.
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
        // A conflict means that another process was faster; the next attempt shows which one.
        const isExpected = stopping.signal.aborted || isKubeError(error, 409);
        if (!isExpected) logger.warn('leader.attempt.failed', { lease: options.lease.name, error });
        checkLost(false);
      } finally {
        for (const cancel of cancels) cancel();
      }
      await pause(clock, times.retryMs, stopping.signal);
    }
  }

  return {
    /** Begins to try to acquire the lease. */
    start() {
      triedAt = clock.monotonicMs();
      running ??= run();
    },
    /** Resolves when this process leads. */
    whenLeading: (signal?: AbortSignal) => abortable(leading.promise, signal),
    /** Whether this process leads, by its own monotonic clock: false before another may take over. Checked before each write. */
    isLeading,
    /** Whether the election loop makes progress, whatever the result. */
    isAlive: () => clock.monotonicMs() - triedAt < ALIVE_MS,
    /** Releases the lease, so that another process leads at once. Call it when nothing writes any more. */
    async stop() {
      stopping.abort(new Error('The election ends.'));
      await running;
      const wasLeading = isLeading();
      state = 'lost';
      if (!wasLeading) return;
      // A lease that could not be released expires by itself.
      await record.release().catch((error: unknown) => logger.warn('leader.release.failed', { error }));
    },
  };
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

interface LeaseRecordOptions {
  readonly client: KubeClient;
  readonly clock: RuntimeClock;
  readonly lease: Required<ObjectName>;
  /** Names this process: pod name and something random. */
  readonly identity: string;
  readonly durationMs: number;
}

/** The Lease by which processes agree which one leads, as this process sees it. */
function createLeaseRecord(options: LeaseRecordOptions) {
  const { client, clock, lease, identity } = options;
  /** Last seen version, and when it changed by this process' clock: clocks of other machines are not trusted. */
  let seen: { readonly version: string | undefined; readonly at: number } | undefined;

  function isHeldByAnother({ metadata, spec }: Lease, now: number): boolean {
    if (seen === undefined || seen.version !== metadata.resourceVersion) {
      seen = { version: metadata.resourceVersion, at: now };
    }
    const holder = spec?.holderIdentity ?? '';
    const durationMs = (spec?.leaseDurationSeconds ?? options.durationMs / 1000) * 1000;
    return holder !== '' && holder !== identity && now - seen.at < durationMs;
  }

  return {
    /** Takes or renews the lease: true when this process holds it then, false while another does. `KubeError` 409 when another was faster. */
    async claim(signal: AbortSignal): Promise<boolean> {
      const begunAt = clock.monotonicMs();
      const held = await client.get<Lease>(KINDS.lease, lease, { signal });
      if (held === null) {
        await client.create<Lease>(KINDS.lease, leaseObject(options, undefined), { signal });
        return true;
      }
      if (isHeldByAnother(held, begunAt)) return false;
      await client.replace<Lease>(KINDS.lease, leaseObject(options, held), { signal });
      return true;
    },
    /** Gives the lease back if this process still holds it, so that another can take it at once. */
    async release(): Promise<void> {
      const held = await client.get<Lease>(KINDS.lease, lease);
      if (held?.spec?.holderIdentity !== identity) return;
      const spec = { ...held.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: microTime(clock.now()) };
      await client.replace<Lease>(KINDS.lease, { ...held, spec });
    },
  };
}

function leaseObject({ lease, identity, durationMs, clock }: LeaseRecordOptions, held: Lease | undefined): Lease {
  const renewed = held?.spec?.holderIdentity === identity;
  const now = microTime(clock.now());
  return {
    ...(held ?? { apiVersion: KINDS.lease.apiVersion, kind: KINDS.lease.kind, metadata: lease }),
    spec: {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(durationMs / 1000),
      acquireTime: (renewed ? held?.spec?.acquireTime : undefined) ?? now,
      renewTime: now,
      leaseTransitions: (held?.spec?.leaseTransitions ?? 0) + (renewed || held === undefined ? 0 : 1),
    },
  };
}

/**
 * Passes reads. Before each write checks that this process still leads, and throws `NotLeaderError` otherwise: also in the
 * middle of a reconcile that began before the lease was lost.
 */
export function createFencedClient(client: KubeClient, isLeading: () => boolean): KubeClient {
  const fenced =
    <Parameters extends unknown[], Result>(write: (...parameters: Parameters) => Promise<Result>) =>
    async (...parameters: Parameters): Promise<Result> => {
      if (!isLeading()) throw new NotLeaderError();
      return write(...parameters);
    };
  return {
    get: client.get,
    list: client.list,
    watch: client.watch,
    create: fenced(client.create) as KubeClient['create'],
    replace: fenced(client.replace) as KubeClient['replace'],
    apply: fenced(client.apply) as KubeClient['apply'],
    patch: fenced(client.patch) as KubeClient['patch'],
    patchStatus: fenced(client.patchStatus) as KubeClient['patchStatus'],
    delete: fenced(client.delete),
  };
}

/**
 * Does the same for every method of a port outside of the cluster; all of them must be asynchronous.
 */
export function fencePort<Port extends object>(port: Port, isLeading: () => boolean): Port {
  const members = Object.entries(port).map(([name, member]: [string, unknown]) => {
    if (typeof member !== 'function') return [name, member];
    const call = async (...parameters: unknown[]): Promise<unknown> => {
      if (!isLeading()) throw new NotLeaderError();
      return member(...parameters);
    };
    return [name, call];
  });
  return Object.fromEntries(members) as Port;
}
