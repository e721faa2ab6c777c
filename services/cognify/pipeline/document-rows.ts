import {
  containsEdge,
  type EdgePayload,
  type EntityPayload,
  edgeEmbeddedText,
  edgeRow,
  entityEmbeddedText,
  entityRow,
  NODE_TYPES,
  RELATIONS,
} from '../../common/domain/index-rows.ts';
import { idFor, nodeName, nodeSetId } from '../../common/kernel/ids.ts';
import type { Json } from '../../common/kernel/json.ts';
import { slices } from '../../common/kernel/slices.ts';
import type { EdgeEvidence, NodeEvidence } from '../../common/storage/ports/graph-store.ts';
import type { TextEntry } from '../../common/storage/ports/text-index.ts';
import { tokenize } from '../../common/text/language/tokenize.ts';
import { node, structuralEdge } from './chunk-rows.ts';
import type { DocumentEntity, DocumentRelation, ResolvedEntities } from './document-entities.ts';
import type { Embedding, IndexBatch } from './index-batch.ts';
import type { ItemSource } from './item-source.ts';

/** Things turned into rows at one go, a few milliseconds. */
const ROWS_PER_BATCH = 250;

/** Rows about the document as a whole: its node, entities with their types, relations, mentions, node sets. */
export function* documentBatches(
  source: ItemSource,
  resolved: ResolvedEntities,
  chunkIds: readonly string[],
): Generator<IndexBatch> {
  yield graphBatch(documentNodes(source, resolved), nodeSetEdges(source, resolved, chunkIds));
  for (const entities of slices(resolved.entities, ROWS_PER_BATCH)) yield entityBatch(source, entities);
  const byId = new Map(resolved.entities.map((entity) => [entity.id, entity]));
  let ordinal = 0;
  for (const relations of slices(resolved.relations, ROWS_PER_BATCH)) {
    yield relationBatch(source, relations, byId, ordinal);
    ordinal += relations.length;
  }
  for (const mentions of slices(resolved.mentions, ROWS_PER_BATCH)) {
    yield graphBatch(
      [],
      mentions.map((mention) => containsEdge(source.origin, mention)),
    );
  }
}

function documentNodes(source: ItemSource, { entities }: ResolvedEntities): readonly NodeEvidence[] {
  const { item, title } = source;
  const types = new Map<string, number>();
  for (const { type } of entities) types.set(type, (types.get(type) ?? 0) + 1);
  return [
    node(source, item.id, NODE_TYPES.document, item.name, {
      title: title ?? item.name,
      fileName: item.fileName,
      mimeType: item.mimeType,
      importanceWeight: item.importanceWeight,
      ...(source.externalMetadata === null ? {} : { externalMetadata: source.externalMetadata }),
    }),
    ...[...types].map(([type, mentions]) => {
      const name = nodeName(type);
      return {
        ...node(source, idFor('EntityType', type), NODE_TYPES.entityType, name, { description: name }),
        mentions,
      };
    }),
    ...item.nodeSets.map((name) => node(source, nodeSetId(name), NODE_TYPES.nodeSet, name, {})),
  ];
}

function nodeSetEdges(
  source: ItemSource,
  { entities }: ResolvedEntities,
  chunkIds: readonly string[],
): readonly EdgeEvidence[] {
  const members = [source.item.id, ...chunkIds, ...entities.map(({ id }) => id)];
  return source.item.nodeSets.flatMap((name) => {
    const set = nodeSetId(name);
    return members.map((member) => structuralEdge(source, member, RELATIONS.belongsToSet, set));
  });
}

function entityBatch(source: ItemSource, entities: readonly DocumentEntity[]): IndexBatch {
  const entries: TextEntry[] = [];
  const embeddings: Embedding[] = [];
  const nodes: NodeEvidence[] = [];
  const edges: EdgeEvidence[] = [];
  for (const entity of entities) {
    const { id, name, type, description, aliases, mentions, ordinal } = entity;
    const payload: EntityPayload = { name, type, description };
    entries.push(entityRow(source.origin, { id, ordinal, payload, aliases }, tokenize));
    embeddings.push({ entry: { ...source.origin, kind: 'entity', id }, text: entityEmbeddedText(payload) });
    nodes.push({ ...node(source, id, NODE_TYPES.entity, name, entityProperties(entity)), mentions });
    edges.push(structuralEdge(source, id, RELATIONS.isA, idFor('EntityType', type)));
  }
  return { entries, embeddings, nodes, edges };
}

function entityProperties({
  type,
  description,
  aliases,
  merged,
  isKeyword,
}: DocumentEntity): Readonly<Record<string, Json>> {
  return {
    entityType: type,
    ...(description === '' ? {} : { description }),
    ...(aliases.length === 0 ? {} : { aliases }),
    ...(merged.length === 0 ? {} : { mergedNames: merged }),
    ...(isKeyword ? { isKeyword } : {}),
  };
}

function relationBatch(
  source: ItemSource,
  relations: readonly DocumentRelation[],
  entities: ReadonlyMap<string, DocumentEntity>,
  firstOrdinal: number,
): IndexBatch {
  const entries: TextEntry[] = [];
  const embeddings: Embedding[] = [];
  const edges: EdgeEvidence[] = [];
  for (const [index, { sourceId, targetId, relation, weight, evidence, chunkId }] of relations.entries()) {
    const payload: EdgePayload = {
      source: sourceId,
      target: targetId,
      relation,
      text: evidence,
      chunkId,
      sourceName: entities.get(sourceId)?.name ?? '',
      targetName: entities.get(targetId)?.name ?? '',
    };
    const entry = edgeRow(source.origin, { ordinal: firstOrdinal + index, payload }, tokenize);
    entries.push(entry);
    embeddings.push({ entry: { ...source.origin, kind: 'edge', id: entry.id }, text: edgeEmbeddedText(payload) });
    const { item, generation } = source.origin;
    const properties = { chunkId, text: evidence };
    edges.push({ item, generation, source: sourceId, target: targetId, relation, weight, properties });
  }
  return { entries, embeddings, nodes: [], edges };
}

function graphBatch(nodes: readonly NodeEvidence[], edges: readonly EdgeEvidence[]): IndexBatch {
  return { entries: [], embeddings: [], nodes, edges };
}
