import type { DatabaseSync } from 'node:sqlite';
import { decodeDocument } from '../rules/change.ts';
import type { CollectionRules } from '../rules/collection-rules.ts';
import { createStatementCache } from './statement-cache.ts';
import { columnOf, fieldColumn, fieldValues, layoutOf, type TableLayout } from './table-layout.ts';

/** Makes tables, columns and indexes of the declared collections that are missing, in one transaction. */
export function prepareTables(database: DatabaseSync, collections: readonly CollectionRules[]): void {
  const known = new Map<string, CollectionRules>();
  for (const row of database.prepare('SELECT name, declaration FROM collections').all()) {
    known.set(row['name'] as string, JSON.parse(row['declaration'] as string) as CollectionRules);
  }
  const changed = collections.filter((rules) => JSON.stringify(rules) !== JSON.stringify(known.get(rules.name)));
  if (changed.length === 0) return;
  const remember = database.prepare('INSERT OR REPLACE INTO collections (name, declaration) VALUES (?, ?)');
  database.exec('BEGIN IMMEDIATE');
  try {
    for (const rules of changed) {
      prepareTable(database, rules, known.get(rules.name));
      remember.run(rules.name, JSON.stringify(rules));
    }
    database.exec('COMMIT');
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

function prepareTable(database: DatabaseSync, rules: CollectionRules, before: CollectionRules | undefined): void {
  if (before !== undefined && (before.level !== rules.level || before.sequenced !== rules.sequenced)) {
    throw new Error(`collection ${rules.name} cannot change its level or become sequenced: that needs a migration`);
  }
  const layout = layoutOf(rules);
  if (before === undefined) database.exec(createTable(layout));
  else addFields(database, layout, before.fields);
  const wanted = indexesOf(layout);
  for (const name of existingIndexes(database, rules.name)) {
    if (!wanted.has(name)) database.exec(`DROP INDEX "${name}"`);
  }
  for (const sql of wanted.values()) database.exec(sql);
}

function createTable(layout: TableLayout): string {
  const columns = [
    `${layout.rowKey} INTEGER PRIMARY KEY${layout.rules.sequenced ? ' AUTOINCREMENT' : ''}`,
    ...layout.owners.map((owner) => `"${owner}" TEXT NOT NULL`),
    '"id" TEXT NOT NULL',
    '"version" INTEGER NOT NULL',
    ...layout.fieldColumns.map((column) => `${column} ANY`),
    '"body" TEXT NOT NULL', // last: a long document does not stand between a query and the columns it tests
  ];
  return `CREATE TABLE ${layout.table} (${columns.join(', ')}) STRICT`;
}

/** Columns of fields that no earlier release indexed, filled from the documents. */
function addFields(database: DatabaseSync, layout: TableLayout, before: readonly string[]): void {
  const columns = new Set(
    database
      .prepare(`SELECT name FROM pragma_table_info('c_${layout.rules.name}')`)
      .all()
      .map(({ name }) => name),
  );
  const added = layout.rules.fields.filter((field) => !before.includes(field));
  for (const field of added) {
    const column = fieldColumn(field);
    if (!columns.has(column.slice(1, -1))) database.exec(`ALTER TABLE ${layout.table} ADD COLUMN ${column} ANY`);
  }
  if (added.length > 0) fill(database, layout, added);
}

function fill(database: DatabaseSync, layout: TableLayout, fields: readonly string[]): void {
  const statements = createStatementCache(database);
  const select = `SELECT ${layout.rowKey}, "body" FROM ${layout.table} WHERE ${layout.rowKey} > ? ORDER BY 1 LIMIT 500`;
  const assignments = fields.map((field) => `${fieldColumn(field)} = ?`).join(', ');
  const set = `UPDATE ${layout.table} SET ${assignments} WHERE ${layout.rowKey} = ?`;
  let last = 0;
  for (let rows = statements.all(select, [last]); rows.length > 0; rows = statements.all(select, [last])) {
    for (const [row, body] of rows) {
      last = row as number;
      statements.run(set, [...fieldValues({ fields }, decodeDocument(body as string)), last]);
    }
  }
}

/**
 * Name → statement. Every index but the wide ones is led by the owner, and a plain one ends in the id, so that it gives the total order of
 * `find`. The index on the id alone serves the system scope, which does not know whose document it looks for.
 */
function indexesOf(layout: TableLayout): ReadonlyMap<string, string> {
  const { name } = layout.rules;
  const owners = layout.owners.map((owner) => `"${owner}"`);
  const indexes = new Map<string, string>();
  const add = (suffix: string, columns: readonly string[], unique: boolean) => {
    const index = `i_${name}.${suffix}`;
    indexes.set(
      index,
      `CREATE ${unique ? 'UNIQUE ' : ''}INDEX IF NOT EXISTS "${index}" ON ${layout.table} (${columns.join(', ')})`,
    );
  };
  add('id', [...owners, '"id"'], true);
  if (owners.length > 0) add('id_alone', ['"id"'], false);
  if (layout.rules.sequenced && owners.length > 0) add('sequence', [...owners, '"sequence"'], false);
  for (const { fields, unique, wide = false } of layout.rules.indexes) {
    const columns = [...(wide ? [] : owners), ...fields.map(columnOf)];
    if (!unique && !fields.includes('id') && !fields.includes('sequence')) columns.push('"id"');
    add(`${unique ? 'unique' : wide ? 'wide' : 'by'}.${fields.join('+')}`, columns, unique);
  }
  return indexes;
}

function existingIndexes(database: DatabaseSync, collection: string): readonly string[] {
  return database
    .prepare(`SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL`)
    .all(`c_${collection}`)
    .map(({ name }) => name as string);
}
