import type { JsonObject } from '../../../services/common/kernel/json.ts';
import type { Page } from '../../../services/common/kernel/result-page.ts';
import type { AnyScope } from '../../../services/common/kernel/scope.ts';
import {
  ambiguousId,
  applyUpdate,
  decodeDocument,
  encodeDocument,
  MAX_WRITES_PER_COMMIT,
  requireCommitSize,
  requirePaging,
} from '../../../services/common/storage/documents/rules/change.ts';
import {
  requireDocumentId,
  requireQueryable,
  rulesOf,
} from '../../../services/common/storage/documents/rules/collection-rules.ts';
import { decodeCursor, encodeCursor } from '../../../services/common/storage/documents/rules/cursor.ts';
import { conditionsOf, matches } from '../../../services/common/storage/documents/rules/filter.ts';
import {
  compareIndexValues,
  type IndexValue,
  type SortKey,
  totalOrder,
} from '../../../services/common/storage/documents/rules/ordering.ts';
import { placeOf, reachOf } from '../../../services/common/storage/documents/rules/reach.ts';
import {
  type AnyCollection,
  type Collection,
  type DocumentStore,
  type Filter,
  type Query,
  type Stored,
  VersionConflictError,
  type Write,
  type WriteResult,
} from '../../../services/common/storage/ports/document-store.ts';
import {
  createDocumentTable,
  type DocumentTable,
  isWithin,
  type Row,
  readField,
  rowsWithin,
} from './document-table.ts';

/** Documents in the memory of the process, gone with it. The same rules as the durable stores; every query is a scan. */
export function createMemoryDocumentStore(): DocumentStore {
  const tables = new Map<string, DocumentTable>();
  const tableOf = (collection: AnyCollection): DocumentTable => {
    const table = tables.get(collection.name);
    if (table === undefined) throw new Error(`collection ${collection.name} was not prepared`);
    return table;
  };
  return {
    capabilities: { maxWritesPerCommit: MAX_WRITES_PER_COMMIT, sharedBetweenProcesses: false },
    async prepare(collections) {
      for (const collection of collections) prepareTable(tables, collection);
    },
    async get<T extends JsonObject>(scope: AnyScope, collection: Collection<T>, id: string) {
      const row = single(tableOf(collection), scope, id);
      return row === null ? null : toStored<T>(row);
    },
    async getMany<T extends JsonObject>(scope: AnyScope, collection: Collection<T>, ids: readonly string[]) {
      const table = tableOf(collection);
      const reach = reachOf(scope, table.rules);
      return [...new Set(ids)].flatMap((id) => rowsWithin(table, reach, id).map((row) => toStored<T>(row)));
    },
    find: async (scope, collection, query) => findPage(tableOf(collection), scope, query),
    async count(scope, collection, where) {
      return select(tableOf(collection), scope, where).length;
    },
    async countEach(scope, collections) {
      return collections.map((collection) => select(tableOf(collection), scope, {}).length);
    },
    async commit(scope, writes) {
      requireCommitSize(writes);
      const undo: (() => void)[] = [];
      try {
        return writes.map((write) => apply(tableOf(write.collection), scope, write, undo));
      } catch (error) {
        for (const step of undo.reverse()) step();
        throw error;
      }
    },
    async view() {
      const then = new Map([...tables].map(([name, { rules, all }]) => [name, { rules, rows: [...all()] }]));
      return {
        async find(scope, { name }, query) {
          const table = then.get(name);
          if (table === undefined) throw new Error(`collection ${name} was not prepared`);
          return findPage({ rules: table.rules, all: () => table.rows }, scope, query);
        },
        close: async () => then.clear(),
      };
    },
    async close() {
      tables.clear();
    },
  };
}

/** Preparing again keeps the documents and takes the newer declaration. */
function prepareTable(tables: Map<string, DocumentTable>, collection: AnyCollection): void {
  const existing = tables.get(collection.name);
  const table = createDocumentTable(rulesOf(collection), existing?.lastSequence());
  for (const row of existing?.all() ?? []) table.put(row);
  tables.set(collection.name, table);
}

function single(table: DocumentTable, scope: AnyScope, id: string): Row | null {
  const rows = rowsWithin(table, reachOf(scope, table.rules), id);
  if (rows.length > 1) throw ambiguousId(table.rules.name, id);
  return rows[0] ?? null;
}

function findPage<T extends JsonObject>(
  table: Pick<DocumentTable, 'rules' | 'all'>,
  scope: AnyScope,
  query: Query<T>,
): Page<Stored<T>> {
  requirePaging(query.limit, query.offset ?? 0);
  const order = totalOrder(table.rules, query.sort ?? []);
  const after = query.after ? decodeCursor(order, query.after) : null;
  const rows = select(table, scope, (query.where ?? {}) as Filter<JsonObject>)
    .filter((row) => after === null || comparePlaces(order, placeIn(order, row), after) > 0)
    .sort((left, right) => comparePlaces(order, placeIn(order, left), placeIn(order, right)));
  const start = query.offset ?? 0;
  const page = rows.slice(start, start + query.limit);
  const last = page.at(-1);
  const more = last !== undefined && rows.length > start + query.limit;
  return { items: page.map((row) => toStored<T>(row)), next: more ? encodeCursor(order, placeIn(order, last)) : null };
}

function select(table: Pick<DocumentTable, 'rules' | 'all'>, scope: AnyScope, where: Filter<JsonObject>): Row[] {
  const conditions = conditionsOf(where);
  for (const [field] of conditions) requireQueryable(table.rules, field);
  const reach = reachOf(scope, table.rules);
  const rows: Row[] = [];
  for (const row of table.all()) {
    if (isWithin(reach, row) && matches(conditions, (field) => readField(row, field))) rows.push(row);
  }
  return rows;
}

function apply(table: DocumentTable, scope: AnyScope, write: Write, undo: (() => void)[]): WriteResult {
  switch (write.kind) {
    case 'insert': {
      requireDocumentId(table.rules.name, write.id);
      const place = placeOf(scope, table.rules);
      const row = rowOf(write.value, { ...place, id: write.id, version: 1, sequence: table.nextSequence() });
      undo.push(table.put(row));
      return { stored: toStored(row), changed: 1 };
    }
    case 'replace': {
      const row = single(table, scope, write.id);
      if (row?.version !== write.expectedVersion) throw new VersionConflictError(table.rules.name, write.id);
      return change(table, row, write.value, undo);
    }
    case 'update': {
      const row = single(table, scope, write.id);
      const conditions = conditionsOf(write.where);
      if (row !== null && matches(conditions, (field) => readField(row, field))) {
        return change(table, row, applyUpdate(row.value, write), undo);
      }
      if (write.required) throw new VersionConflictError(table.rules.name, write.id);
      return { stored: null, changed: 0 };
    }
    case 'remove': {
      const row = single(table, scope, write.id);
      if (write.expectedVersion !== undefined && row?.version !== write.expectedVersion) {
        throw new VersionConflictError(table.rules.name, write.id);
      }
      if (row !== null) undo.push(table.take(row));
      return { stored: null, changed: row === null ? 0 : 1 };
    }
    case 'removeWhere': {
      const rows = select(table, scope, write.where);
      for (const row of rows) undo.push(table.take(row));
      return { stored: null, changed: rows.length };
    }
  }
}

function change(table: DocumentTable, row: Row, value: JsonObject, undo: (() => void)[]): WriteResult {
  const next = rowOf(value, { ...row, version: row.version + 1 });
  undo.push(table.put(next, row));
  return { stored: toStored(next), changed: 1 };
}

function rowOf(value: JsonObject, identity: Omit<Row, 'body' | 'value'>): Row {
  const body = encodeDocument(value);
  return { ...identity, body, value: decodeDocument(body) };
}

function toStored<T>(row: Row): Stored<T> {
  return {
    id: row.id,
    version: row.version,
    value: decodeDocument(row.body) as T,
    tenant: row.tenant,
    dataset: row.dataset,
    ...(row.sequence === null ? {} : { sequence: row.sequence }),
  };
}

function placeIn(order: readonly SortKey[], row: Row): readonly IndexValue[] {
  return order.map((key) => readField(row, key.field));
}

function comparePlaces(order: readonly SortKey[], left: readonly IndexValue[], right: readonly IndexValue[]): number {
  for (const [index, key] of order.entries()) {
    const difference = compareIndexValues(left[index] ?? null, right[index] ?? null);
    if (difference !== 0) return key.descending ? -difference : difference;
  }
  return 0;
}
