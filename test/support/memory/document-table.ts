import type { JsonObject } from '../../../services/common/kernel/json.ts';
import type { CollectionRules } from '../../../services/common/storage/documents/rules/collection-rules.ts';
import { fieldValue } from '../../../services/common/storage/documents/rules/collection-rules.ts';
import {
  DATASET,
  type IndexValue,
  indexValue,
  TENANT,
} from '../../../services/common/storage/documents/rules/ordering.ts';
import type { Place, Reach } from '../../../services/common/storage/documents/rules/reach.ts';
import { DuplicateKeyError } from '../../../services/common/storage/ports/document-store.ts';

/** One version of a document; never changed, only replaced. */
export interface Row extends Place {
  readonly id: string;
  readonly version: number;
  readonly body: string;
  /** `body` parsed, for filters and sorting; what leaves the store is parsed anew, so that callers cannot change it. */
  readonly value: JsonObject;
  readonly sequence: number | null;
}

/** The documents of one collection with their unique keys. `put` and `take` return what undoes them. */
export interface DocumentTable {
  readonly rules: CollectionRules;
  all(): Iterable<Row>;
  byId(id: string): readonly Row[];
  nextSequence(): number | null;
  lastSequence(): number;
  /** Inserts, or replaces `previous`. Throws `DuplicateKeyError` and changes nothing when a key is taken. */
  put(row: Row, previous?: Row): () => void;
  take(row: Row): () => void;
}

export function readField(row: Row, field: string): IndexValue {
  if (field === 'id') return row.id;
  if (field === 'sequence') return row.sequence;
  if (field === TENANT) return row.tenant;
  if (field === DATASET) return row.dataset;
  return indexValue(fieldValue(row.value, field));
}

export function rowsWithin(table: DocumentTable, reach: Reach, id: string): readonly Row[] {
  return table.byId(id).filter((row) => isWithin(reach, row));
}

export function createDocumentTable(rules: CollectionRules, sequenceSoFar = 0): DocumentTable {
  const rows = new Map<string, readonly Row[]>();
  const uniqueIndexes = rules.indexes
    .filter((index) => index.unique)
    .map((index) => ({ fields: index.fields, owners: new Map<string, string>() }));
  let lastSequence = sequenceSoFar;

  const setById = (id: string, list: readonly Row[]) => {
    if (list.length === 0) rows.delete(id);
    else rows.set(id, list);
  };
  const release = (row: Row) => {
    for (const index of uniqueIndexes) {
      const key = uniqueKey(row, index.fields);
      if (key !== null) index.owners.delete(key);
    }
  };
  const occupy = (row: Row) => {
    for (const index of uniqueIndexes) {
      const key = uniqueKey(row, index.fields);
      if (key !== null) index.owners.set(key, placeKey(row));
    }
  };
  const requireFree = (row: Row, previous: Row | undefined) => {
    if (previous === undefined && (rows.get(row.id) ?? []).some((other) => placeKey(other) === placeKey(row))) {
      throw new DuplicateKeyError(rules.name, ['id']);
    }
    for (const index of uniqueIndexes) {
      const key = uniqueKey(row, index.fields);
      const owner = key === null ? undefined : index.owners.get(key);
      if (owner !== undefined && owner !== placeKey(row)) throw new DuplicateKeyError(rules.name, index.fields);
    }
  };
  const exchange = (before: Row | undefined, after: Row | undefined) => {
    const id = (before ?? after)?.id ?? '';
    if (before !== undefined) release(before);
    const others = (rows.get(id) ?? []).filter((row) => row !== before);
    setById(id, after === undefined ? others : [...others, after]);
    if (after !== undefined) occupy(after);
  };
  return {
    rules,
    *all() {
      for (const list of rows.values()) yield* list;
    },
    byId: (id) => rows.get(id) ?? [],
    nextSequence() {
      if (!rules.sequenced) return null;
      lastSequence += 1;
      return lastSequence;
    },
    lastSequence: () => lastSequence,
    put(row, previous) {
      requireFree(row, previous);
      exchange(previous, row);
      return () => exchange(row, previous);
    },
    take(row) {
      exchange(row, undefined);
      return () => exchange(undefined, row);
    },
  };
}

function placeKey(row: Row): string {
  return JSON.stringify([row.tenant, row.dataset, row.id]);
}

/** Null when a field is absent: such a document takes part in no uniqueness. */
function uniqueKey(row: Row, fields: readonly string[]): string | null {
  const values = fields.map((field) => readField(row, field));
  if (values.some((value) => value === null)) return null;
  return JSON.stringify([row.tenant, row.dataset, ...values.map((value) => (typeof value === 'symbol' ? {} : value))]);
}

export function isWithin(reach: Reach, place: Place): boolean {
  return (
    (reach.tenant === undefined || reach.tenant === place.tenant) &&
    (reach.dataset === undefined || reach.dataset === place.dataset)
  );
}
