import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { recentlyUsed } from '../../../kernel/recently-used.ts';

export type SqlRow = readonly (null | number | string | Uint8Array)[];

/** Prepared statements by their text; rows come as arrays. The least recently used go when there are too many. */
export type StatementCache = ReturnType<typeof createStatementCache>;

const MAX_STATEMENTS = 512;

export function createStatementCache(database: DatabaseSync) {
  const statements = new Map<string, StatementSync>();
  const prepare = (sql: string): StatementSync =>
    recentlyUsed(statements, MAX_STATEMENTS, sql, () => {
      const statement = database.prepare(sql);
      statement.setReturnArrays(true);
      return statement;
    });
  let characters = 0;
  return {
    all(sql: string, parameters: readonly SQLInputValue[]) {
      const rows = prepare(sql).all(...parameters) as unknown as readonly SqlRow[];
      for (const row of rows) for (const value of row) if (typeof value === 'string') characters += value.length;
      return rows;
    },
    /** Characters that `all` has returned. */
    charactersRead: () => characters,
    get: (sql: string, parameters: readonly SQLInputValue[]) =>
      prepare(sql).get(...parameters) as unknown as SqlRow | undefined,
    run(sql: string, parameters: readonly SQLInputValue[]) {
      const { changes, lastInsertRowid } = prepare(sql).run(...parameters);
      return { changes: Number(changes), lastRow: Number(lastInsertRowid) };
    },
  };
}
