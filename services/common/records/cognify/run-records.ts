import type { RunOrigin, RunOutcome, RunStatus } from '../../domain/run.ts';
import type { Json } from '../../kernel/json.ts';
import type { Scope } from '../../kernel/scope.ts';
import type { DocumentStore, Filter, Stored } from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';
import { repository } from '../base/repository.ts';

/**
 * Append-only history: one row per state of a run, and one per operation (search, forget …), whose `pipeline` and
 * `status` are null (cognify-improve.md §2.1). Rows outlive their dataset.
 */
export type RunRecord = {
  readonly runId: string;
  readonly pipeline: string | null;
  readonly status: RunStatus | null;
  readonly datasetId: string | null;
  readonly userId: string;
  readonly operation: string;
  readonly origin: RunOrigin;
  readonly outcome: RunOutcome | null;
  readonly background: boolean | null;
  /** The one session that it was about; absent or null: none, or several. */
  readonly sessionId?: string | null;
  readonly errorClass: string | null;
  readonly errorMessage: string | null;
  readonly createdAt: string;
  readonly startedAt: string;
  readonly endedAt: string | null;
  /** Null: not measured. 0: measured, none. */
  readonly tokensIn: number | null;
  readonly tokensOut: number | null;
  readonly embeddingTokens: number | null;
  /** Results of the stages, for an improve that ended. */
  readonly stages?: Json;
};

export const runRecordsCollection: OwnedCollection<RunRecord> = {
  name: 'run_records',
  level: 'tenant',
  owner: 'cognify',
  readers: ['ingest'],
  belongsTo: { tenant: 'scope' },
  sequenced: true,
  indexes: [
    { fields: ['datasetId', 'sequence'] },
    { fields: ['userId', 'sequence'] },
    { fields: ['pipeline', 'sequence'] },
  ],
};

export interface RunRecordRow {
  readonly id: string;
  readonly sequence: number;
  readonly record: RunRecord;
}

interface RunRecordQuery {
  readonly datasets?: readonly string[];
  readonly users?: readonly string[];
  readonly pipeline?: string;
  readonly limit: number;
  readonly offset: number;
}

export type RunRecords = ReturnType<typeof createRunRecords>;

export function createRunRecords(store: DocumentStore) {
  const records = repository(store, runRecordsCollection, rowOf);
  const sort = [{ field: 'sequence', descending: true }] as const;
  return {
    appendWrite: (id: string, record: RunRecord) => records.insertWrite(id, record),
    /** Newest first. `datasets`: rows on one of them; `users`: rows run by one of them; both: either. */
    async newest(scope: Scope, { datasets = [], users = [], pipeline, limit, offset }: RunRecordQuery) {
      const common = pipeline === undefined ? {} : { pipeline };
      const wanted = limit + offset;
      const filters: Filter<RunRecord>[] = [];
      if (datasets.length > 0) filters.push({ ...common, datasetId: { in: [...datasets] } });
      if (users.length > 0) filters.push({ ...common, userId: { in: [...users] } });
      const lists = await Promise.all(filters.map((where) => records.firstOnes(scope, { where, sort }, wanted)));
      const byId = new Map(lists.flat().map((row) => [row.id, row]));
      const rows = [...byId.values()].sort((one, other) => other.sequence - one.sequence);
      return rows.slice(offset, wanted);
    },
  };
}

function rowOf({ id, sequence, value }: Stored<RunRecord>): RunRecordRow {
  return { id, sequence: sequence ?? 0, record: value };
}
