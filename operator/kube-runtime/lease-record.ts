import type { KubeClient } from './kube-client.ts';
import { KINDS, type KubeObject, type ObjectName } from './kube-object.ts';
import { microTime } from './micro-time.ts';
import type { RuntimeClock } from './runtime-clock.ts';

export interface Lease extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}

/** The Lease by which processes agree who leads, as one of them sees it. */
export interface LeaseRecord {
  /**
   * Takes or renews it: true when it is ours after it, false while another holds it. `KubeError` 409 when somebody was
   * quicker.
   */
  claim(signal: AbortSignal): Promise<boolean>;
  /** Gives it back when it is still ours, so that another takes it at once. */
  release(): Promise<void>;
}

export interface LeaseRecordOptions {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'replace'>;
  readonly clock: Pick<RuntimeClock, 'monotonicMs' | 'now'>;
  readonly lease: Required<ObjectName>;
  /** Names this process: pod name and something random. */
  readonly identity: string;
  readonly durationMs: number;
}

export function createLeaseRecord(options: LeaseRecordOptions): LeaseRecord {
  const { client, clock, lease, identity } = options;
  /** As last seen, and when it was seen to change: clocks of other machines are not trusted. */
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
    async claim(signal) {
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
    async release() {
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
