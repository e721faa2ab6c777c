import {
  type ChunkPayload,
  chunkEmbeddedText,
  chunkRow,
  containsEdge,
  type EdgePayload,
  type EntityPayload,
  edgeEmbeddedText,
  edgeRow,
  entityEmbeddedText,
  entityRow,
  isGeneratedName,
  NODE_TYPES,
  RELATIONS,
  type SummaryPayload,
  summaryRow,
} from '../../common/domain/index-rows.ts';
import { sourcePlace } from '../../common/domain/source-place.ts';
import { idFor, nodeName, nodeSetId, summaryId } from '../../common/kernel/ids.ts';
import type { Json } from '../../common/kernel/json.ts';
import { slices } from '../../common/kernel/slices.ts';
import type { Extraction } from '../../common/ports/extractor.ts';
import type { EdgeEvidence, NodeEvidence } from '../../common/storage/ports/graph-store.ts';
import type { TextEntry } from '../../common/storage/ports/text-index.ts';
import { documentLabel } from '../../common/text/document-label.ts';
import { tokenize } from '../../common/text/language/tokenize.ts';
import type { MatchedEntities } from './apply-ontology.ts';
import type { DocumentEntity, DocumentRelation, ResolvedEntities } from './document-entities.ts';
import type { Embedding, GrowingBatch, IndexBatch } from './index-writer.ts';
import type { ItemChunk, ItemSource } from './model.ts';
import { TIMESTAMP, timeNamed } from './times.ts';

interface ExtractedChunk {
  readonly chunk: ItemChunk;
  readonly extraction: Extraction;
  /** Id of the chunk before it in the document. */
  readonly previousId: string | null;
}

/** Adds the rows of one chunk: chunk, summary, and their edges to the document. */
export function addChunkRows(rows: GrowingBatch, source: ItemSource, extracted: ExtractedChunk): void {
  addChunk(rows, source, extracted);
  if (extracted.extraction.summary.trim() !== '') addSummary(rows, source, extracted);
}

export function chunkPayload(source: ItemSource, chunk: ItemChunk): ChunkPayload {
  const { item, externalMetadata, createdAt } = source;
  return {
    text: chunk.text,
    documentId: item.id,
    documentName: item.name,
    chunkIndex: chunk.index,
    chunkSize: chunk.size,
    maxChunkTokens: chunk.maxTokens,
    cutType: chunk.cutType,
    contentHash: chunk.contentHash,
    headings: chunk.headings,
    page: chunk.page,
    ...(chunk.row === undefined ? {} : { row: chunk.row }),
    ...(source.writtenAt === null ? {} : { writtenAt: source.writtenAt }),
    importanceWeight: item.importanceWeight,
    externalMetadata,
    nodeSets: item.nodeSets,
    createdAt,
    source: { owner: item.ownerId, hash: item.contentHash },
  };
}

function addChunk(rows: GrowingBatch, source: ItemSource, { chunk, extraction, previousId }: ExtractedChunk): void {
  const { origin, title } = source;
  const payload = chunkPayload(source, chunk);
  const dates = datesOf(extraction, source);
  rows.entries.push(
    chunkRow(
      origin,
      {
        id: chunk.id,
        payload,
        title,
        ...(dates.length === 0 ? {} : { dates }),
        entityNames: extraction.entities.map(({ name }) => name),
      },
      tokenize,
    ),
  );
  embed(rows, source, 'chunk', chunk.id, chunkEmbeddedText(payload, title));
  rows.nodes.push(
    node(source, chunk.id, NODE_TYPES.chunk, '', {
      text: chunk.text,
      chunkIndex: chunk.index,
      chunkSize: chunk.size,
      cutType: chunk.cutType,
      documentId: source.item.id,
      documentName: source.item.name,
    }),
  );
  rows.edges.push(structuralEdge(source, chunk.id, RELATIONS.isPartOf, source.item.id, chunk.id));
  if (previousId !== null) {
    rows.edges.push(structuralEdge(source, previousId, RELATIONS.next, chunk.id, previousId));
  }
}

function addSummary(rows: GrowingBatch, source: ItemSource, { chunk, extraction }: ExtractedChunk): void {
  const { item, externalMetadata, createdAt } = source;
  const id = summaryId(chunk.id);
  const text = extraction.summary.trim();
  const payload: SummaryPayload = {
    chunkId: chunk.id,
    text,
    documentId: item.id,
    documentName: item.name,
    chunkIndex: chunk.index,
    importanceWeight: item.importanceWeight,
    externalMetadata,
    nodeSets: item.nodeSets,
    createdAt,
    source: { owner: item.ownerId, hash: item.contentHash },
  };
  rows.entries.push(summaryRow(source.origin, { id, payload }, tokenize));
  embed(rows, source, 'summary', id, text);
  rows.nodes.push(node(source, id, NODE_TYPES.summary, '', { text, sourceChunkId: chunk.id }));
  rows.edges.push(structuralEdge(source, id, RELATIONS.madeFrom, chunk.id, chunk.id));
}

function embed(rows: GrowingBatch, source: ItemSource, kind: 'chunk' | 'summary', id: string, text: string): void {
  rows.embeddings.push({ entry: { ...source.origin, kind, id }, text });
}

function node(
  { origin }: ItemSource,
  id: string,
  type: string,
  name: string,
  properties: Readonly<Record<string, Json>>,
): NodeEvidence {
  return { ...origin, id, type, name, mentions: 1, properties };
}

function structuralEdge(
  { origin }: ItemSource,
  source: string,
  relation: string,
  target: string,
  chunkId?: string,
): EdgeEvidence {
  const { item, generation } = origin;
  const properties = chunkId === undefined ? {} : { chunkId };
  return { item, generation, source, target, relation, weight: 1, properties };
}

/** Returns the times that a chunk names, to the day, and the day of writing. */
function datesOf({ entities }: Extraction, { writtenAt }: ItemSource): readonly string[] {
  const named = entities.filter(({ type }) => type === TIMESTAMP).map(({ name }) => name.replace(/ .*$/u, ''));
  return [...new Set([...named, ...(writtenAt === null ? [] : [writtenAt.slice(0, 10)])])].sort();
}

/** Rows made without a pause, a few milliseconds. */
const ROWS_PER_BATCH = 250;

/** Yields the rows about the document as a whole: its node, entities with their types, relations, mentions, node sets. */
export function* documentBatches(
  source: ItemSource,
  resolved: MatchedEntities,
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
  if (resolved.known.size > 0) yield ontologyBatch(source, resolved);
}

/** What the ontology adds to the entities of the document: nodes that it does not name itself, and edges that it does not state. */
function ontologyBatch(source: ItemSource, { entities, relations, known, links }: MatchedEntities): IndexBatch {
  const named = new Set(entities.flatMap(({ id, type }) => [id, idFor('EntityType', type)]));
  const stated = new Set([
    ...entities.map(({ id, type }) => edgeKey(id, RELATIONS.isA, idFor('EntityType', type))),
    ...relations.map(({ sourceId, relation, targetId }) => edgeKey(sourceId, relation, targetId)),
  ]);
  const { item, generation } = source.origin;
  const edges = new Map<string, EdgeEvidence>();
  for (const { source: from, relation, target, text } of links) {
    const key = edgeKey(from, relation, target);
    if (stated.has(key)) continue;
    edges.set(key, {
      item,
      generation,
      source: from,
      target,
      relation,
      weight: 1,
      properties: { text, ontologyValid: true },
    });
  }
  const added = [...known.values()].filter(({ id }) => !named.has(id));
  return graphBatch(
    added.map(({ id, type, name, properties }) => node(source, id, type, name, properties)),
    [...edges.values()],
  );
}

function edgeKey(source: string, relation: string, target: string): string {
  return JSON.stringify([source, relation, target]);
}

function documentNodes(source: ItemSource, { entities, known }: MatchedEntities): readonly NodeEvidence[] {
  const { item, title } = source;
  const types = new Map<string, number>();
  for (const { type } of entities) if (type !== TIMESTAMP) types.set(type, (types.get(type) ?? 0) + 1);
  const name = isGeneratedName(item.name)
    ? documentLabel({ name: item.name, fileName: item.fileName, text: source.beginning })
    : item.name;
  return [
    node(source, item.id, NODE_TYPES.document, name, {
      title: title ?? name,
      fileName: item.fileName,
      mimeType: item.mimeType,
      importanceWeight: item.importanceWeight,
      ...(source.externalMetadata === null ? {} : { externalMetadata: source.externalMetadata }),
    }),
    ...[...types].map(([type, mentions]) => {
      const name = nodeName(type);
      const id = idFor('EntityType', type);
      const properties = { description: name, ...known.get(id)?.properties };
      return { ...node(source, id, NODE_TYPES.entityType, name, properties), mentions };
    }),
    ...item.nodeSets.map((name) => node(source, nodeSetId(name), NODE_TYPES.nodeSet, name, {})),
    ...codeNodes(source),
  ];
}

/** The facts of a file of code, as `search/types/code` links them with those of other files. */
function codeNodes(source: ItemSource): readonly NodeEvidence[] {
  const { item, code } = source;
  if (code === null) return [];
  const { path, repository } = sourcePlace(item);
  const properties = { repository, facts: JSON.stringify(code) };
  return [node(source, idFor(NODE_TYPES.codeModule, item.id), NODE_TYPES.codeModule, path, properties)];
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
    const { id, name, type, typeCertainty, description, aliases, mentions, ordinal } = entity;
    const certainty = typeCertainty === undefined ? {} : { typeCertainty };
    const payload: EntityPayload = { name, type, ...certainty, description };
    entries.push(entityRow(source.origin, { id, ordinal, payload, aliases }, tokenize));
    if (type === TIMESTAMP) {
      nodes.push({ ...node(source, id, NODE_TYPES.timestamp, name, timestampProperties(name)), mentions });
      continue;
    }
    embeddings.push({ entry: { ...source.origin, kind: 'entity', id }, text: entityEmbeddedText(payload) });
    nodes.push({ ...node(source, id, NODE_TYPES.entity, name, entityProperties(entity)), mentions });
    edges.push(structuralEdge(source, id, RELATIONS.isA, idFor('EntityType', type)));
  }
  return { entries, embeddings, nodes, edges };
}

function entityProperties({
  type,
  typeCertainty,
  description,
  aliases,
  merged,
  isKeyword,
  ontologyUri,
}: DocumentEntity): Readonly<Record<string, Json>> {
  return {
    entityType: type,
    ...(typeCertainty === undefined ? {} : { typeCertainty }),
    ...(description === '' ? {} : { description }),
    ...(aliases.length === 0 ? {} : { aliases }),
    ...(merged.length === 0 ? {} : { mergedNames: merged }),
    ...(isKeyword ? { isKeyword } : {}),
    ...(ontologyUri === undefined ? {} : { ontologyValid: true, ontologyUri }),
  };
}

/** The fields of a timestamp (cognify-improve.md §1.8); times in milliseconds, the end exclusive. */
function timestampProperties(name: string): Readonly<Record<string, Json>> {
  const time = timeNamed(name);
  if (time === null) return { timestampStr: name };
  const { precision, from, until } = time;
  return {
    timestampStr: name,
    precision: precision === 'decade' || precision === 'century' ? 'span' : precision,
    timeAt: from.getTime(),
    timeUntil: until.getTime(),
    year: from.getUTCFullYear(),
    month: from.getUTCMonth() + 1,
    day: from.getUTCDate(),
    hour: from.getUTCHours(),
    minute: from.getUTCMinutes(),
    second: from.getUTCSeconds(),
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
  for (const [index, stated] of relations.entries()) {
    const { sourceId, targetId, relation, weight, evidence, chunkId, validFrom, validTo } = stated;
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
    const valid = { ...(validFrom && { validFrom }), ...(validTo && { validTo }) };
    const properties = { chunkId, text: evidence, ...valid };
    edges.push({ item, generation, source: sourceId, target: targetId, relation, weight, properties });
  }
  return { entries, embeddings, nodes: [], edges };
}

function graphBatch(nodes: readonly NodeEvidence[], edges: readonly EdgeEvidence[]): IndexBatch {
  return { entries: [], embeddings: [], nodes, edges };
}
