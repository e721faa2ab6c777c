import type { DatabaseSync } from 'node:sqlite';
import { engramError } from '../../../kernel/errors.ts';

/** A step from one layout of the file to the next. Only forwards: an older release refuses a newer file. */
interface Migration {
  readonly version: number;
  readonly sql: string;
}

/** Collections have tables of their own, made on declaration (`prepare-tables.ts`); these steps are for what holds them. */
const MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    sql: `CREATE TABLE collections (
            name TEXT PRIMARY KEY,
            declaration TEXT NOT NULL
          ) STRICT, WITHOUT ROWID;`,
  },
];

interface MigrationOptions {
  readonly file: string;
  /** False: an existing file that is behind is left alone and reported. A new file is always set up. */
  readonly autoMigrate: boolean;
  /** For tests; the release's own list otherwise. */
  readonly migrations?: readonly Migration[];
}

/** Brings the file to the layout of this release in one transaction. Returns the versions that were applied. */
export function migrate(database: DatabaseSync, options: MigrationOptions): readonly number[] {
  const migrations = options.migrations ?? MIGRATIONS;
  const newest = migrations.at(-1)?.version ?? 0;
  const current = readVersion(database, options.file);
  if (current !== null && current > newest) {
    throw engramError(
      'CogneeSystemError',
      `The database file ${options.file} has schema version ${current}; this release knows versions up to ${newest}. ` +
        'Start the release that wrote it, or a newer one',
    );
  }
  const pending = migrations.filter(({ version }) => version > (current ?? 0));
  if (pending.length === 0) return [];
  if (current !== null && !options.autoMigrate) {
    throw engramError(
      'CogneeSystemError',
      `The database file ${options.file} has schema version ${current}, this release needs ${newest}, and automatic ` +
        'migrations are off. Run `npm run migrate`',
    );
  }
  apply(database, pending);
  return pending.map(({ version }) => version);
}

function apply(database: DatabaseSync, pending: readonly Migration[]): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    database.exec(`CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID`);
    const setVersion = database.prepare(`INSERT OR REPLACE INTO meta (key, value) VALUES ('schema_version', ?)`);
    for (const migration of pending) {
      database.exec(migration.sql);
      setVersion.run(migration.version);
    }
    database.exec('COMMIT');
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

/** Null for a file without tables. A foreign file is refused before anything is written into it. */
function readVersion(database: DatabaseSync, file: string): number | null {
  const tables = database.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`).all();
  if (tables.length === 0) return null;
  if (tables.some(({ name }) => name === 'meta')) {
    const row = database.prepare(`SELECT value FROM meta WHERE key = 'schema_version'`).get();
    if (typeof row?.['value'] === 'number') return row['value'];
  }
  throw engramError('CorruptStoreError', `The database file ${file} was not made by Engram: it has no schema version`);
}
