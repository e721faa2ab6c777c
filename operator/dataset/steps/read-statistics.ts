import type { AnswerOf } from '../../../services/common/platform/messaging/messages.ts';
import type { Dataset, DatasetStatus } from '../../api/dataset.ts';
import { durationMs } from '../../api/values.ts';
import type { ConditionDraft } from '../../kube-runtime/conditions.ts';
import { done, type StepOutcome } from '../../kube-runtime/steps.ts';
import { type DatasetParts, type DatasetStep, idsOf, requestOf, uidOf } from '../model.ts';
import { askAbout } from '../service-failure.ts';

export const STATISTICS_MS = 60_000;

const OBJECTIVE = { maxLag: '15m', maxFailedItems: 0 };

/**
 * Reads the statistics of the dataset: each minute while something is under way or an objective is declared, otherwise with
 * each reconcile, at most once a minute.
 */
export function readStatistics(parts: DatasetParts): DatasetStep {
  const { memory } = parts;
  return {
    name: 'read-statistics',
    async run(context) {
      const { object, status } = context;
      const ids = idsOf(context);
      // A request to reconcile reads the statistics again; a new spec does not.
      const [uid, state] = [uidOf(object), `${ids.datasetId} ${requestOf(object)}`];
      // The objective may have changed, but the statistics are recent enough.
      if (memory.statistics.holds(uid, state) && status.stats !== undefined) return again(object, status);
      const statistics = await askAbout(parts, context, 'ingest.DatasetStatistics', ids);
      // A little less than the time until the next reconcile.
      memory.statistics.remember(uid, state, STATISTICS_MS * 0.95);
      const next = figures(statistics);
      return { ...again(object, next), status: next, conditions: [freshness(object, statistics)] };
    },
  };
}

type Figures = Pick<DatasetStatus, 'stats' | 'writer' | 'activeRun'>;

function again({ spec }: Dataset, { stats, activeRun }: Figures): StepOutcome<DatasetStatus> {
  const lively = (stats?.pending ?? 0) > 0 || activeRun !== undefined;
  const asked = spec.freshness !== undefined || spec.pipeline?.cognify?.trigger === 'OnAdd';
  return done(lively || asked ? { requeueAfterMs: STATISTICS_MS } : {});
}

function figures(statistics: AnswerOf<'ingest.DatasetStatistics'>): Figures {
  const { items, chunks, nodes, edges, pending, failed, lastCognifiedAt, writer, activeRun } = statistics;
  const counts = { items, chunks, nodes, edges, pending, failed };
  return {
    stats: lastCognifiedAt === null ? counts : { ...counts, lastCognifiedAt },
    writer: writer ?? undefined,
    activeRun: activeRun ?? undefined,
  };
}

/** The messages have no numbers, because each change of them would be written to the status. */
function freshness({ spec }: Dataset, { lagSeconds, failed }: AnswerOf<'ingest.DatasetStatistics'>): ConditionDraft {
  const { maxLag, maxFailedItems } = { ...OBJECTIVE, ...spec.freshness };
  if (failed > maxFailedItems) {
    const message = `More than ${maxFailedItems} items failed: see why in their runs, then cognify again or remove them`;
    return { type: 'Fresh', status: 'False', reason: 'ItemsFailed', message };
  }
  if (lagSeconds * 1000 > durationMs(maxLag)) {
    const message = `Added data waits longer than ${maxLag}: see spec.pipeline.cognify and whether cognify runs`;
    return { type: 'Fresh', status: 'False', reason: 'Lagging', message };
  }
  return { type: 'Fresh', status: 'True', reason: 'WithinObjective', message: 'Added data is searchable in time' };
}
