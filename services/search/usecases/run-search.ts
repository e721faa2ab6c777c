import type { DatasetRef } from '../../common/domain/dataset.ts';
import { engramError } from '../../common/domain/errors.ts';
import type { EdgePayload } from '../../common/domain/index-rows.ts';
import { graphContext, plainContext, sectionedContext } from '../answers/contexts.ts';
import { evidenceBlock } from '../answers/evidence-block.ts';
import { extractiveAnswer, NOTHING_FITS } from '../answers/extractive.ts';
import { knowledgeAround } from '../answers/knowledge.ts';
import { modelAnswer } from '../answers/model-answer.ts';
import { packPassages } from '../answers/passage-context.ts';
import { DEFAULT_SYSTEM_PROMPT, type PromptKind, userPrompt } from '../answers/prompt.ts';
import { cypherSearch, modelNeeded } from '../cypher/cypher-search.ts';
import type { SearchDependencies } from '../dependencies.ts';
import type { RankedPassage, Retrieval } from '../retrieval/retrieval.ts';
import { type AnsweredType, type CompletionType, isCompletion, isQuery } from '../search-types.ts';
import { gatherPassages, hybridRows, lexicalChunks, nearestChunks, type QueryVector, summaries } from './material.ts';
import type { SearchOutcome } from './search-outcome.ts';
import { MAX_TOP_K, type SearchRequest } from './search-request.ts';

/** Results when the caller names no number (search-recall.md §1.6). */
const DEFAULT_TOP_K: Readonly<Record<AnsweredType, number>> = {
  CHUNKS: MAX_TOP_K,
  SUMMARIES: MAX_TOP_K,
  CHUNKS_LEXICAL: 500,
  RAG_COMPLETION: 1,
  CYPHER: MAX_TOP_K,
  NATURAL_LANGUAGE: MAX_TOP_K,
  HYBRID_COMPLETION: 5,
  GRAPH_COMPLETION: 5,
  TRIPLET_COMPLETION: 5,
};

const PROMPT_KIND: Readonly<Record<CompletionType, PromptKind>> = {
  RAG_COMPLETION: 'plain',
  TRIPLET_COMPLETION: 'plain',
  GRAPH_COMPLETION: 'graph',
  HYBRID_COMPLETION: 'sections',
};

/** One type of search over one dataset. An empty outcome says that nothing was found, not why. */
export async function runSearch(
  deps: SearchDependencies,
  request: SearchRequest,
  target: { readonly dataset: DatasetRef; readonly type: AnsweredType; readonly vector: QueryVector },
): Promise<SearchOutcome> {
  const { type, dataset, vector } = target;
  const limit = Math.min(request.topK ?? DEFAULT_TOP_K[type], MAX_TOP_K);
  switch (type) {
    case 'CHUNKS': {
      const { passages } = await gatherPassages(deps, request, { dataset, vector, limit });
      const ranked = passages.map(asScoredRow);
      const rest = await nearestChunks(deps, request, {
        dataset,
        vector,
        limit,
        known: new Set(passages.map(({ id }) => id)),
      });
      return { kind: 'rows', type, rows: [...ranked, ...rest.map((row) => ({ ...row, passage: null }))] };
    }
    case 'CHUNKS_LEXICAL':
      return rowsOutcome(type, await lexicalChunks(deps, request, { dataset, limit }));
    case 'SUMMARIES':
      return rowsOutcome(type, await summaries(deps, request, { dataset, vector, limit }));
    case 'CYPHER':
    case 'NATURAL_LANGUAGE':
      return cypherSearch(deps, request, { dataset, type });
    case 'TRIPLET_COMPLETION':
      return tripletCompletion(deps, request, { dataset, vector, limit });
    default:
      return completion(deps, request, { dataset, vector, limit, type });
  }
}

function asScoredRow(passage: RankedPassage, index: number) {
  const distance = passage.similarity === null ? null : 1 - passage.similarity;
  return { row: passage.row, distance, rank: index + 1, passage };
}

function rowsOutcome(type: 'CHUNKS_LEXICAL' | 'SUMMARIES', rows: Awaited<ReturnType<typeof summaries>>): SearchOutcome {
  return { kind: 'rows', type, rows: rows.map((row) => ({ ...row, passage: null })) };
}

interface CompletionTarget {
  readonly dataset: DatasetRef;
  readonly vector: QueryVector;
  readonly limit: number;
}

async function completion(
  deps: SearchDependencies,
  request: SearchRequest,
  target: CompletionTarget & { readonly type: CompletionType },
): Promise<SearchOutcome> {
  const { retrieval } = await gatherPassages(deps, request, target);
  const passages = packPassages(retrieval.passages);
  const context = await contextOf(deps, request, { ...target, passages, retrieval });
  return answered(deps, request, { type: target.type, passages, retrieval, context });
}

/** Facts shown in the sections; the wire caps lanes at ten. */
const MAX_ENTITIES = 10;
const FACTS_PER_ENTITY = 6;

async function contextOf(
  deps: SearchDependencies,
  request: SearchRequest,
  target: CompletionTarget & {
    readonly type: CompletionType;
    readonly passages: readonly RankedPassage[];
    readonly retrieval: Retrieval;
  },
): Promise<string> {
  const { type, dataset, passages, retrieval, limit } = target;
  if (type === 'RAG_COMPLETION') return plainContext(passages);
  const entities = Math.min(limit, MAX_ENTITIES);
  const found = { passages, retrieval, query: request.query };
  const knowledge = await knowledgeAround(deps, dataset, found, { entities, facts: entities * FACTS_PER_ENTITY });
  return type === 'HYBRID_COMPLETION' ? sectionedContext(passages, knowledge) : graphContext(passages, knowledge);
}

/** Triplets by words and vectors; a dataset without any is answered from the graph. */
async function tripletCompletion(
  deps: SearchDependencies,
  request: SearchRequest,
  target: CompletionTarget,
): Promise<SearchOutcome> {
  const rows = await hybridRows(deps, request, { ...target, kind: 'edge' });
  if (rows.length === 0) return completion(deps, request, { ...target, type: 'GRAPH_COMPLETION' });
  const { retrieval } = await gatherPassages(deps, request, target);
  const stated = new Set(rows.map(({ row }) => (row.payload as EdgePayload).chunkId));
  const passages = retrieval.passages.filter((passage) => stated.has(passage.id));
  const triplets = rows.map(({ row }) => {
    const { sourceName, relation, targetName, text } = row.payload as EdgePayload;
    return `${sourceName}-›${relation}-›${targetName}${text === '' ? '' : `: ${text}`}`;
  });
  const context = triplets.join('\n');
  const supported = passages.length > 0 ? passages : packPassages(retrieval.passages);
  return answered(deps, request, { type: 'TRIPLET_COMPLETION', passages: supported, retrieval, context });
}

interface AnswerMaterial {
  readonly type: CompletionType;
  readonly passages: readonly RankedPassage[];
  readonly retrieval: Retrieval;
  readonly context: string;
}

async function answered(
  deps: SearchDependencies,
  request: SearchRequest,
  material: AnswerMaterial,
): Promise<SearchOutcome> {
  const { type, passages, retrieval, context } = material;
  const base = { kind: 'completion' as const, type, context, passages };
  if (context === '') return { ...base, answer: null, prompt: null };
  const prompt = {
    user: userPrompt(PROMPT_KIND[type], request.query, context),
    system: request.systemPrompt || DEFAULT_SYSTEM_PROMPT,
  };
  if (request.onlyContext) return { ...base, answer: null, prompt };
  const { languageModel, settings } = deps;
  const { text, structured } =
    languageModel === null
      ? { text: extractiveAnswer(request.query, retrieval, passages), structured: null }
      : await modelAnswer(languageModel, request, prompt, { streaming: settings.answerStreaming ?? false });
  if (structured !== null || !request.includeReferences || text === NOTHING_FITS) {
    return { ...base, answer: text, prompt, structured };
  }
  const block = evidenceBlock(text, passages, { snippets: PROMPT_KIND[type] !== 'graph' });
  return { ...base, answer: text + block, prompt };
}

/** `top_k` below 1, a blank query for a type that needs one, an answer that needs a model which is not there: 422. */
export function checkRequest(deps: SearchDependencies, request: SearchRequest, type: AnsweredType): void {
  if (request.topK !== null && request.topK <= 0) {
    throw engramError('QueryValidationError', 'top_k must be a positive integer.');
  }
  if (type !== 'CHUNKS_LEXICAL' && !isQuery(type) && request.query.trim() === '') {
    throw engramError('QueryValidationError', 'The query must be a non-empty string.');
  }
  const mayAskModel = isCompletion(type) || type === 'NATURAL_LANGUAGE';
  if (request.onlyContext || !mayAskModel || deps.languageModel !== null) return;
  const { missingModelKey } = deps;
  if (missingModelKey !== null) throw engramError('LLMAPIKeyNotSetError', missingModelKey);
  if (type === 'NATURAL_LANGUAGE') throw modelNeeded();
  if (request.responseSchema !== null) {
    throw engramError('CogneeValidationError', 'response_schema needs a language model, and none is configured.');
  }
}
