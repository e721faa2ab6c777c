import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import type { Logger } from '../../common/ports/logger.ts';
import type { Ledger, PendingItem } from '../../common/records/cognify/ledger.ts';
import type { Runs } from '../../common/records/cognify/runs.ts';
import { type RowStores, removeRows } from '../pipeline/remove-rows.ts';

const BATCH = 500;
/** Attempts whose rows may be left; later commits and roll-backs removed those of older ones. */
const GENERATIONS_BACK = 20;

/**
 * Removes the rows of attempts that neither committed nor rolled back and whose run has ended, because their worker was
 * killed. Readers never saw them. Returns the number of items that were swept.
 */
export async function sweepGenerations(
  dependencies: RowStores & { readonly ledger: Ledger; readonly runs: Runs; readonly logger: Logger },
): Promise<number> {
  const { ledger, runs, logger } = dependencies;
  let swept = 0;
  const pending = await ledger.pending(SYSTEM_SCOPE, BATCH);
  const groups = Map.groupBy(pending, ({ scope }) => `${scope.tenant}/${scope.dataset}`);
  for (const group of groups.values()) {
    const { scope } = group[0] as PendingItem;
    const unfinished = await runs.unfinished(scope, { limit: 100 });
    if (unfinished.some(({ jobId }) => jobId !== null)) continue;
    for (const { item, entry } of group) {
      const last = entry.lastGeneration;
      if (!(await ledger.fence(scope, item, last))) continue;
      for (let generation = Math.max(1, last - GENERATIONS_BACK); generation <= last; generation++) {
        if (generation !== entry.generation) await removeRows(dependencies, scope, { item, generation });
      }
      await ledger.settle(scope, item, last);
      swept += 1;
    }
  }
  if (swept > 0) logger.info('cognify.swept', { items: swept });
  return swept;
}
