import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { isEngramError } from '../../common/kernel/errors.ts';
import { recordSkillRuns } from '../../common/platform/messaging/methods/ingest.ts';
import type { SearchDependencies } from '../dependencies.ts';
import type { SearchRequest } from '../usecases/search-request.ts';
import type { Toolbox } from './toolbox.ts';

/** What a run says of its task. */
const MAX_TEXT = 1000;

/** Each skill that was opened gets a run, so that it can be judged and made better. A failure here takes no answer away. */
export async function recordUsedSkills(
  { messenger, logger, clock }: SearchDependencies,
  request: SearchRequest,
  { dataset, toolbox, startedMs }: UsedSkills,
): Promise<void> {
  const { opened, calls } = toolbox.trace();
  if (opened.length === 0) return;
  const latencyMs = Math.round(clock.monotonicMs() - startedMs);
  const run = {
    // The answer is told by memory, which may be forgotten.
    ...{ taskText: request.query.slice(0, MAX_TEXT), resultSummary: '', latencyMs },
    ...{ startedAtMs: clock.now().getTime() - latencyMs, toolTrace: calls, session: request.sessionId },
    candidateSkillIds: toolbox.skills.map(({ skill }) => skill.id),
  };
  try {
    const { context, principal } = request;
    const runs = opened.map((skill) => ({ skill, ...run }));
    await messenger.call(recordSkillRuns, { dataset, runs }, { ...context, principal });
  } catch (error) {
    if (!isEngramError(error)) throw error;
    logger.warn('search.agent.runs.lost', { datasetId: dataset.id, reason: error.wireName });
  }
}

export interface UsedSkills {
  readonly dataset: DatasetRef;
  readonly toolbox: Toolbox;
  /** By the monotonic clock. */
  readonly startedMs: number;
}
