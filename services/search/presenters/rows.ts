import { type ChunkPayload, NODE_TYPES, type SummaryPayload } from '../../common/domain/index-rows.ts';
import { COGNIFY_PIPELINE } from '../../common/domain/run.ts';
import { sourceLabel } from '../answers/source-label.ts';
import type { Explanation, FoundRow, RankedPassage, StatementState } from '../model.ts';
import { buildStep } from './source-task.ts';

/**
 * Distance of a row that is not among the nearest vectors: orthogonal. The contract requires a number, and rows are ordered
 * by rank anyway.
 */
const UNRELATED = 1;

/** Presents a row of CHUNKS: payload and score (search-recall.md §3.0). */
export function presentChunk(scored: FoundRow, explain: boolean) {
  const fields = indexFields(scored, scored.row.payload as ChunkPayload, null);
  return { ...fields, ...explanation(scored.passage, explain) };
}

/** Presents a row of SUMMARIES: the same keys, with the chunk of the summary. */
export function presentSummary(scored: FoundRow) {
  const payload = scored.row.payload as SummaryPayload;
  return indexFields(scored, payload, payload.chunkId);
}

function indexFields(scored: FoundRow, payload: ChunkPayload | SummaryPayload, sourceChunk: string | null) {
  return {
    id: scored.row.id,
    ...bookkeeping(scored, payload),
    type: 'IndexSchema',
    belongs_to_set: payload.nodeSets,
    text: payload.text,
    document_id: payload.documentId,
    document_name: payload.documentName,
    chunk_index: payload.chunkIndex,
    source_chunk_id: sourceChunk,
    external_metadata: metadataText(payload),
    score: scored.distance ?? UNRELATED,
  };
}

/** Version of chunking: changes with its rules. */
const CHUNKER_ID = 'structure_chunker_v1';

/** Presents a row of CHUNKS_LEXICAL: the chunk as a node of the graph, without a score. */
export function presentLexicalChunk(scored: FoundRow) {
  const payload = scored.row.payload as ChunkPayload;
  return {
    name: '',
    ...bookkeeping(scored, payload),
    type: 'DocumentChunk',
    metadata: { index_fields: ['text'] },
    belongs_to_set: payload.nodeSets.length === 0 ? null : payload.nodeSets,
    text: payload.text,
    chunk_size: payload.chunkSize,
    chunk_index: payload.chunkIndex,
    cut_type: payload.cutType,
    content_hash: payload.contentHash,
    chunker_id: CHUNKER_ID,
    max_chunk_tokens: payload.maxChunkTokens ?? payload.chunkSize,
    document_id: payload.documentId,
    document_name: payload.documentName,
    external_metadata: metadataText(payload),
    id: scored.row.id,
  };
}

/** Returns the fields of the contract that say how the row was made. */
function bookkeeping({ row, feedbackWeight, sourceUser }: FoundRow, payload: ChunkPayload | SummaryPayload) {
  const at = epochMs(payload.createdAt);
  const { task, rank } = buildStep(row.kind === 'summary' ? NODE_TYPES.summary : NODE_TYPES.chunk);
  return {
    created_at: at,
    updated_at: at,
    ontology_valid: false,
    ontology_uri: null,
    version: row.generation,
    topological_rank: rank,
    source_pipeline: COGNIFY_PIPELINE,
    source_task: task,
    source_node_set: payload.nodeSets[0] ?? null,
    source_user: sourceUser,
    source_content_hash: payload.source?.hash ?? null,
    feedback_weight: feedbackWeight,
    importance_weight: payload.importanceWeight,
  };
}

/** Returns the metadata of the item as JSON text, node sets included, as the data routes present it. */
function metadataText({ externalMetadata, nodeSets }: ChunkPayload | SummaryPayload): string | null {
  const metadata = { ...externalMetadata, ...(nodeSets.length === 0 ? {} : { node_set: nodeSets }) };
  return Object.keys(metadata).length === 0 ? null : JSON.stringify(metadata);
}

function explanation(passage: RankedPassage | null, explain: boolean): { readonly explain?: object } {
  return explain && passage !== null ? { explain: presentExplanation(passage) } : {};
}

/** Presents where a passage stands. */
export function presentPassage({ id, payload }: Pick<RankedPassage, 'id' | 'payload'>) {
  return {
    chunk_id: id,
    document_id: payload.documentId,
    document_name: payload.documentName,
    source: sourceLabel(payload),
    chunk_index: payload.chunkIndex,
    text: payload.text,
  };
}

/** Presents why a passage has its rank, for `explain: true`. */
export function presentExplanation(
  passage: Pick<RankedPassage, 'id' | 'payload' | 'relevance' | 'support' | 'explanation'>,
) {
  const why: Explanation = passage.explanation;
  return {
    ...presentPassage(passage),
    relevance: passage.relevance,
    lanes: why.lanes,
    fusion_score: why.fusion,
    own_score: why.own,
    evidence_score: why.evidence,
    completed_by: why.partner,
    via_entity: why.via,
    support: passage.support,
    ...(why.statements === undefined ? {} : { statements: why.statements.map(presentStatement) }),
    ...(why.learned === null ? {} : { learned: why.learned }),
    ...(why.truth === undefined ? {} : { truth: why.truth }),
  };
}

/** Presents a statement that superseded another or was superseded. */
function presentStatement({ supersession, text, state, isOmitted }: StatementState) {
  const { id, subject, predicate, newer } = supersession;
  return {
    supersession_id: id,
    subject,
    predicate,
    text,
    state,
    left_out: isOmitted,
    superseded_by: newer.text,
    since: newer.from,
  };
}
/** Returns a stored time in epoch milliseconds; null when it is not a time. */
function epochMs(time: string | undefined): number | null {
  const value = time === undefined ? Number.NaN : Date.parse(time);
  return Number.isNaN(value) ? null : value;
}
