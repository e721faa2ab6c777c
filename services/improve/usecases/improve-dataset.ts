import { ownerOf } from '../../common/records/improve/improve-claims.ts';
import { holdClaim } from '../engine/held-claim.ts';
import { type ImproveParts, type ImproveRequest, keysOf, runPasses } from '../engine/improve-passes.ts';
import { described, type ImproveResult } from '../engine/improve-result.ts';
import { recordImprove } from '../engine/record-improve.ts';
import { requestRerun } from './request-rerun.ts';

/** What an improve answers that finds its dataset or one of its sessions taken. */
export type WhenLocked = (parts: ImproveParts, request: ImproveRequest, background: boolean) => Promise<ImproveResult>;

/**
 * All stages, now. What a stage fails with is in the result; thrown is what improve cannot begin or go on with. It goes on
 * when the caller goes away.
 */
export async function improveDataset(
  parts: ImproveParts,
  request: ImproveRequest,
  whenLocked: WhenLocked = requestRerun,
): Promise<ImproveResult> {
  const id = parts.ids.uuid();
  const { dataset } = request;
  const context = { ...request.context, principal: request.principal };
  const recorded = { id, dataset, background: false, sessionIds: request.sessionIds, context };
  return recordImprove(parts, recorded, async (idleRuns) => {
    const held = await holdClaim(parts, keysOf(request), ownerOf(id, 0));
    if (held === null) return whenLocked(parts, request, false);
    const passes = await runPasses(parts, request, { held, stop: parts.stopping, idleRuns });
    return { ...described(request), ...passes, background: false, finished: true, rerunRequested: false };
  });
}
