import {
  type ChunkPayload,
  chunkEmbeddedText,
  chunkRow,
  NODE_TYPES,
  RELATIONS,
  type SummaryPayload,
  summaryRow,
} from '../../common/domain/index-rows.ts';
import { summaryId } from '../../common/kernel/ids.ts';
import type { Json } from '../../common/kernel/json.ts';
import type { Extraction } from '../../common/ports/extractor.ts';
import type { EdgeEvidence, NodeEvidence } from '../../common/storage/ports/graph-store.ts';
import { tokenize } from '../../common/text/language/tokenize.ts';
import type { GrowingBatch } from './index-batch.ts';
import type { ItemChunk } from './item-chunk.ts';
import type { ItemSource } from './item-source.ts';

export interface ExtractedChunk {
  readonly chunk: ItemChunk;
  readonly extraction: Extraction;
  /** Id of the chunk before it in the document. */
  readonly previousId: string | null;
}

/** Adds the rows that stand on their own chunk: chunk, summary, and what joins them to the document. */
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
    importanceWeight: item.importanceWeight,
    externalMetadata,
    nodeSets: item.nodeSets,
    createdAt,
  };
}

function addChunk(rows: GrowingBatch, source: ItemSource, { chunk, extraction, previousId }: ExtractedChunk): void {
  const { origin, title } = source;
  const payload = chunkPayload(source, chunk);
  const dates = datesOf(extraction);
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
  };
  rows.entries.push(summaryRow(source.origin, { id, payload }, tokenize));
  embed(rows, source, 'summary', id, text);
  rows.nodes.push(node(source, id, NODE_TYPES.summary, '', { text, sourceChunkId: chunk.id }));
  rows.edges.push(structuralEdge(source, id, RELATIONS.madeFrom, chunk.id, chunk.id));
}

function embed(rows: GrowingBatch, source: ItemSource, kind: 'chunk' | 'summary', id: string, text: string): void {
  rows.embeddings.push({ entry: { ...source.origin, kind, id }, text });
}

export function node(
  { origin }: ItemSource,
  id: string,
  type: string,
  name: string,
  properties: Readonly<Record<string, Json>>,
): NodeEvidence {
  return { ...origin, id, type, name, mentions: 1, properties };
}

export function structuralEdge(
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

const ISO_DATE = /\b\d{4}-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?\b/g;
const YEAR = /\b(?:1\d|20)\d\d\b/g;

/** ISO dates, months or years of the entities that are dates. */
function datesOf({ entities }: Extraction): readonly string[] {
  const found = new Set<string>();
  for (const { type, name, aliases } of entities) {
    if (type !== 'Date' && type !== 'Timestamp') continue;
    const texts = [name, ...aliases];
    const iso = texts.flatMap((text) => text.match(ISO_DATE) ?? []);
    for (const date of iso.length > 0 ? iso : texts.flatMap((text) => text.match(YEAR) ?? [])) found.add(date);
  }
  return [...found].sort();
}
