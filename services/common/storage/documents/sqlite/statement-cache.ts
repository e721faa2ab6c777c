import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';

export type SqlRow = readonly (null | number | string | Uint8Array)[];

/** Prepared statements by their text; rows come as arrays. The least recently used go when there are too many. */
export interface StatementCache {
  all(sql: string, parameters: readonly SQLInputValue[]): readonly SqlRow[];
  get(sql: string, parameters: readonly SQLInputValue[]): SqlRow | undefined;
  run(sql: string, parameters: readonly SQLInputValue[]): { readonly changes: number; readonly lastRow: number };
}

const MAX_STATEMENTS = 512;

export function createStatementCache(database: DatabaseSync): StatementCache {
  const statements = new Map<string, StatementSync>();
  const prepare = (sql: string): StatementSync => {
    const known = statements.get(sql);
    if (known !== undefined) {
      statements.delete(sql);
      statements.set(sql, known);
      return known;
    }
    const statement = database.prepare(sql);
    statement.setReturnArrays(true);
    statements.set(sql, statement);
    const oldest = statements.keys().next().value;
    if (statements.size > MAX_STATEMENTS && oldest !== undefined) statements.delete(oldest);
    return statement;
  };
  return {
    all: (sql, parameters) => prepare(sql).all(...parameters) as unknown as readonly SqlRow[],
    get: (sql, parameters) => prepare(sql).get(...parameters) as unknown as SqlRow | undefined,
    run(sql, parameters) {
      const { changes, lastInsertRowid } = prepare(sql).run(...parameters);
      return { changes: Number(changes), lastRow: Number(lastInsertRowid) };
    },
  };
}
