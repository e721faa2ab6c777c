import { engramError } from '../../../kernel/errors.ts';
import type { Neo4jClient } from './neo4j-client.ts';
import { isDriverError } from './neo4j-errors.ts';
import { VIEW_KEY, VIEW_LABEL } from './print-query.ts';

/** Dynamic labels and types in CREATE and MERGE came with this release, the long-term one of series 5. */
const OLDEST = [5, 26] as const;

/** Reaches the server, checks its release, and makes the schema. */
export async function prepareServer(client: Neo4jClient): Promise<void> {
  const rows = await client.command(
    "CALL dbms.components() YIELD name, versions WHERE name = 'Neo4j Kernel' RETURN versions[0] AS version",
  );
  checkVersion(String(rows[0]?.['version']), client.address.url);
  for (const statement of SCHEMA) {
    await client.command(statement).catch((error: unknown) => {
      // Another replica makes the same at this moment.
      if (!isDriverError(error) || !/EquivalentSchemaRuleAlreadyExists|ConstraintAlreadyExists/.test(error.code))
        throw error;
    });
  }
  await client.command('CALL db.awaitIndexes(60)');
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

/**
 * Schema of what is stored. Evidence, by (tenant, dataset):
 *   (:EngramNode {key, ref, origin, id, item, generation, type, name, mentions, nodeSets, properties})
 *   (:EngramEdge {key, ref, origin, source, sourceRef, relation, target, targetRef, item, generation, weight, properties})
 *   (:EngramOrigin {key, item, itemRef, generation, …}) one for each (item, generation) that has evidence
 *   (:EngramDataset {…}) the lock that every writer of the dataset takes first
 * Once for each namespace: (:EngramInstallation {namespace, id}), whose all this is.
 * An edge's evidence is a node of its own: relationships cannot be read heaviest first by an index over their end, and a
 * hub has 100k of them; and writers would meet in the locks of the hub.
 * `properties` and `nodeSets` of evidence are JSON. `…Ref` are hashes, because an index key holds 8 kB at most.
 *
 * For Cypher there is a view: merged nodes and edges of committed evidence (`graph-view.ts`),
 *   (:__Node__:D_<dataset>:<type> {_ref, id, name, type, …})-[:<relation> {_ref, relationship_name, …}]->(…)
 * `D_<dataset>` is a label that only nodes of that dataset bear, and relationships of the view join such nodes only.
 */
const SCOPE = ['tenant', 'dataset'];

/** Idempotent; made before the first write, since MERGE without a unique constraint makes duplicates. */
const SCHEMA: readonly string[] = [
  unique('EngramNode', [...SCOPE, 'key']),
  unique('EngramEdge', [...SCOPE, 'key']),
  unique('EngramOrigin', [...SCOPE, 'key']),
  unique('EngramDataset', SCOPE),
  unique(VIEW_LABEL, [VIEW_KEY]),
  unique('EngramInstallation', ['namespace']),
  index('EngramNode', [...SCOPE, 'ref', 'mentions']),
  index('EngramNode', [...SCOPE, 'origin', 'key']),
  index('EngramEdge', [...SCOPE, 'sourceRef', 'weight']),
  index('EngramEdge', [...SCOPE, 'targetRef', 'weight']),
  index('EngramEdge', [...SCOPE, 'origin', 'key']),
  index('EngramOrigin', [...SCOPE, 'itemRef']),
];

function unique(label: string, keys: readonly string[]): string {
  const name = `engram_${label.replaceAll('_', '').toLowerCase()}_${keys.at(-1)?.replaceAll('_', '')}`;
  return `CREATE CONSTRAINT ${name} IF NOT EXISTS FOR (n:${label}) REQUIRE (${list(keys)}) IS UNIQUE`;
}

function index(label: string, keys: readonly string[]): string {
  const name = `engram_${label.toLowerCase()}_${keys.slice(2).join('_').toLowerCase()}`;
  return `CREATE INDEX ${name} IF NOT EXISTS FOR (n:${label}) ON (${list(keys)})`;
}

function list(keys: readonly string[]): string {
  return keys.map((key) => `n.${key}`).join(', ');
}
