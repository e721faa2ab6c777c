import { mergeNodes } from '../../common/domain/graph/merge.ts';
import { createShownGraph } from '../../common/domain/graph/shown.ts';
import {
  type ChunkPayload,
  type EdgePayload,
  type EntityPayload,
  NODE_TYPES,
  RELATIONS,
  type TripletPayload,
} from '../../common/domain/index-rows.ts';
import type { DataItemId } from '../../common/kernel/brand.ts';
import { idFor, nodeName } from '../../common/kernel/ids.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { type Ledger, visible } from '../../common/records/cognify/ledger.ts';
import type { DatasetReaders } from '../../common/storage/ports/dataset-indexes.ts';
import type { IndexKind, Provenance } from '../../common/storage/ports/index-entry.ts';
import { type TextRow, textPages } from '../../common/storage/ports/text-index.ts';

export interface Triplet {
  readonly payload: TripletPayload;
  readonly nodeSets: readonly string[];
}

interface TripletSources {
  readonly indexes: DatasetReaders;
  readonly names: ShownNames;
}

/** Limit of entities of one passage. */
const EDGES_PER_CHUNK = 1000;
/** Characters of a node's text; embedders read no more. */
const MAX_NODE_TEXT = 4000;

/**
 * Yields the triplets of one generation of an item, in a stable order, page by page: entities and document of its passages,
 * types of its entities, and its relations. No triplets are made of node sets, which the rows have, and of summaries, which
 * repeat their passage. Keywords and outvoted types are hidden here as in every view of the graph.
 */
export async function* itemTriplets(
  sources: TripletSources,
  scope: DatasetScope,
  origin: Provenance,
): AsyncGenerator<readonly Triplet[]> {
  const pages = (kind: IndexKind, limit: number) =>
    textPages(sources.indexes.text, scope, { kind, provenance: origin, limit });
  for await (const rows of pages('chunk', 20)) yield await ofChunks(sources, scope, origin, rows);
  for await (const rows of pages('entity', 200)) yield await ofEntities(sources, rows);
  for await (const rows of pages('edge', 200)) yield await ofStatements(sources, rows);
}

async function ofChunks(
  sources: TripletSources,
  scope: DatasetScope,
  { item, generation }: Provenance,
  rows: readonly TextRow[],
): Promise<readonly Triplet[]> {
  const edges = await sources.indexes.graph.neighbours(
    scope,
    rows.map(({ id }) => id),
    { relations: [RELATIONS.contains], direction: 'out', limitPerNode: EDGES_PER_CHUNK, withProperties: false },
  );
  const own = Map.groupBy(
    edges.filter((edge) => edge.item === item && edge.generation === generation),
    ({ source }) => source,
  );
  const names = await sources.names([...own.values()].flat().map(({ target }) => target));
  return rows.flatMap(({ id, payload, nodeSets }) => {
    const { text, documentId, documentName } = payload as ChunkPayload;
    const contained = (own.get(id) ?? [])
      .map(({ target }) => target)
      .toSorted()
      .flatMap((target) => {
        const name = names.get(target)?.name;
        return name === undefined ? [] : [{ relation: RELATIONS.contains, target, name }];
      });
    const document = { relation: RELATIONS.isPartOf, target: documentId, name: documentName };
    return [document, ...contained].flatMap(({ relation, target, name }) =>
      triplet({ source: id, target, relation, chunkId: id, statement: '' }, [text, relation, name], nodeSets),
    );
  });
}

async function ofEntities(sources: TripletSources, rows: readonly TextRow[]): Promise<readonly Triplet[]> {
  const names = await sources.names(rows.map(({ id }) => id));
  return rows.flatMap(({ id, payload, nodeSets }) => {
    const known = names.get(id);
    const { type } = payload as EntityPayload;
    if (known === undefined || (known.type !== null && known.type !== type)) return [];
    const edge = { source: id, target: idFor('EntityType', type), relation: RELATIONS.isA, chunkId: '', statement: '' };
    return triplet(edge, [known.name, RELATIONS.isA, nodeName(type)], nodeSets);
  });
}

async function ofStatements(sources: TripletSources, rows: readonly TextRow[]): Promise<readonly Triplet[]> {
  const ends = rows.flatMap(({ payload }) => [(payload as EdgePayload).source, (payload as EdgePayload).target]);
  const names = await sources.names(ends);
  return rows.flatMap(({ payload, nodeSets }) => {
    const { source, target, relation, text, chunkId } = payload as EdgePayload;
    const [from, to] = [names.get(source), names.get(target)];
    if (from === undefined || to === undefined) return [];
    return triplet(
      { source, target, relation, chunkId, statement: text },
      [from.name, text || relation, to.name],
      nodeSets,
    );
  });
}

function triplet(
  edge: Pick<TripletPayload, 'source' | 'target' | 'relation' | 'chunkId' | 'statement'>,
  texts: readonly [string, string, string],
  nodeSets: readonly string[],
): readonly Triplet[] {
  const shown = texts.map((text) => text.trim().slice(0, MAX_NODE_TEXT).toWellFormed());
  if (shown.every((text) => text === '')) return [];
  const { source, target, relation, chunkId, statement } = edge;
  return [{ payload: { source, target, relation, chunkId, statement, text: shown.join('-›') }, nodeSets }];
}

interface ShownName {
  readonly name: string;
  /** Type of the entity by majority of the texts; null when none has one. */
  readonly type: string | null;
}

/** Returns names and types of those ids that are visible entities, merged over all texts. */
export type ShownNames = (ids: readonly string[]) => Promise<ReadonlyMap<string, ShownName>>;

/** Limit of cached entities; then the cache is cleared. */
const MAX_KNOWN = 50_000;

/** Creates a lookup with a cache for one run: an entity of many texts is read once. */
export function createShownNames(
  { indexes, ledger }: { readonly indexes: DatasetReaders; readonly ledger: Ledger },
  scope: DatasetScope,
): ShownNames {
  const known = new Map<string, ShownName | null>();
  const committed = new Map<DataItemId, number>();
  const readItems = new Set<DataItemId>();
  const read = async (ids: readonly string[]): Promise<void> => {
    const rows = await indexes.graph.nodes(scope, ids);
    const unknown = [...new Set(rows.map(({ item }) => item))].filter((item) => !readItems.has(item));
    for (const [item, generation] of await ledger.committed(scope, unknown)) committed.set(item, generation);
    for (const item of unknown) readItems.add(item);
    const shown = createShownGraph();
    for (const id of ids) known.set(id, null);
    for (const node of mergeNodes(visible(rows, committed))) {
      if (node.type !== NODE_TYPES.entity || !shown.shows(node)) continue;
      const type = node.properties['entityType'];
      known.set(node.id, { name: node.name, type: typeof type === 'string' ? type : null });
    }
  };
  return async (ids) => {
    if (known.size > MAX_KNOWN) known.clear();
    const distinct = [...new Set(ids)];
    const missing = distinct.filter((id) => !known.has(id));
    if (missing.length > 0) await read(missing);
    const found = new Map<string, ShownName>();
    for (const id of distinct) {
      const name = known.get(id);
      if (name) found.set(id, name);
    }
    return found;
  };
}
