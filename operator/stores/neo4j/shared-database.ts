import type { DatasetScope } from '../../../services/common/kernel/scope.ts';
import { datasetLabel, namespacePrefix } from '../../../services/common/storage/rules/stored-scope.ts';
import { ownedByAnother, requireOwner } from '../administrator-errors.ts';
import { namesOf, type Realm } from '../realm.ts';
import type { Ask, RealmGraph } from './realm-graph.ts';

/** Labels that services write, in the order of removal: the dataset, which is the lock, last. */
const LABELS = ['EngramOrigin', 'EngramNode', 'EngramEdge', 'EngramDataset'] as const;
/** Last key of the label's index, without which the index would not be used. */
const LAST_KEY = { EngramOrigin: 'key', EngramNode: 'key', EngramEdge: 'key', EngramDataset: 'dataset' } as const;
const REMOVED_AT_ONCE = 10_000;

/** Gives each realm a namespace of the common database, and a node with its owner. */
export function sharedDatabase(ask: Ask, store: string): RealmGraph {
  const prefixOf = (realm: Realm) => namespacePrefix(namesOf(realm).underscored);
  const rowsOf = (label: (typeof LABELS)[number]) =>
    `MATCH (n:${label}) WHERE n.tenant STARTS WITH $prefix AND n.dataset IS NOT NULL AND n.${LAST_KEY[label]} IS NOT NULL`;

  async function removeRows(match: string, parameters: Readonly<Record<string, unknown>>): Promise<void> {
    const statement = `${match} WITH n LIMIT ${REMOVED_AT_ONCE} DETACH DELETE n RETURN count(n) AS gone`;
    for (let gone = 1; gone > 0; ) gone = (await ask<{ gone: number }>(null, statement, parameters))[0]?.gone ?? 0;
  }

  async function count(match: string, parameters: Readonly<Record<string, unknown>>): Promise<number> {
    return (await ask<{ count: number }>(null, `${match} RETURN count(n) AS count`, parameters))[0]?.count ?? 0;
  }

  const datasetsOf = (realm: Realm): Promise<readonly DatasetScope[]> =>
    ask<DatasetScope & Record<string, unknown>>(
      null,
      `${rowsOf('EngramDataset')} RETURN n.tenant AS tenant, n.dataset AS dataset`,
      { prefix: prefixOf(realm) },
    );

  async function ownerOf(realm: Realm): Promise<string | null> {
    const rows = await ask<{ owner: string }>(null, 'MATCH (r:EngramRealm {name: $name}) RETURN r.ownerUid AS owner', {
      name: realm.name,
    });
    return rows[0]?.owner ?? null;
  }

  async function requireOurs(realm: Realm): Promise<void> {
    const owner = await ownerOf(realm);
    const what = `The namespace ${namesOf(realm).underscored}`;
    if (owner !== null) requireOwner(realm, owner, store, what);
    else if ((await rows(realm)) > 0) throw ownedByAnother(store, what, null);
  }

  async function rows(realm: Realm): Promise<number> {
    let sum = 0;
    for (const label of LABELS) sum += await count(rowsOf(label), { prefix: prefixOf(realm) });
    for (const scope of await datasetsOf(realm)) sum += await count(`MATCH (n:\`${datasetLabel(scope)}\`)`, {});
    return sum;
  }

  return {
    isolation: 'Label',
    async claim(realm) {
      // Without the constraint two processes could create two nodes.
      await ask(
        null,
        'CREATE CONSTRAINT engram_realm_name IF NOT EXISTS FOR (n:EngramRealm) REQUIRE (n.name) IS UNIQUE',
      ).catch(unlessThere);
      await requireOurs(realm);
      const { name, ownerUid } = realm;
      await ask(null, 'MERGE (r:EngramRealm {name: $name}) ON CREATE SET r.ownerUid = $ownerUid', { name, ownerUid });
      await requireOurs(realm);
    },
    requireOurs,
    // All users of this edition are administrators.
    async admit() {},
    async remove(realm) {
      const parameters = { prefix: prefixOf(realm) };
      for (const label of LABELS) {
        if (label === 'EngramDataset') {
          for (const scope of await datasetsOf(realm)) await removeRows(`MATCH (n:\`${datasetLabel(scope)}\`)`, {});
        }
        await removeRows(rowsOf(label), parameters);
      }
      await removeRows('MATCH (n:EngramInstallation {namespace: $name})', { name: namesOf(realm).underscored });
      // The mark goes last, so that the rest of an interrupted removal is known to be ours.
      await removeRows('MATCH (n:EngramRealm {name: $name})', { name: realm.name });
    },
    residue: async (realm) => (await rows(realm)) + ((await ownerOf(realm)) === null ? 0 : 1),
    settings: (realm) => ({ ENGRAM_NEO4J_NAMESPACE: namesOf(realm).underscored }),
  };
}

/** Another process created the same. */
function unlessThere(error: unknown): void {
  const code = error instanceof Error ? String((error as { code?: unknown }).code) : '';
  if (!/EquivalentSchemaRuleAlreadyExists|ConstraintAlreadyExists/.test(code)) throw error;
}
