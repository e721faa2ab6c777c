import type { JsonObject } from '../../../kernel/json.ts';
import type { Page } from '../../../kernel/result-page.ts';
import type { Query, Stored } from '../../ports/document-store.ts';
import { decodeDocument, requirePaging } from '../rules/change.ts';
import { decodeCursor, encodeCursor } from '../rules/cursor.ts';
import { DATASET, type IndexValue, type SortKey, TENANT, totalOrder } from '../rules/ordering.ts';
import { isPinned, type Reach } from '../rules/reach.ts';
import { placeInOrder } from '../rules/stored-field.ts';
import { joined, type SqlTerm, term, whereTerm } from './filter-sql.ts';
import type { SqlRow, StatementCache } from './statement-cache.ts';
import { columnOf, sqlValue, type TableLayout } from './table-layout.ts';

/** A page as it was read. */
export interface FoundRows {
  readonly rows: readonly SqlRow[];
  readonly next: string | null;
}

export function findPage<T extends JsonObject>(
  statements: StatementCache,
  layout: TableLayout,
  reach: Reach,
  query: Query<T>,
): Page<Stored<T>> {
  const { rows, next } = findRows(statements, layout, reach, query);
  return { items: rows.map((row) => toStored<T>(layout, row)), next };
}

export function findRows<T extends JsonObject>(
  statements: StatementCache,
  layout: TableLayout,
  reach: Reach,
  query: Query<T>,
): FoundRows {
  const offset = query.offset ?? 0;
  requirePaging(query.limit, offset);
  const order = totalOrder(layout.rules, query.sort ?? []);
  const where = whereTerm(layout, reach, query.where ?? {});
  const select = (phase: SqlTerm, limit: number, skip: number): readonly SqlRow[] => {
    const { sql, parameters } = joined([where, phase]);
    const text = `SELECT ${selectColumns(layout)} FROM ${layout.table} WHERE ${sql} ORDER BY ${orderSql(order)} LIMIT ? OFFSET ?`;
    return statements.all(text, [...parameters, limit, skip]);
  };
  // One more than requested says whether there is a next page.
  const wanted = query.limit + 1;
  const rows = query.after
    ? readPhases(phasesAfter(order, decodeCursor(order, query.after), reach), select, offset + wanted).slice(offset)
    : select(term('1'), wanted, offset);
  const shown = rows.slice(0, query.limit);
  const last = shown.at(-1);
  if (rows.length < wanted || last === undefined) return { rows: shown, next: null };
  return { rows: shown, next: encodeCursor(order, placeInOrder(order, toStored<T>(layout, last))) };
}

function readPhases(
  phases: readonly SqlTerm[],
  select: (phase: SqlTerm, limit: number, skip: number) => readonly SqlRow[],
  wanted: number,
): readonly SqlRow[] {
  const rows: SqlRow[] = [];
  for (const phase of phases) {
    if (rows.length >= wanted) break;
    rows.push(...select(phase, wanted - rows.length, 0));
  }
  return rows;
}

function orderSql(order: readonly SortKey[]): string {
  return order.map(({ field, descending }) => `${columnOf(field)} ${descending ? 'DESC' : 'ASC'}`).join(', ');
}

/**
 * The documents after a position in the order, as ranges to be read one after the other: first the rows that share all keys
 * but the last, and so on outwards. Each range is an index seek; one OR of all of them would be a scan.
 */
function phasesAfter(order: readonly SortKey[], place: readonly IndexValue[], reach: Reach): readonly SqlTerm[] {
  const phases: SqlTerm[] = [];
  for (let index = order.length - 1; index >= 0; index -= 1) {
    const key = order[index];
    if (key === undefined || isPinned(key.field, reach)) continue;
    const shared = order.slice(0, index).map((outer, at) => equalTo(outer.field, place[at] ?? null));
    for (const behind of behindTerms(key, place[index] ?? null)) phases.push(joined([...shared, behind]));
  }
  return phases;
}

function equalTo(field: string, value: IndexValue): SqlTerm {
  return value === null ? term(`${columnOf(field)} IS NULL`) : term(`${columnOf(field)} = ?`, sqlValue(value));
}

/** NULL is the least value: last when descending. */
function behindTerms({ field, descending }: SortKey, value: IndexValue): readonly SqlTerm[] {
  const column = columnOf(field);
  if (!descending) {
    return [value === null ? term(`${column} IS NOT NULL`) : term(`${column} > ?`, sqlValue(value))];
  }
  if (value === null) return [];
  const lower = term(`${column} < ?`, sqlValue(value));
  return isNeverNull(field) ? [lower] : [lower, term(`${column} IS NULL`)];
}

function isNeverNull(field: string): boolean {
  return field === 'id' || field === 'sequence' || field === TENANT || field === DATASET;
}

/** Columns of every query that gives documents; `toStored` reads them by position. */
export function selectColumns(layout: TableLayout): string {
  const owner = (name: 'tenant' | 'dataset') => (layout.owners.includes(name) ? `"${name}"` : 'NULL');
  const sequence = layout.rules.sequenced ? '"sequence"' : 'NULL';
  return `"id", "version", "body", ${owner('tenant')}, ${owner('dataset')}, ${sequence}`;
}

export function toStored<T>(layout: TableLayout, row: SqlRow): Stored<T> {
  const [id, version, body, tenant, dataset, sequence] = row;
  return {
    id: id as string,
    version: version as number,
    value: decodeDocument(body as string) as T,
    tenant: tenant as string | null,
    dataset: dataset as string | null,
    ...(layout.rules.sequenced ? { sequence: sequence as number } : {}),
  };
}
