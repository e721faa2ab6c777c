import type { TripletPayload } from '../../common/domain/index-rows.ts';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { wireTenant } from '../../common/kernel/scope.ts';
import { skillRow } from '../../common/presenters/skill-row.ts';
import type { ContextSummary } from '../../common/records/improve/context-summaries.ts';
import type { HistoryEntry } from '../../common/records/search/search-history.ts';
import type {
  ConversationTurn,
  DatasetOutcome,
  FoundSkill,
  Reasoning,
  RecordsOutcome,
  ScoredRow,
  SearchOutcome,
  SearchRequest,
} from '../model.ts';
import { compactJson } from '../types/code/code-search.ts';
import { skillsText } from '../types/skills.ts';
import { presentChunk, presentExplanation, presentLexicalChunk, presentSummary } from './rows.ts';

type Shape = Pick<SearchRequest, 'onlyContext' | 'explain'>;

/** Presents a result (`R` of search-recall.md §1.4): rows, a list with the answer, or the context. */
function presentOutcome({ dataset, outcome }: DatasetOutcome, shape: Shape): unknown {
  if (outcome === null) return [];
  if (outcome.kind === 'skills') {
    const { skills } = outcome;
    return shape.onlyContext ? skillsText(skills) : skills.map((found) => presentFoundSkill(found, dataset));
  }
  if (outcome.kind === 'texts') {
    return shape.onlyContext && outcome.type === 'GRAPH_REPORT' ? outcome.context : outcome.texts;
  }
  if (outcome.kind === 'code') return shape.onlyContext ? compactJson(outcome.result) : outcome.result;
  if (outcome.kind === 'records') return shape.onlyContext ? null : outcome.records;
  if (outcome.kind === 'rows') {
    return shape.onlyContext
      ? outcome.rows.map(({ row }) => row.payload['text']).join('\n')
      : presentRows(outcome, shape);
  }
  if (shape.onlyContext) return outcome.prompt?.user ?? outcome.context;
  return outcome.answer === null ? [] : [outcome.answer];
}

export function presentRows(outcome: Extract<SearchOutcome, { kind: 'rows' }>, shape: Shape): readonly object[] {
  switch (outcome.type) {
    case 'CHUNKS':
      return outcome.rows.map((row) => presentChunk(row, shape.explain));
    case 'SUMMARIES':
      return outcome.rows.map(presentSummary);
    case 'CHUNKS_LEXICAL':
      return outcome.rows.map(presentLexicalChunk);
  }
}

/** Presents the graph query of the rows, for `explain: true`. */
export function presentQuery({ cypher, columns, isCut }: RecordsOutcome) {
  return { cypher, columns, is_cut: isCut };
}

/** Presents why passages were found and what the conversation contributed, for `explain: true`. */
export function presentCompletion(outcome: Extract<SearchOutcome, { kind: 'completion' }>) {
  const { passages, turn, globalContext, triplets, reasoning } = outcome;
  return {
    explain: passages.map(presentExplanation),
    ...(turn === undefined ? {} : { conversation: presentTurn(turn) }),
    ...(globalContext === undefined ? {} : { global_context: globalContext.map(presentContext) }),
    ...(triplets === undefined ? {} : { triplets: triplets.map(presentTriplet) }),
    ...(reasoning === undefined ? {} : { reasoning: presentReasoning(reasoning) }),
  };
}

/** Presents how a type that looks more than once came to its answer. */
function presentReasoning({ by, steps }: Reasoning) {
  return {
    by,
    steps: steps.map(({ kind, query, found, answer }) => ({ kind, query, found_chunk_ids: found, answer })),
  };
}

function presentContext({ id, level, isRoot, text, similarity }: ContextSummary) {
  return { id, level, is_root: isRoot, text, similarity };
}

function presentTriplet({ row, distance, rank }: ScoredRow) {
  const { source, relation, target, chunkId } = row.payload as TripletPayload;
  return { id: row.id, source, relation, target, chunk_id: chunkId === '' ? null : chunkId, rank, distance };
}

function presentTurn({ session, turns, lookup, found, contextIds }: ConversationTurn) {
  return { session_id: session, turns, lookup_query: lookup, found_chunk_ids: found, context_ids: contextIds };
}

/** Presents one entry per dataset, with access control; of several datasets the rows have their rank over all. */
export function presentByDataset(outcomes: readonly DatasetOutcome[], shape: Shape) {
  const ranked = outcomes.length > 1 && !shape.onlyContext;
  const resultOf = (one: DatasetOutcome) => {
    const { outcome } = one;
    if (!ranked || outcome?.kind !== 'rows') return presentOutcome(one, shape);
    return presentRows(outcome, shape).map((row, at) => ({ ...row, rank: outcome.rows[at]?.rank }));
  };
  return outcomes.map(({ dataset, outcome, error }) => ({
    dataset_id: dataset?.id ?? null,
    dataset_name: dataset?.name ?? null,
    dataset_tenant_id: dataset === null ? null : wireTenant(dataset.tenant),
    search_result: resultOf({ dataset, outcome, error }),
    ...(error === null ? {} : { error: error.detail }),
    ...(shape.explain && outcome?.kind === 'completion' ? presentCompletion(outcome) : {}),
    ...(shape.explain && outcome?.kind === 'records' ? { explain: presentQuery(outcome) } : {}),
  }));
}

/** Presents the results themselves, without access control; a single list is not wrapped again. */
export function presentMerged(outcomes: readonly DatasetOutcome[], shape: Shape): readonly unknown[] {
  const results = outcomes.map((outcome) => presentOutcome(outcome, shape));
  const [only] = results;
  return results.length === 1 && Array.isArray(only) ? only : results;
}

/** Presents a skill with its distance, without the procedure (search-recall.md §3.22). */
export function presentFoundSkill({ skill, distance }: FoundSkill, dataset: DatasetRef | null) {
  return { ...skillRow(skill, dataset === null ? [] : [dataset.id]), score: distance };
}

/** Presents a skill that recall suggests for a query. */
export function presentOfferedSkill(found: FoundSkill) {
  const { name, description } = found.skill;
  return { source: 'skills', text: `${name}: ${description}`, skill: name, score: found.distance };
}

export function presentHistory(entries: readonly HistoryEntry[]) {
  return entries.map(({ id, text, speaker, createdAt, datasetId }) => ({
    id,
    text,
    user: speaker,
    createdAt,
    datasetId,
  }));
}
