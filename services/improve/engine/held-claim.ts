import { engramError } from '../../common/kernel/errors.ts';
import { createHeartbeat } from '../../common/platform/leases/heartbeat.ts';
import type { ClaimedKeys } from '../../common/records/improve/improve-claims.ts';
import type { ImproveDependencies } from '../dependencies.ts';

/** A claim on a dataset and sessions while one improve works on them. */
export interface HeldClaim {
  /** Unique to this claim. */
  readonly leaseToken: string;
  /** Aborted when another improve may have claimed them. */
  readonly signal: AbortSignal;
  /** See `ImproveClaims.rerunOrRelease`. */
  rerunOrRelease(): Promise<'rerun' | 'released'>;
  /** Releases the claim unless it was released or lost before. Never throws: the lease expires by itself. */
  release(): Promise<void>;
}

type Dependencies = Pick<ImproveDependencies, 'claims' | 'clock' | 'logger' | 'settings'>;

/** How soon an improve notices that its dataset was seized for an erasure. */
const BEAT_MS = 1000;

/** Claims dataset and sessions; null when another improve has any of them. Sends at least three heartbeats per lease. */
export async function holdClaim(deps: Dependencies, keys: ClaimedKeys, owner: string): Promise<HeldClaim | null> {
  const { claims, clock, logger, settings } = deps;
  const { leaseMs } = settings;
  const lease = () => ({ nowMs: clock.now().getTime(), leaseMs });
  const heldSinceMs = clock.monotonicMs();
  if (!(await claims.claim(keys, owner, lease()))) return null;
  const lost = new AbortController();
  const lose = () =>
    lost.abort(engramError('ServiceUnavailableError', 'Another worker has taken over.', { retryable: true }));
  const heartbeat = createHeartbeat({
    clock,
    leaseMs,
    everyMs: Math.min(BEAT_MS, leaseMs / 3),
    heldSinceMs,
    // An erasure of the dataset continues when the lease is over, and nothing may be written after that.
    afterPause: 'over',
    async extend() {
      if (!(await claims.extend(keys, owner, lease()))) lose();
    },
    onFailed: (error) => logger.warn('improve.claim.heartbeat.failed', { error }),
    onOver: lose,
  });
  let isReleased = false;
  const end = async (): Promise<void> => {
    isReleased = true;
    await heartbeat.stop();
  };
  return {
    leaseToken: owner,
    signal: lost.signal,
    async rerunOrRelease() {
      const decision = await claims.rerunOrRelease(keys, owner);
      if (decision === 'lost') {
        lose();
        throw lost.signal.reason;
      }
      if (decision === 'released') await end();
      return decision;
    },
    async release() {
      if (isReleased) return;
      await end();
      try {
        await claims.release(keys, owner);
      } catch (error) {
        logger.warn('improve.release.failed', { error });
      }
    },
  };
}
