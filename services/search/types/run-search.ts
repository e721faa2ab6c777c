import type { ChunkPayload, SummaryPayload } from '../../common/domain/index-rows.ts';
import type { DatasetId } from '../../common/kernel/brand.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { NEUTRAL_WEIGHT } from '../../common/records/improve/element-weights.ts';
import { MAX_TOP_K, type RankedPassage, type ScoredRow, type SearchOutcome, type SearchRequest } from '../model.ts';
import { type JoinedDataset, joinStores } from '../retrieval/joined-stores.ts';
import { retrievePassages } from '../retrieval/retrieve-passages.ts';
import { lexicalChunks, nearestChunks, summaries } from '../retrieval/rows.ts';
import { currentRows } from '../retrieval/superseded-statements.ts';
import type { AnsweredType, RowType } from '../search-types.ts';
import { broadCompletion } from './broad.ts';
import { codeSearch } from './code/code-search.ts';
import { codingRules } from './coding-rules.ts';
import {
  agenticCompletion,
  completion,
  decomposedCompletion,
  gatheredCompletion,
  summaryCompletion,
  tripletCompletion,
} from './completion.ts';
import { cypherSearch } from './cypher.ts';
import { graphReport } from './graph-report.ts';
import type { SearchTarget, TypeDependencies } from './target.ts';

/** Default number of results (search-recall.md §1.6). */
const DEFAULT_TOP_K: Readonly<Record<AnsweredType, number>> = {
  CHUNKS: MAX_TOP_K,
  SUMMARIES: MAX_TOP_K,
  CHUNKS_LEXICAL: 500,
  RAG_COMPLETION: 1,
  CYPHER: MAX_TOP_K,
  NATURAL_LANGUAGE: MAX_TOP_K,
  SKILLS: 10,
  HYBRID_COMPLETION: 5,
  GRAPH_COMPLETION: 5,
  TRIPLET_COMPLETION: 5,
  AGENTIC_COMPLETION: 5,
  GRAPH_COMPLETION_COT: 5,
  GRAPH_COMPLETION_CONTEXT_EXTENSION: 5,
  GRAPH_COMPLETION_DECOMPOSITION: 5,
  GRAPH_SUMMARY_COMPLETION: 5,
  TEMPORAL: 5,
  BROAD: MAX_TOP_K,
  CODING_RULES: MAX_TOP_K,
  CODE: MAX_TOP_K,
  GRAPH_REPORT: 5,
};

/** Runs one search type in one dataset. An empty outcome does not say why nothing was found. */
export async function runSearch(
  deps: TypeDependencies,
  request: SearchRequest,
  target: SearchTarget,
): Promise<SearchOutcome> {
  const { type, dataset } = target;
  const limit = limitOf(request, type);
  switch (type) {
    case 'CHUNKS':
    case 'CHUNKS_LEXICAL':
    case 'SUMMARIES': {
      const { current, unchecked } = await rankRows(deps, request, { ...target, type });
      const rest = await currentRows(deps, request, dataset, unchecked);
      return rowsOutcome(deps, dataset, type, [...current, ...rest]);
    }
    case 'CYPHER':
    case 'NATURAL_LANGUAGE':
      return cypherSearch(deps, request, { dataset, type });
    case 'SKILLS': {
      const skills = await deps.skills.find(scopeOf(dataset), request.query);
      return { kind: 'skills', type, skills: skills.slice(0, limit) };
    }
    case 'CODING_RULES':
      return codingRules(deps, request, dataset);
    case 'CODE':
      return codeSearch(deps, request, target);
    case 'GRAPH_REPORT':
      return graphReport(deps, request, { dataset, limit });
    case 'BROAD':
      return broadCompletion(deps, request, target);
    case 'GRAPH_COMPLETION_COT':
    case 'GRAPH_COMPLETION_CONTEXT_EXTENSION':
    case 'TEMPORAL':
      return gatheredCompletion(deps, request, { ...target, limit, type });
    case 'GRAPH_SUMMARY_COMPLETION':
      return summaryCompletion(deps, request, { ...target, limit });
    case 'GRAPH_COMPLETION_DECOMPOSITION':
      return decomposedCompletion(deps, request, { ...target, limit });
    case 'AGENTIC_COMPLETION':
      return agenticCompletion(deps, request, { ...target, limit });
    case 'TRIPLET_COMPLETION':
      return tripletCompletion(deps, request, { ...target, limit });
    default:
      return completion(deps, request, { ...target, limit, type });
  }
}

export function limitOf({ topK }: SearchRequest, type: AnsweredType): number {
  return Math.min(topK ?? DEFAULT_TOP_K[type], MAX_TOP_K);
}

type Row = ScoredRow & { readonly passage?: RankedPassage; readonly dataset?: DatasetId };
type RowTarget = Omit<SearchTarget, 'type' | 'conversation' | 'isOneOfSeveral'> & { readonly type: RowType };

/** Ranks the rows of a type; `unchecked` may hold superseded statements. */
async function rankRows(
  deps: TypeDependencies,
  request: SearchRequest,
  target: RowTarget & { readonly joined?: readonly JoinedDataset[] },
): Promise<{ readonly current: readonly Row[]; readonly unchecked: readonly Row[] }> {
  const { type, dataset, vector } = target;
  const limit = limitOf(request, type);
  if (type === 'CHUNKS_LEXICAL')
    return { current: [], unchecked: await lexicalChunks(deps, request, { dataset, limit }) };
  if (type === 'SUMMARIES')
    return { current: [], unchecked: await summaries(deps, request, { dataset, vector, limit }) };
  const { passages } = await retrievePassages(deps, request, { ...target, limit, isForPassages: true });
  // Other models than hashing also find what shares no word with the query, and in other languages.
  if (request.omitWeak === true && (vector === null || vector.space.model.startsWith('builtin/'))) {
    return { current: withoutWeak(passages).map(asScoredRow), unchecked: [] };
  }
  const known = new Set(passages.map(({ id }) => id));
  const rest = await nearestChunks(deps, request, { dataset, vector, limit, known });
  return { current: passages.map(asScoredRow), unchecked: rest };
}

/** Ranks the rows of several datasets as if they were one, and returns those of each dataset with their ranks over all. */
export async function searchRowsTogether(
  deps: TypeDependencies,
  request: SearchRequest,
  target: RowTarget & { readonly datasets: readonly DatasetRef[]; readonly joined: readonly JoinedDataset[] },
): Promise<ReadonlyMap<DatasetId, SearchOutcome>> {
  const { type, datasets, joined } = target;
  const { indexes, ledger, withDataset } = joinStores({ indexes: deps.indexes, ledger: deps.ledger }, joined);
  const together = { ...deps, indexes, ledger: { ...deps.ledger, ...ledger } };
  const { current, unchecked } = await rankRows(together, request, target);
  const ranked = [...current, ...unchecked.map(withDataset)];
  const isChecked = new Set<Row>(current);
  const outcomes = datasets.map(async (dataset) => {
    const own = ranked.filter((row) => row.dataset === dataset.id);
    const [checked, others] = [own.filter((row) => isChecked.has(row)), own.filter((row) => !isChecked.has(row))];
    const rows = [...checked, ...(await currentRows(deps, request, dataset, others))];
    return [dataset.id, await rowsOutcome(deps, dataset, type, rows)] as const;
  });
  return new Map(await Promise.all(outcomes));
}

/** Minimum relevance as a share of the best one; the weakest that answered one of 58 everyday questions had 0.7. */
const MIN_RELEVANCE = 0.35;
/** Least relevance of a passage that another one completes. */
const MIN_LINKED_RELEVANCE = 0.3;
/** With less the words of the query say nothing about any passage: it may be misspelt. */
const MIN_BEST_RELEVANCE = 0.05;

/** Omits passages that say little of the query beside the best one. */
function withoutWeak(passages: readonly RankedPassage[]): readonly RankedPassage[] {
  const best = passages.reduce((most, { relevance }) => Math.max(most, relevance), 0);
  if (best < MIN_BEST_RELEVANCE) return passages;
  return passages.filter(({ relevance, explanation }) => {
    const share = explanation.partner === null ? MIN_RELEVANCE : MIN_LINKED_RELEVANCE;
    return relevance >= share * best;
  });
}

function asScoredRow(passage: RankedPassage, index: number) {
  const distance = passage.similarity === null ? null : 1 - passage.similarity;
  const { row, dataset } = passage;
  return { row, distance, rank: index + 1, passage, ...(dataset === undefined ? {} : { dataset }) };
}

async function rowsOutcome(
  { learned, sourceUsers }: TypeDependencies,
  dataset: DatasetRef,
  type: RowType,
  rows: readonly (ScoredRow & { readonly passage?: RankedPassage })[],
): Promise<SearchOutcome> {
  const ids = rows.map(({ row }) => row.id);
  const ownerOf = ({ row }: ScoredRow) => (row.payload as ChunkPayload | SummaryPayload).source?.owner ?? '';
  const [weights, emails] = await Promise.all([
    learned.feedbackWeights(scopeOf(dataset), ids),
    sourceUsers.emails(rows.map(ownerOf).filter(Boolean)),
  ]);
  const found = rows.map((scored) => ({
    ...scored,
    passage: scored.passage ?? null,
    feedbackWeight: weights.get(scored.row.id) ?? NEUTRAL_WEIGHT,
    sourceUser: emails.get(ownerOf(scored)) ?? null,
  }));
  return { kind: 'rows', type, rows: found };
}
