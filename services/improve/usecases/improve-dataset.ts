import { STAGE_NAMES } from '../../common/domain/improve-stages.ts';
import { ownerOf } from '../../common/repositories/improve-claims.ts';
import { holdClaim } from '../engine/held-claim.ts';
import { type ImproveParts, type ImproveRequest, keysOf, runPasses } from '../engine/improve-passes.ts';
import { type ImproveResult, skipped } from '../engine/improve-result.ts';
import { recordImprove } from '../engine/record-improve.ts';

/**
 * All stages, now. What a stage fails with is in the result; thrown is what improve cannot begin or go on with. It goes on
 * when the caller goes away.
 */
export async function improveDataset(parts: ImproveParts, request: ImproveRequest): Promise<ImproveResult> {
  const id = parts.ids.uuid();
  const { dataset } = request;
  const context = { ...request.context, principal: request.principal };
  const recorded = { id, dataset, background: false, sessionIds: request.sessionIds, context };
  return recordImprove(parts, recorded, async (idleRuns) => {
    const held = await holdClaim(parts, keysOf(request), ownerOf(id, 0));
    if (held === null) return lockHeld(parts, request);
    const passes = await runPasses(parts, request, { held, stop: parts.stopping, idleRuns });
    return { ...described(request), ...passes, background: false, finished: true, rerunRequested: false };
  });
}

/**
 * Somebody else improves the dataset or one of the sessions. Whoever has one of the caller's sessions is asked to look at
 * it once more, so that what came meanwhile is not lost.
 */
export async function lockHeld(
  { claims, clock }: Pick<ImproveParts, 'claims' | 'clock'>,
  request: ImproveRequest,
  background = false,
): Promise<ImproveResult> {
  const held = await claims.wantRerun(keysOf(request), clock.now().getTime());
  return {
    ...described(request),
    stages: STAGE_NAMES.map((stage) => skipped(stage, 'lock_held')),
    ...{ rerunPasses: [], background, finished: true, failure: null, rerunRequested: held > 0 },
  };
}

export function described({
  dataset,
  sessionIds,
}: Pick<ImproveRequest, 'dataset' | 'sessionIds'>): Pick<ImproveResult, 'dataset' | 'sessionIds'> {
  return { dataset, sessionIds };
}
