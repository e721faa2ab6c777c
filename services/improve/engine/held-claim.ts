import { engramError } from '../../common/kernel/errors.ts';
import { createHeartbeat } from '../../common/platform/leases/heartbeat.ts';
import type { ClaimedKeys } from '../../common/records/improve/improve-claims.ts';
import type { ImproveDependencies } from '../dependencies.ts';

/** Dataset and sessions, as long as one improve works on them. */
export interface HeldClaim {
  /** Never given to anybody else. */
  readonly leaseToken: string;
  /** Aborted when somebody else may have them. */
  readonly signal: AbortSignal;
  /** See `ImproveClaims.rerunOrRelease`. */
  rerunOrRelease(): Promise<'rerun' | 'released'>;
  /** Once; nothing happens when it was released or lost before. Never throws: the lease ends by itself. */
  release(): Promise<void>;
}

type Dependencies = Pick<ImproveDependencies, 'claims' | 'clock' | 'logger' | 'settings'>;

/** How soon one from whom the dataset was seized, because it is erased, finds out. */
const BEAT_MS = 1000;

/** Null when somebody else has any of them. Beats at least three times per lease. */
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
    ...{ clock, leaseMs, everyMs: Math.min(BEAT_MS, leaseMs / 3), heldSinceMs },
    // Who erases the dataset goes on when the lease is over, and nothing may be written behind it.
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
