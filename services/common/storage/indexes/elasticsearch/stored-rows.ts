import type { DatasetScope } from '../../../kernel/scope.ts';
import type { EntryFilter } from '../../ports/index-entry.ts';
import type { RowSelection } from '../../ports/text-index.ts';
import type { BulkRow, BulkWriter } from './bulk-writer.ts';
import type { ElasticsearchConnection } from './connection.ts';
import { isMissing } from './elasticsearch-errors.ts';
import { entryFilters, letsNothingThrough, ofDataset, type Query, selectedRows } from './filters.ts';
import type { IndexSettings } from './index-layout.ts';
import type { IndexPlacement, IndexPlacements } from './index-placements.ts';
import { type ElasticsearchNames, routingOf } from './names.ts';
import type { Refresher } from './refresher.ts';

/** Writes, counts and removes rows of a dataset, for the text and the vector index. */
type StoredRows = ReturnType<typeof createStoredRows>;

/** What text and vectors of an installation share. */
export interface IndexParts {
  readonly connection: ElasticsearchConnection;
  readonly placements: IndexPlacements;
  readonly rows: StoredRows;
  readonly names: ElasticsearchNames;
  readonly settings: IndexSettings;
}

interface StoredRowsDependencies {
  readonly connection: ElasticsearchConnection;
  readonly placements: IndexPlacements;
  readonly bulk: BulkWriter;
  readonly refresher: Refresher;
}

/** Rows of one delete-by-query, so that it ends within the time limit of a request. */
const REMOVED_AT_ONCE = 5000;
/** Rounds in which rows could not be removed because others write them. */
const MAX_CONFLICTS = 10;

export function createStoredRows({ connection, placements, bulk, refresher }: StoredRowsDependencies) {
  const removeSome = async (index: string, scope: DatasetScope, query: Query) => {
    try {
      const { deleted = 0, version_conflicts: inConflict = 0 } = await connection.request((client, options) =>
        client.deleteByQuery(
          {
            index,
            routing: routingOf(scope),
            query,
            max_docs: REMOVED_AT_ONCE,
            conflicts: 'proceed',
            refresh: true,
          },
          options,
        ),
      );
      return { deleted, inConflict };
    } catch (error) {
      if (isMissing(error)) return { deleted: 0, inConflict: 0 };
      throw error;
    }
  };
  return {
    /** Resolves when the rows are stored and every search sees them; false when the dataset was dropped meanwhile. */
    async write(placement: IndexPlacement, rows: readonly BulkRow[]) {
      await placements.ensure(placement);
      const isStored = await bulk.write(placement.alias, rows);
      if (isStored) await refresher.refresh(placement.index);
      else placements.forget(placement);
      return isStored;
    },
    /** `index` may be a pattern: what no alias shows any more counts too. */
    async count(index: string, scope: DatasetScope, filter: Partial<EntryFilter>) {
      if (letsNothingThrough(filter)) return 0;
      const answer = await connection.request((client, options) =>
        client.count(
          {
            index,
            ignore_unavailable: true,
            routing: routingOf(scope),
            query: { bool: { filter: [ofDataset(scope), ...entryFilters(filter)] } },
          },
          options,
        ),
      );
      return answer.count;
    },
    async remove(index: string, scope: DatasetScope, selection: RowSelection | null) {
      const query = { bool: { filter: [ofDataset(scope), ...(selection === null ? [] : [selectedRows(selection)])] } };
      let removed = 0;
      let conflicts = 0;
      for (;;) {
        const { deleted, inConflict } = await removeSome(index, scope, query);
        removed += deleted;
        conflicts += inConflict > 0 ? 1 : 0;
        if (inConflict > 0 ? conflicts > MAX_CONFLICTS : deleted < REMOVED_AT_ONCE) return removed;
      }
    },
  };
}
