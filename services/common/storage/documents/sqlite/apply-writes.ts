import type { JsonObject } from '../../../kernel/json.ts';
import { DuplicateKeyError, VersionConflictError } from '../../ports/document-store.ts';
import { ambiguousId, applyUpdate, decodeDocument, encodeDocument } from '../rules/change.ts';
import { fieldValue } from '../rules/collection-rules.ts';
import { conditionsOf, matches } from '../rules/filter.ts';
import { indexValue } from '../rules/ordering.ts';
import type { Reach } from '../rules/reach.ts';
import { joined, lookupTerms, term } from './filter-sql.ts';
import { isUniqueViolation } from './sqlite-errors.ts';
import type { StatementCache } from './statement-cache.ts';
import { fieldValues, type SqlValue, type TableLayout } from './table-layout.ts';
import type { EncodedResult, EncodedWrite } from './write-protocol.ts';

/** Applies one write inside the transaction of its commit; throws what makes the commit fail. */
export function applyWrite(statements: StatementCache, layout: TableLayout, write: EncodedWrite): EncodedResult {
  try {
    switch (write.kind) {
      case 'insert':
        return insertRow(statements, layout, write);
      case 'replace':
        return replaceRow(statements, layout, write);
      case 'update':
        return updateRow(statements, layout, write);
      case 'remove':
        return removeRow(statements, layout, write);
      case 'removeWhere': {
        const sql = `DELETE FROM ${layout.table} WHERE ${write.where.sql}`;
        return statements.run(sql, write.where.parameters).changes;
      }
    }
  } catch (error) {
    throw isUniqueViolation(error) ? duplicateKey(layout, error) : error;
  }
}

type Insert = Extract<EncodedWrite, { kind: 'insert' }>;
type Replace = Extract<EncodedWrite, { kind: 'replace' }>;
type Update = Extract<EncodedWrite, { kind: 'update' }>;
type Remove = Extract<EncodedWrite, { kind: 'remove' }>;

function insertRow(statements: StatementCache, layout: TableLayout, write: Insert): EncodedResult {
  const columns = [...layout.owners.map((owner) => `"${owner}"`), '"id"', ...layout.fieldColumns, '"body"'];
  const places = columns.map(() => '?').join(', ');
  const sql = `INSERT INTO ${layout.table} ("version", ${columns.join(', ')}) VALUES (1, ${places})`;
  const owners = layout.owners.map((owner) => write.place[owner]);
  const { lastRow } = statements.run(sql, [...owners, write.id, ...write.values, write.body]);
  return layout.rules.sequenced ? { version: 1, sequence: lastRow, ...write.place, body: null } : 1;
}

function replaceRow(statements: StatementCache, layout: TableLayout, write: Replace): EncodedResult {
  const row = readRow(statements, layout, write);
  if (row?.version !== write.expectedVersion) throw new VersionConflictError(layout.rules.name, write.id);
  const before = decodeDocument(row.body);
  return storeRow(statements, layout, row, { before, body: write.body, values: write.values, tellBody: false });
}

function updateRow(statements: StatementCache, layout: TableLayout, write: Update): EncodedResult {
  const row = readRow(statements, layout, write);
  if (row !== null) {
    const value = decodeDocument(row.body);
    const read = (field: string) => {
      if (field === 'id') return row.id;
      return field === 'sequence' && layout.rules.sequenced ? row.key : indexValue(fieldValue(value, field));
    };
    if (matches(conditionsOf(write.where), read)) {
      const next = applyUpdate(value, { set: decodeDocument(write.set), ...incrementOf(write) });
      const body = encodeDocument(next);
      const values = fieldValues(layout.rules, next);
      return storeRow(statements, layout, row, { before: value, body, values, tellBody: true });
    }
  }
  if (write.required) throw new VersionConflictError(layout.rules.name, write.id);
  return 0;
}

function incrementOf(write: Update): Pick<Update, 'increment'> {
  return write.increment === undefined ? {} : { increment: write.increment };
}

function removeRow(statements: StatementCache, layout: TableLayout, write: Remove): EncodedResult {
  const row = readRow(statements, layout, write);
  if (write.expectedVersion !== undefined && row?.version !== write.expectedVersion) {
    throw new VersionConflictError(layout.rules.name, write.id);
  }
  if (row === null) return 0;
  statements.run(`DELETE FROM ${layout.table} WHERE ${layout.rowKey} = ?`, [row.key]);
  return 1;
}

interface StoredRow {
  readonly key: number;
  readonly id: string;
  readonly version: number;
  readonly body: string;
  readonly tenant: string | null;
  readonly dataset: string | null;
}

/** The one document with the id within reach. */
function readRow(
  statements: StatementCache,
  layout: TableLayout,
  { id, reach }: { readonly id: string; readonly reach: Reach },
): StoredRow | null {
  const where = joined([term('"id" = ?', id), ...lookupTerms(layout, reach)]);
  const owners = layout.owners.map((owner) => `, "${owner}"`).join('');
  const rows = statements.all(
    `SELECT ${layout.rowKey}, "version", "body"${owners} FROM ${layout.table} WHERE ${where.sql} LIMIT 2`,
    where.parameters,
  );
  if (rows.length > 1) throw ambiguousId(layout.rules.name, id);
  const [row] = rows;
  if (row === undefined) return null;
  const [key, version, body, tenant, dataset] = row;
  return {
    key: key as number,
    id,
    version: version as number,
    body: body as string,
    tenant: (tenant as string | undefined) ?? null,
    dataset: (dataset as string | undefined) ?? null,
  };
}

/** Writes the next version; columns whose value stays are left out, so that their indexes are not touched. */
function storeRow(
  statements: StatementCache,
  layout: TableLayout,
  row: StoredRow,
  next: {
    readonly before: JsonObject;
    readonly body: string;
    readonly values: readonly SqlValue[];
    readonly tellBody: boolean;
  },
): EncodedResult {
  const before = fieldValues(layout.rules, next.before);
  const assignments = ['"version" = ?', '"body" = ?'];
  const parameters: SqlValue[] = [row.version + 1, next.body];
  for (const [index, value] of next.values.entries()) {
    if (isSameValue(before[index] ?? null, value)) continue;
    assignments.push(`${layout.fieldColumns[index]} = ?`);
    parameters.push(value);
  }
  statements.run(`UPDATE ${layout.table} SET ${assignments.join(', ')} WHERE ${layout.rowKey} = ?`, [
    ...parameters,
    row.key,
  ]);
  const { tenant, dataset } = row;
  const sequence = layout.rules.sequenced ? row.key : null;
  const body = next.tellBody ? next.body : null;
  return { version: row.version + 1, sequence, tenant, dataset, body };
}

function isSameValue(left: SqlValue, right: SqlValue): boolean {
  if (left instanceof Uint8Array && right instanceof Uint8Array) return left[0] === right[0];
  return left === right;
}

/** SQLite lists the columns of the broken index: `UNIQUE constraint failed: c_jobs.tenant, c_jobs.f_activeKey`. */
function duplicateKey(layout: TableLayout, error: Error): DuplicateKeyError {
  const columns = error.message.slice(error.message.indexOf(':') + 1).split(',');
  const names = columns.map((column) => column.trim().slice(`c_${layout.rules.name}.`.length));
  const fields = names.filter((name) => name !== 'tenant' && name !== 'dataset').map(fieldOf);
  return new DuplicateKeyError(layout.rules.name, fields, { cause: error });
}

function fieldOf(column: string): string {
  return column.startsWith('f_') ? column.slice(2).replaceAll('$', '.') : column;
}
