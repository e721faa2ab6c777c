import { RELATIONS } from '../../../common/domain/index-rows.ts';
import type { ViewDetails } from '../../views/view-details.ts';
import type { ViewLink } from './links.ts';
import type { ViewNode } from './nodes.ts';

const IMPORTANT_MEMBERS = 8;

/** Presents the graph as documents with their passages, entities by type, and summaries (search-recall.md §8.1). */
export function presentMemoryMap(
  nodes: readonly ViewNode[],
  links: readonly ViewLink[],
  details: Pick<ViewDetails, 'buckets' | 'bucketOf'> | null,
): Readonly<Record<string, unknown>> {
  const byStage = Map.groupBy(nodes, ({ stage }) => stage);
  const byRelation = Map.groupBy(links, ({ relation }) => relation);
  const indexesOf = (relation: string): number[] =>
    links.flatMap((link, index) => (link.relation === relation ? [index] : []));
  const documentOfChunk = new Map(
    (byRelation.get(RELATIONS.isPartOf) ?? []).map(({ source, target }) => [source, target]),
  );
  const chunks = (byStage.get('chunk') ?? [])
    .map(({ id, t_created, ...node }) => ({ id, chunk_index: Number(node['chunk_index'] ?? 0), t_created }))
    .toSorted((a, b) => a.chunk_index - b.chunk_index);
  const entities = byStage.get('entity') ?? [];
  const typeOfEntity = new Map((byRelation.get(RELATIONS.isA) ?? []).map(({ source, target }) => [source, target]));
  const chunkOfSummary = Map.groupBy(byRelation.get(RELATIONS.madeFrom) ?? [], ({ source }) => source);
  return {
    documents: (byStage.get('document') ?? []).map(({ id, name, t_created }) => ({
      id,
      name,
      t_first: t_created,
      chunks: chunks.filter((chunk) => documentOfChunk.get(chunk.id) === id),
    })),
    orphan_chunks: chunks.filter(({ id }) => !documentOfChunk.has(id)),
    entity_groups: (byStage.get('type') ?? []).map(({ id, name }) => ({
      type_id: id,
      type_name: name,
      members: entities
        .filter((entity) => typeOfEntity.get(entity.id) === id)
        .toSorted((a, b) => b.importance - a.importance)
        .map((entity, index) => ({ id: entity.id, important: index < IMPORTANT_MEMBERS })),
    })),
    ungrouped_entities: entities.filter(({ id }) => !typeOfEntity.has(id)).map(({ id }) => id),
    summaries: (byStage.get('summary') ?? []).map(({ id }) => ({
      id,
      chunk_ids: (chunkOfSummary.get(id) ?? []).map(({ target }) => target),
      bucket_id: details?.bucketOf.get(id) ?? null,
    })),
    context: details === null ? null : presentContext(details.buckets),
    edges: {
      contains: indexesOf(RELATIONS.contains),
      made_from: indexesOf(RELATIONS.madeFrom),
      is_part_of: indexesOf(RELATIONS.isPartOf),
      summarized_in: indexesOf('summarized_in'),
      semantic: links.flatMap((link, index) => (link.edge_class === 'semantic' ? [index] : [])),
    },
    timeline: timelineOf(nodes),
  };
}

function presentContext(buckets: ViewDetails['buckets']): object | null {
  const root = [...buckets].find(([, { isRoot }]) => isRoot);
  if (root === undefined) return null;
  return {
    root_id: root[0],
    buckets: [...buckets].map(([id, { level, children }]) => ({ id, level, child_ids: children })),
  };
}

const BURST_GAP_MS = 300_000;

/** Groups nodes that were created without a longer pause into one step. */
function timelineOf(nodes: readonly ViewNode[]): readonly Readonly<Record<string, unknown>>[] {
  const dated = nodes
    .flatMap(({ id, t_created }) => (t_created === null ? [] : [{ id, at: t_created }]))
    .toSorted((a, b) => a.at - b.at);
  const bursts: { id: string; at: number }[][] = [];
  for (const entry of dated) {
    const last = bursts.at(-1);
    if (last === undefined || entry.at - (last.at(-1)?.at ?? 0) > BURST_GAP_MS) bursts.push([entry]);
    else last.push(entry);
  }
  return bursts.map((burst, index) => ({
    index,
    kind: 'run',
    label: `Run ${index + 1}`,
    t0: burst[0]?.at,
    t1: burst.at(-1)?.at,
    node_count: burst.length,
    node_ids: burst.map(({ id }) => id),
  }));
}
