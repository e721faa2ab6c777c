import type { TenantId } from '../../../kernel/brand.ts';
import { engramError } from '../../../kernel/errors.ts';
import type { Neo4jClient } from './neo4j-client.ts';
import { isDriverError } from './neo4j-errors.ts';
import { SCHEMA } from './schema.ts';

/** Dynamic labels and types in CREATE and MERGE came with this release, the long-term one of series 5. */
const OLDEST = [5, 26] as const;

export interface Databases {
  readonly version: string;
  readonly edition: string;
  /** Isolation of the tenant: `database` when it has its own. */
  isolationOf(tenant: TenantId): 'database' | 'label';
  /** The name for sessions (null: the server's default), its schema made. */
  of(tenant: TenantId): Promise<string | null>;
}

/** Reaches the server, checks its release, and makes the schema of the common database. */
export async function openDatabases(
  client: Neo4jClient,
  databaseOf: (tenant: TenantId) => string | null,
): Promise<Databases> {
  const { version, edition } = await readServer(client);
  checkVersion(version, client.address.url);
  const ready = new Map<string | null, Promise<void>>();
  const hasDatabases = edition !== 'community';
  const nameFor = (tenant: TenantId) => (hasDatabases ? databaseOf(tenant) : null);

  const prepare = (database: string | null): Promise<void> => {
    const known = ready.get(database);
    if (known) return known;
    const made = makeSchema(client, database);
    ready.set(database, made);
    made.catch(() => ready.delete(database));
    return made;
  };
  await prepare(null);
  return {
    version,
    edition,
    isolationOf: (tenant) => (nameFor(tenant) === null ? 'label' : 'database'),
    async of(tenant) {
      const database = nameFor(tenant);
      await prepare(database);
      return database;
    },
  };
}

/** Throws when the server lacks what the statements of this adapter need. */
export function checkVersion(version: string, url: string): void {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return;
  throw engramError(
    'ServiceUnavailableError',
    `Neo4j at ${url} is ${version}; ${OLDEST.join('.')} or newer is needed.`,
  );
}

async function readServer(client: Neo4jClient): Promise<{ readonly version: string; readonly edition: string }> {
  const rows = await client.command(
    null,
    "CALL dbms.components() YIELD name, versions, edition WHERE name = 'Neo4j Kernel' RETURN versions[0] AS version, edition",
  );
  const { version, edition } = rows[0] ?? {};
  return { version: String(version), edition: String(edition) };
}

async function makeSchema(client: Neo4jClient, database: string | null): Promise<void> {
  if (database !== null)
    await client.command('system', `CREATE DATABASE ${quoteDatabase(database)} IF NOT EXISTS WAIT`);
  for (const statement of SCHEMA) {
    await client.command(database, statement).catch((error: unknown) => {
      // Another replica makes the same at this moment.
      if (!isDriverError(error) || !/EquivalentSchemaRuleAlreadyExists|ConstraintAlreadyExists/.test(error.code))
        throw error;
    });
  }
  await client.command(database, 'CALL db.awaitIndexes(60)');
}

function quoteDatabase(name: string): string {
  if (!/^[a-z][a-z0-9.-]{2,62}$/.test(name)) {
    throw engramError('InvalidRequestError', `"${name}" cannot be the name of a Neo4j database.`);
  }
  return `\`${name}\``;
}
