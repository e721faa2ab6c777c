import type { RunId } from '../../common/domain/brand.ts';
import { type DatasetRef, scopeOf } from '../../common/domain/dataset.ts';
import { engramError } from '../../common/domain/errors.ts';
import { asId } from '../../common/domain/ids.ts';
import { COGNIFY_PIPELINE, type RunState } from '../../common/domain/run.ts';
import type { Write } from '../../common/ports/document-store.ts';
import { isOvertaken } from '../../common/repositories/commit-races.ts';
import type { ScheduledStart } from '../../common/repositories/scheduled-starts.ts';
import type { CognifyDependencies } from '../dependencies.ts';
import { startCognify } from './start-cognify.ts';

type Dependencies = Pick<
  CognifyDependencies,
  'engine' | 'configurations' | 'runs' | 'scheduledStarts' | 'store' | 'clock'
>;
type Request = Parameters<typeof startCognify>[1] & { readonly dueAt: string };

/** Who set about a start and said nothing since has died: a start is a few commits. */
const CLAIM_MS = 20_000;

/**
 * Starts a run for one time of its schedule, once, however often and by how many it is asked for: answers the run that there
 * is. `ServiceUnavailableError` while somebody else is starting it.
 */
export async function startScheduled(deps: Dependencies, request: Request): Promise<RunState> {
  const { scheduledStarts, clock } = deps;
  const { dataset, dueAt } = request;
  for (;;) {
    const before = await scheduledStarts.get(scopeOf(dataset), COGNIFY_PIPELINE);
    const known = before?.dueAt === dueAt ? await runOf(deps, dataset, before) : null;
    if (known !== null) return known;
    const claimedAt = clock.now();
    if (before?.dueAt === dueAt && before.runId === null && ageMs(before, claimedAt) < CLAIM_MS) {
      throw engramError('ServiceUnavailableError', 'The run is being started.', { retryable: true });
    }
    const claim = { dueAt, claimedAt: claimedAt.toISOString(), runId: null };
    if (!(await put(deps, dataset, scheduledStarts.putWrite(COGNIFY_PIPELINE, claim, before)))) continue;
    return start(deps, request, { ...claim, version: (before?.version ?? 0) + 1 });
  }
}

async function start(deps: Dependencies, request: Request, claim: ScheduledStart): Promise<RunState> {
  const { scheduledStarts } = deps;
  const { dataset, dueAt: _, ...asked } = request;
  const run = await startCognify(deps, { ...asked, dataset }).catch(async (error: unknown) => {
    // Refused, so it may be asked for again at once; where even that cannot be said, when the claim has lapsed.
    await put(deps, dataset, scheduledStarts.removeWrite(COGNIFY_PIPELINE, claim)).catch(() => false);
    throw error;
  });
  const { version: __, ...claimed } = claim;
  const started = scheduledStarts.putWrite(COGNIFY_PIPELINE, { ...claimed, runId: run.id }, claim);
  // It is under way whether that can be said or not; see `runOf`.
  await put(deps, dataset, started).catch(() => false);
  return run;
}

/** What was started for it; of a start that nobody told the end of, the run that began since. */
async function runOf({ runs }: Dependencies, dataset: DatasetRef, claim: ScheduledStart): Promise<RunState | null> {
  if (claim.runId !== null) return (await runs.get(scopeOf(dataset), asId<RunId>(claim.runId)))?.state ?? null;
  const [newest] = await runs.newest([dataset], [COGNIFY_PIPELINE]);
  const isSince = newest !== undefined && Date.parse(newest.state.startedAt) >= Date.parse(claim.claimedAt);
  return isSince ? newest.state : null;
}

/** False when somebody else was quicker. */
async function put({ store }: Dependencies, dataset: DatasetRef, write: Write): Promise<boolean> {
  try {
    await store.commit(scopeOf(dataset), [write]);
    return true;
  } catch (error) {
    if (isOvertaken(error)) return false;
    throw error;
  }
}

function ageMs({ claimedAt }: ScheduledStart, now: Date): number {
  return now.getTime() - Date.parse(claimedAt);
}
