import { randomUUID } from 'node:crypto';
import type { DatasetScope } from '../../../kernel/scope.ts';
import { once } from '../../../platform/async/once.ts';
import { beingPrepared } from '../../cypher/errors.ts';
import type { CypherQuery } from '../../ports/graph-store.ts';
import type { Provenance } from '../../ports/index-entry.ts';
import { datasetLabel } from '../../rules/stored-scope.ts';
import type { Neo4jClient, Run } from './neo4j-client.ts';
import { type KnownNames, MAX_NAMES, project, type Transaction } from './view-projection.ts';

/**
 * The graph as Cypher sees it: merged nodes and edges of committed evidence, kept beside the evidence and brought up to
 * date before a query. A dataset that was never asked in Cypher has none.
 */
export type GraphView = ReturnType<typeof createGraphView>;

/** `shown`: something of it may be in the view; `isWanted`: evidence of it belongs there; `done`: the changes it holds. */
interface Origin extends Provenance {
  readonly key: string;
  readonly isWanted: boolean;
  readonly isShown: boolean;
  readonly changes: number;
  readonly done: number;
}

/** A refresh that shows no sign of life for so long is dead; another may take over. */
const LEASE_MS = 30_000;
const REMOVED_PER_TRANSACTION = 5000;

export function createGraphView(client: Neo4jClient) {
  const namesOf = once(() => readNames(client));

  /** `wish` says which origins belong in the view; undecided ones (null) stay as they are. */
  async function change(
    scope: DatasetScope,
    wish: (origins: readonly Origin[]) => Promise<(origin: Origin) => boolean | null>,
    takesOver: boolean,
  ): Promise<void> {
    const origins = await client.read((run) => readOrigins(run, scope));
    const isWanted = await wish(origins);
    const changed = origins.flatMap((origin) => {
      const wanted = isWanted(origin);
      return wanted === null || isUpToDate(origin, wanted) ? [] : [{ ...origin, isWanted: wanted }];
    });
    if (changed.length === 0) return;
    const token = randomUUID();
    const transaction: Transaction = (work) =>
      client.write(async (run) => {
        await keepLease(run, scope, token);
        return work(run);
      });
    const known = await namesOf();
    await client.write((run) => begin(run, scope, token, changed, takesOver));
    try {
      await project(
        transaction,
        scope,
        changed.map(({ key }) => key),
        known,
      );
      await transaction((run) => finish(run, scope, changed));
    } finally {
      await client.write((run) => endLease(run, scope, token)).catch(() => undefined);
    }
  }

  return {
    /** Shows what `committed` keeps and nothing else. Work follows what changed since the last time. */
    refresh: (scope: DatasetScope, committed: CypherQuery['committed']) =>
      change(
        scope,
        async (origins) => {
          const kept = new Set((await committed(origins)).map(provenanceKey));
          return (origin) => kept.has(provenanceKey(origin));
        },
        false,
      ),
    /** Takes the origins (by key) out of the view, before their evidence goes. */
    async hide(scope: DatasetScope, keys: readonly string[]) {
      const wasShown = await client.write((run) => condemn(run, scope, keys));
      if (!wasShown) return;
      const hidden = new Set(keys);
      await change(
        scope,
        async () =>
          ({ key }) =>
            hidden.has(key) ? false : null,
        true,
      );
    },
    /** Removes the view of the dataset, whose origins must be gone. */
    async discard(scope: DatasetScope) {
      // A refresh under way writes no more.
      await client.write((run) => endLease(run, scope, null));
      const statement = `MATCH (n:\`${datasetLabel(scope)}\`) WITH n LIMIT ${REMOVED_PER_TRANSACTION}
        DETACH DELETE n RETURN count(n) AS gone`;
      const gone = () => client.write((run) => run<{ readonly gone: number }>(statement));
      while (((await gone())[0]?.gone ?? 0) > 0);
    },
  };
}

function provenanceKey({ item, generation }: Provenance): string {
  return `${generation} ${item}`;
}

function isUpToDate(origin: Origin, isWanted: boolean): boolean {
  if (!isWanted) return !origin.isShown && !origin.isWanted;
  return origin.isWanted && origin.isShown && origin.done === origin.changes;
}

/** No refresh shows the origins from now on. True when one may have done so already. */
async function condemn(run: Run, scope: DatasetScope, keys: readonly string[]): Promise<boolean> {
  await run('MATCH (d:EngramDataset {tenant: $tenant, dataset: $dataset}) SET d.changes = d.changes', { ...scope });
  const rows = await run<{ readonly wasShown: boolean }>(
    `UNWIND $keys AS key MATCH (o:EngramOrigin {tenant: $tenant, dataset: $dataset, key: key})
     SET o.isCondemned = true, o.isWanted = false RETURN coalesce(o.isShown, false) AS wasShown`,
    { ...scope, keys },
  );
  return rows.some(({ wasShown }) => wasShown);
}

function readOrigins(run: Run, scope: DatasetScope): Promise<readonly Origin[]> {
  return run<Origin & Record<string, unknown>>(
    `MATCH (o:EngramOrigin {tenant: $tenant, dataset: $dataset})
     RETURN o.key AS key, o.item AS item, o.generation AS generation, coalesce(o.isWanted, false) AS isWanted,
       coalesce(o.isShown, false) AS isShown, o.changes AS changes, coalesce(o.done, 0) AS done`,
    { ...scope },
  );
}

/**
 * Takes the lease and writes down what is about to be shown before any of it is: a process that continues after a crash, or removes
 * the evidence, knows where the view may hold something of it.
 */
async function begin(run: Run, scope: DatasetScope, token: string, changed: readonly Origin[], takesOver: boolean) {
  const rows = await run<{ readonly isFree: boolean }>(
    `MATCH (d:EngramDataset {tenant: $tenant, dataset: $dataset}) SET d.changes = d.changes
     WITH d, $takesOver OR d.viewToken IS NULL OR d.viewUntil < timestamp() AS isFree
     SET d.viewToken = CASE WHEN isFree THEN $token ELSE d.viewToken END,
         d.viewUntil = CASE WHEN isFree THEN timestamp() + ${LEASE_MS} ELSE d.viewUntil END
     RETURN isFree`,
    { ...scope, token, takesOver },
  );
  if (!rows[0]?.isFree) throw beingPrepared();
  await run(
    `UNWIND $changed AS row MATCH (o:EngramOrigin {tenant: $tenant, dataset: $dataset, key: row.key})
     WITH o, row.isWanted AND o.isCondemned IS NULL AS isWanted
     SET o.isWanted = isWanted, o.isShown = coalesce(o.isShown, false) OR isWanted,
         o.done = CASE WHEN isWanted THEN -1 ELSE o.done END`,
    { ...scope, changed: changed.map(({ key, isWanted }) => ({ key, isWanted })) },
  );
}

/** First statement of every transaction of a refresh: locks the dataset, and fails when another took over. */
async function keepLease(run: Run, scope: DatasetScope, token: string): Promise<void> {
  const rows = await run<{ readonly isMine: boolean }>(
    `MATCH (d:EngramDataset {tenant: $tenant, dataset: $dataset}) SET d.changes = d.changes
     WITH d WHERE d.viewToken = $token SET d.viewUntil = timestamp() + ${LEASE_MS} RETURN true AS isMine`,
    { ...scope, token },
  );
  if (!rows[0]?.isMine) throw beingPrepared();
}

async function finish(run: Run, scope: DatasetScope, changed: readonly Origin[]): Promise<void> {
  await run(
    `UNWIND $changed AS row MATCH (o:EngramOrigin {tenant: $tenant, dataset: $dataset, key: row.key})
     SET o.isShown = o.isWanted, o.done = row.changes`,
    { ...scope, changed: changed.map(({ key, changes }) => ({ key, changes })) },
  );
}

async function endLease(run: Run, scope: DatasetScope, token: string | null): Promise<void> {
  await run(
    `MATCH (d:EngramDataset {tenant: $tenant, dataset: $dataset}) SET d.changes = d.changes
     WITH d WHERE $token IS NULL OR d.viewToken = $token SET d.viewToken = null`,
    { ...scope, token },
  );
}

async function readNames(client: Neo4jClient): Promise<KnownNames> {
  const rows = await client.read((run) =>
    run<{ readonly name: string }>(
      `CALL () { CALL db.labels() YIELD label WHERE NOT label STARTS WITH 'D_' RETURN label AS name
         UNION CALL db.relationshipTypes() YIELD relationshipType RETURN relationshipType AS name
         UNION CALL db.propertyKeys() YIELD propertyKey RETURN propertyKey AS name }
       RETURN name`,
    ),
  );
  const known = new Set(rows.map(({ name }) => name));
  return {
    admits(name) {
      if (!known.has(name) && known.size >= MAX_NAMES) return false;
      known.add(name);
      return true;
    },
  };
}
