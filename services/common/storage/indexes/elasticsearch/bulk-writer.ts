import type { estypes } from '@elastic/elasticsearch';
import { createConcurrencyLimit } from '../../../platform/async/concurrency-limit.ts';
import { BUSY_ATTEMPTS, backOff, type ElasticsearchConnection } from './connection.ts';
import { rowError, rowTooLarge } from './elasticsearch-errors.ts';

export interface BulkRow {
  /** Document id; a row with the same one is replaced. */
  readonly id: string;
  /** JSON of the document. */
  readonly document: string;
}

export type BulkWriter = ReturnType<typeof createBulkWriter>;

/** Requests of this process under way; further ones wait, and so do their callers. */
const CONCURRENCY = 2;

/**
 * A row of at least this size that is refused as often as a busy server is asked, even alone, is too large for the server.
 * Elasticsearch refuses with 429 what would need more than a tenth of its heap, and counts four bytes for each of a row.
 */
const LARGE_ROW_BYTES = 1024 * 1024;

/**
 * Splits rows into requests of bounded size and repeats, with growing pauses, what a busy server did not take; at last each
 * row alone. Errors: `PayloadTooLargeError` for a row that the server will never take.
 */
export function createBulkWriter(connection: ElasticsearchConnection, maxBytes = 4 * 1024 * 1024) {
  const inTurn = createConcurrencyLimit(CONCURRENCY);
  /** Rows that are to be sent again; null when the alias is missing. */
  const send = async (alias: string, rows: readonly BulkRow[], isLast: boolean): Promise<readonly BulkRow[] | null> => {
    const answer = await connection.request((client, requestOptions) =>
      client.bulk(
        {
          index: alias,
          require_alias: true,
          filter_path: ['errors', 'items.*.status', 'items.*.error.type'],
          // Lines are ready-made JSON, which the client sends as it is.
          operations: rows.flatMap(({ id, document }) => [`{"index":{"_id":"${id}"}}`, document]),
        },
        requestOptions,
      ),
    );
    if (!answer.errors) return [];
    const again: BulkRow[] = [];
    for (const [at, item] of answer.items.entries()) {
      const { status, error } = item.index as Pick<estypes.BulkResponseItem, 'status' | 'error'>;
      if (error === undefined) continue;
      if (status === 404) return null;
      // An index that is being taken away refuses writes for a moment: 403.
      if (isLast || !(status === 429 || status === 503 || status === 403)) {
        const size = rows[at]?.document.length ?? 0;
        if (status === 429 && rows.length === 1 && size >= LARGE_ROW_BYTES) throw rowTooLarge(size, connection.address);
        throw rowError(error.type, status, connection.address);
      }
      again.push(rows[at] as BulkRow);
    }
    return again;
  };
  return {
    /** Resolves to false when the alias is not there: nothing, or only the first part, was written then. */
    async write(alias: string, rows: readonly BulkRow[]) {
      for (const batch of batches(rows, maxBytes)) {
        const isThere = await inTurn(async () => {
          let left: readonly BulkRow[] | null = batch;
          for (let attempt = 1; left !== null && left.length > 0 && attempt < BUSY_ATTEMPTS; attempt++) {
            if (attempt > 1) await backOff(attempt - 1);
            left = await send(alias, left, false);
          }
          for (const row of left ?? []) if ((await send(alias, [row], true)) === null) return false;
          return left !== null;
        });
        if (!isThere) return false;
      }
      return true;
    },
  };
}

function* batches(rows: readonly BulkRow[], maxBytes: number): Generator<readonly BulkRow[]> {
  let start = 0;
  let bytes = 0;
  for (const [at, { document }] of rows.entries()) {
    // A character of JSON is one byte nearly always; three times as much does no harm.
    if (at > start && bytes + document.length > maxBytes) {
      yield rows.slice(start, at);
      start = at;
      bytes = 0;
    }
    bytes += document.length;
  }
  if (start < rows.length) yield rows.slice(start);
}
