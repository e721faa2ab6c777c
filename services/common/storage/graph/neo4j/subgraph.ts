import type { DatasetScope } from '../../../kernel/scope.ts';
import type { EdgeEvidence, SubgraphQuery } from '../../ports/graph-store.ts';
import { DEFAULT_LIMIT_PER_NODE } from '../../ports/read-seen.ts';
import { heaviestEdges, inSlices } from './evidence-reader.ts';
import {
  EDGE_COLUMNS,
  EDGE_KEY_COLUMNS,
  EDGE_STEP_COLUMNS,
  readEdge,
  refOf,
  type StoredEdge,
} from './evidence-rows.ts';
import type { Run } from './neo4j-client.ts';

/**
 * Breadth first, in one transaction: mostly one statement a hop and one for the edges themselves at the end. Within a hop the
 * nodes take turns: the heaviest edge of each, then the second of each …, so that a cut leaves every node its heaviest
 * edges. Lists are read in growing slices, so that the work follows `maxEdges`.
 */
export async function readSubgraph(
  run: Run,
  scope: DatasetScope,
  query: SubgraphQuery,
): Promise<readonly EdgeEvidence[]> {
  const found = new Map<string, Step>();
  let frontier: readonly string[] = [...new Set(query.seeds)].map((id) => refOf(id));
  const reached = new Set(frontier);
  for (let hop = 0; hop < query.hops && frontier.length > 0 && found.size < query.maxEdges; hop++) {
    await takeTurns(run, scope, frontier, query, found);
    const next = new Set<string>();
    for (const { sourceRef, targetRef } of found.values()) {
      if (!reached.has(sourceRef)) next.add(sourceRef);
      if (!reached.has(targetRef)) next.add(targetRef);
    }
    for (const ref of next) reached.add(ref);
    frontier = [...next];
  }
  return readEdges(run, scope, [...found.keys()], query.withProperties ?? true);
}

type Step = {
  readonly key: string;
  readonly weight: number;
  readonly sourceRef: string;
  readonly targetRef: string;
};

/** Adds edges of the frontier to `found` until it is full or every list is at its end. */
async function takeTurns(
  run: Run,
  scope: DatasetScope,
  frontier: readonly string[],
  query: SubgraphQuery,
  found: Map<string, Step>,
): Promise<void> {
  const limit = query.limitPerNode ?? DEFAULT_LIMIT_PER_NODE;
  let active = frontier;
  let slice = Math.min(limit, Math.ceil((2 * (query.maxEdges - found.size)) / frontier.length) + 2);
  for (let turn = 0; active.length > 0 && turn < limit; slice = Math.min(limit, slice * 4)) {
    const asked = { ...query, limit: slice, columns: EDGE_STEP_COLUMNS };
    const lists = await heaviestEdges<Step>(run, scope, active, asked);
    for (; turn < slice; turn++) {
      for (const ref of active) {
        const edge = lists.get(ref)?.[turn];
        if (edge === undefined) continue;
        if (found.size >= query.maxEdges) return;
        // An edge that is found again keeps its place.
        if (!found.has(edge.key)) found.set(edge.key, edge);
      }
    }
    active = active.filter((ref) => (lists.get(ref)?.length ?? 0) >= slice);
  }
}

async function readEdges(
  run: Run,
  scope: DatasetScope,
  keys: readonly string[],
  withProperties: boolean,
): Promise<readonly EdgeEvidence[]> {
  if (keys.length === 0) return [];
  const rows = await inSlices(keys, (slice) =>
    run<StoredEdge>(
      `UNWIND $keys AS key MATCH (e:EngramEdge) WHERE e.tenant = $tenant AND e.dataset = $dataset AND e.key = key
       RETURN ${withProperties ? EDGE_COLUMNS : EDGE_KEY_COLUMNS}`,
      { ...scope, keys: slice },
    ),
  );
  const stored = new Map(rows.map((row) => [row.key, row]));
  // What was removed meanwhile is left out.
  return keys.flatMap((key) => stored.get(key) ?? []).map(readEdge);
}
