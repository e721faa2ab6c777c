import type { DataItemId } from '../kernel/brand.ts';
import { edgeId } from '../kernel/ids.ts';
import type { JsonObject } from '../kernel/json.ts';

/**
 * Index rows of an item, as cognify writes and search reads them: the one agreement between the two. Rows fit `TextEntry`,
 * `VectorEntry` and the evidence types of the ports; every row carries (item, generation).
 */
export interface RowOrigin {
  readonly item: DataItemId;
  readonly generation: number;
  readonly nodeSets: readonly string[];
}

/** Node types of the graph. Ids: item id for a document, `idFor('CodeModule', item)` for what a file of code states, chunk id, `idFor('Entity', name)`, `idFor('EntityType', type)`, `summaryId(chunk)`, `idFor('Timestamp', name)`, `nodeSetId(name)`. */
export const NODE_TYPES = {
  document: 'TextDocument',
  chunk: 'DocumentChunk',
  entity: 'Entity',
  entityType: 'EntityType',
  summary: 'TextSummary',
  timestamp: 'Timestamp',
  nodeSet: 'NodeSet',
  /** Definitions, imports and uses of a file of code; internal, never shown. */
  codeModule: 'CodeModule',
} as const;

/** Relations that structure the graph; every other relation joins two entities and was stated by a text. */
export const RELATIONS = {
  /** chunk → document */
  isPartOf: 'is_part_of',
  /** chunk → entity; make it with `containsEdge`, and for the chunk's subjects too (`subjectNames`) */
  contains: 'contains',
  /** entity → entity type */
  isA: 'is_a',
  /** summary → chunk */
  madeFrom: 'made_from',
  /** document, chunk, entity or summary → node set */
  belongsToSet: 'belongs_to_set',
  /** chunk → the chunk after it in the document; internal, never shown */
  next: 'next',
} as const;

export const STRUCTURAL_RELATIONS: ReadonlySet<string> = new Set(Object.values(RELATIONS));
/** Relations that graph views leave out. */
export const INTERNAL_RELATIONS: ReadonlySet<string> = new Set([RELATIONS.next]);

/** The item that a row was made from; absent in rows of earlier releases. */
type RowSource = {
  /** The account that added it. */
  readonly owner: string;
  /** MD5 of its bytes. */
  readonly hash: string;
};

export interface ChunkPayload extends JsonObject {
  /** Verbatim text of the chunk. */
  readonly text: string;
  /** Id of the data item. */
  readonly documentId: string;
  /** Name of the data item: file name without extension. */
  readonly documentName: string;
  /** 0-based. */
  readonly chunkIndex: number;
  /** Tokens. */
  readonly chunkSize: number;
  /** The limit the chunk was cut under, tokens. */
  readonly maxChunkTokens?: number;
  readonly cutType: string;
  /** SHA-256 of the text, hex. */
  readonly contentHash: string;
  /** Headings above the chunk, outermost first. */
  readonly headings: readonly string[];
  readonly page: number | null;
  /** 1-based number of the first row of a table or sheet that the text contains. */
  readonly row?: number;
  /** 0 to 1, default 0.5. */
  readonly importanceWeight: number;
  readonly externalMetadata: JsonObject | null;
  readonly nodeSets: readonly string[];
  /** ISO-8601 with offset. */
  readonly createdAt: string;
  readonly source?: RowSource;
  /** Times that the text names (`2021`, `2021-05-03`, `2021/2023`) and the day of writing, sorted: the time lane reads them. */
  readonly dates?: readonly string[];
  /** When the text was written, by its metadata or by itself, ISO; absent when neither says so. */
  readonly writtenAt?: string;
}

export interface SummaryPayload extends JsonObject {
  readonly chunkId: string;
  readonly text: string;
  readonly documentId: string;
  readonly documentName: string;
  readonly chunkIndex: number;
  readonly importanceWeight: number;
  readonly externalMetadata: JsonObject | null;
  readonly nodeSets: readonly string[];
  readonly createdAt: string;
  readonly source?: RowSource;
}

export interface EntityPayload extends JsonObject {
  readonly name: string;
  readonly type: string;
  /** See `typeWeight`. */
  readonly typeCertainty?: number;
  readonly description: string;
}

export interface EdgePayload extends JsonObject {
  /** Node ids. */
  readonly source: string;
  readonly target: string;
  readonly relation: string;
  /** The sentence that states it. */
  readonly text: string;
  readonly chunkId: string;
  readonly sourceName: string;
  readonly targetName: string;
}

/** An edge with what both of its ends say, as one text: made by improve on request, from what cognify has committed. */
export interface TripletPayload extends JsonObject {
  /** Node ids. */
  readonly source: string;
  readonly target: string;
  readonly relation: string;
  /** `<source>-›<edge>-›<target>` (cognify-improve.md §1.11). */
  readonly text: string;
  /** The passage that states it; '' for edges of a document. */
  readonly chunkId: string;
  /** The sentence that states it; '' for edges that structure the graph. */
  readonly statement: string;
}

/** A text row; fits `TextEntry` of the text index. */
interface IndexRow<Kind extends string, Payload extends JsonObject> extends RowOrigin {
  readonly kind: Kind;
  readonly id: string;
  readonly tokens: string;
  readonly ordinal: number;
  readonly payload: Payload;
}

/** `tokenize` of `common/text/language`. */
type Tokenize = (text: string) => readonly string[];

const GENERATED_NAME = /^(text_[0-9a-f]{32}|data_[0-9a-f]{8}|memory|message)$/i;

/** Whether a name was generated by ingest or by a client for a text without a name. */
export function isGeneratedName(name: string): boolean {
  return GENERATED_NAME.test(name);
}

/** The document's name as a reader would say it, or '' when it was made up by a client or by us. */
function readableDocumentName(name: string): string {
  return isGeneratedName(name) ? '' : name.replaceAll('_', ' ').trim();
}

/**
 * Text by which a chunk is found: contextual header (document name, title, headings), text, and keys (dates in ISO form,
 * full entity names) that the text itself does not spell. Keys that the text has already are left out so that they do
 * not count twice.
 */
function chunkIndexText(
  payload: ChunkPayload,
  keys: {
    readonly title?: string | null;
    readonly dates?: readonly string[];
    readonly entityNames?: readonly string[];
  },
): string {
  const header = chunkHeader(payload, keys.title ?? null);
  const known = `${header}\n${payload.text}`.toLowerCase();
  const extra = [...(keys.dates ?? []), ...(keys.entityNames ?? [])].filter(
    (key) => !known.includes(key.toLowerCase()),
  );
  return [header, payload.text, [...new Set(extra)].join('\n')].filter((part) => part !== '').join('\n');
}

/** Text of a chunk's vector: the header gives the subject, keys would only blur it. */
export function chunkEmbeddedText(payload: ChunkPayload, title: string | null): string {
  const header = chunkHeader(payload, title);
  return header === '' ? payload.text : `${header}\n${payload.text}`;
}

function chunkHeader(payload: ChunkPayload, title: string | null): string {
  const text = payload.text.toLowerCase();
  const lines = [title ?? readableDocumentName(payload.documentName), ...payload.headings]
    .map((line) => line.trim())
    .filter((line) => line !== '' && !text.startsWith(line.toLowerCase()));
  return [...new Set(lines)].join('\n');
}

/**
 * Subject of the chunk, by its document title (or name) and nearest heading: a name that other texts use for it. Each
 * is an entity of the chunk even if the text never spells it, joined by a `contains` edge with `isSubject`: it is how a
 * mention in one document leads to the document about it. `Green (album)` and `Salem, Oregon` are also called by their
 * first part. Sentence-long titles name nothing.
 */
export function subjectNames(
  payload: Pick<ChunkPayload, 'documentName' | 'headings'>,
  title: string | null,
): readonly string[] {
  const names = new Set<string>();
  for (const line of [title ?? readableDocumentName(payload.documentName), payload.headings.at(-1) ?? '']) {
    const name = line.trim().replace(/\s+/gu, ' ');
    if (name === '' || name.length > 80 || name.split(' ').length > 10) continue;
    for (const variant of [name, name.replace(/\s*\([^)]*\)$/u, ''), name.replace(/,.*$/u, '')]) {
      if (/\p{L}/u.test(variant)) names.add(variant);
    }
  }
  return [...names];
}

/** Subject edges come first among the heaviest neighbours of a node, however often others mention it. */
const SUBJECT_WEIGHT = 1000;

/** The edge chunk → entity; fits `EdgeEvidence` of the graph store. */
export function containsEdge(
  origin: RowOrigin,
  edge: {
    readonly chunkId: string;
    readonly entityId: string;
    /** In the chunk; 0 when only the title names it. */
    readonly mentions: number;
    readonly isSubject: boolean;
    readonly properties?: JsonObject;
  },
) {
  return {
    item: origin.item,
    generation: origin.generation,
    source: edge.chunkId,
    target: edge.entityId,
    relation: RELATIONS.contains,
    weight: Math.min(SUBJECT_WEIGHT, Math.max(1, edge.mentions)) + (edge.isSubject ? SUBJECT_WEIGHT : 0),
    properties: { ...edge.properties, chunkId: edge.chunkId, mentions: edge.mentions, isSubject: edge.isSubject },
  };
}

/** Facts that `containsEdge` states about chunk and entity, read from the weight alone. */
export function containment({ weight }: { readonly weight: number }): {
  readonly isSubject: boolean;
  /** At least 1: a subject that only the title names counts as mentioned. */
  readonly mentions: number;
} {
  const isSubject = weight > SUBJECT_WEIGHT;
  return { isSubject, mentions: isSubject ? weight - SUBJECT_WEIGHT : weight };
}

export function chunkRow(
  origin: RowOrigin,
  chunk: {
    readonly id: string;
    readonly payload: ChunkPayload;
    readonly title?: string | null;
    readonly dates?: readonly string[];
    /** Full names of the chunk's entities. */
    readonly entityNames?: readonly string[];
  },
  tokenize: Tokenize,
): IndexRow<'chunk', ChunkPayload> {
  const payload = chunk.dates === undefined ? chunk.payload : { ...chunk.payload, dates: chunk.dates };
  return row(origin, 'chunk', chunk.id, payload.chunkIndex, payload, tokenize(chunkIndexText(payload, chunk)));
}

export function summaryRow(
  origin: RowOrigin,
  summary: { readonly id: string; readonly payload: SummaryPayload },
  tokenize: Tokenize,
): IndexRow<'summary', SummaryPayload> {
  const { payload } = summary;
  return row(origin, 'summary', summary.id, payload.chunkIndex, payload, tokenize(payload.text));
}

export function entityRow(
  origin: RowOrigin,
  entity: {
    readonly id: string;
    readonly ordinal: number;
    readonly payload: EntityPayload;
    readonly aliases: readonly string[];
  },
  tokenize: Tokenize,
): IndexRow<'entity', EntityPayload> {
  const names = [...new Set([entity.payload.name, ...entity.aliases])];
  return row(origin, 'entity', entity.id, entity.ordinal, entity.payload, tokenize(names.join('\n')));
}

export function entityEmbeddedText(payload: EntityPayload): string {
  return payload.name;
}

export function edgeRow(
  origin: RowOrigin,
  edge: { readonly ordinal: number; readonly payload: EdgePayload },
  tokenize: Tokenize,
): IndexRow<'edge', EdgePayload> {
  const { payload } = edge;
  const id = edgeId(payload.source, payload.relation, payload.target);
  return row(origin, 'edge', id, edge.ordinal, payload, tokenize(edgeEmbeddedText(payload)));
}

/** Vector text of an edge: the triplet in words. */
export function edgeEmbeddedText(payload: EdgePayload): string {
  return `${payload.sourceName} ${payload.relation.replaceAll('_', ' ')} ${payload.targetName}`;
}

export function tripletRow(
  origin: RowOrigin,
  triplet: { readonly ordinal: number; readonly payload: TripletPayload },
  tokenize: Tokenize,
): IndexRow<'triplet', TripletPayload> {
  const { payload } = triplet;
  const id = edgeId(payload.source, payload.relation, payload.target);
  return row(origin, 'triplet', id, triplet.ordinal, payload, tokenize(payload.text));
}

function row<Kind extends string, Payload extends JsonObject>(
  origin: RowOrigin,
  kind: Kind,
  id: string,
  ordinal: number,
  payload: Payload,
  words: readonly string[],
): IndexRow<Kind, Payload> {
  const { item, generation, nodeSets } = origin;
  return { kind, id, item, generation, nodeSets, ordinal, payload, tokens: words.join(' ') };
}
