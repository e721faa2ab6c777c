import { engramError } from '../../common/kernel/errors.ts';
import type { GraphStore } from '../../common/storage/ports/graph-store.ts';
import type { DatasetChoice, SearchRequest, SearchSettings } from '../model.ts';
import {
  type AnsweredType,
  isAnswered,
  isCompletion,
  isQuery,
  OFFERED_TYPES,
  type SearchType,
} from '../search-types.ts';
import { cypherNotSupported, modelNeeded } from './cypher.ts';
import type { TypeDependencies } from './target.ts';

export interface TypeOptions {
  readonly maxIter: number | null;
  readonly codeQuery: unknown;
  readonly skills: unknown;
  readonly tools: unknown;
}

/** Options that belong to other types: 422, before anything is looked up. */
export function checkTypeOptions(type: SearchType, options: TypeOptions): void {
  if (options.maxIter !== null && options.maxIter < 1) {
    throw engramError('InvalidMaxIter', 'max_iter must be a positive integer.');
  }
  if (isGiven(options.codeQuery)) {
    throw engramError('InvalidCodeSearchConfig', 'code_query is not supported: this server builds no graph of code.');
  }
  if ((isGiven(options.skills) || isGiven(options.tools)) && type !== 'AGENTIC_COMPLETION') {
    throw engramError('InvalidAgenticSearchConfig', 'skills and tools are only supported with AGENTIC_COMPLETION.');
  }
}

/** Types that read exactly one dataset say so when the request names another number. */
export function checkDatasetScope(type: SearchType, choice: DatasetChoice): void {
  if (type !== 'AGENTIC_COMPLETION' && type !== 'SKILLS') return;
  const count = choice.ids?.length || choice.names?.length || 0;
  if (count === 1) return;
  const name = type === 'SKILLS' ? 'InvalidSkillsDatasetScope' : 'InvalidAgenticDatasetScope';
  throw engramError(name, `${type} needs exactly one dataset.`);
}

type CypherCapability = Pick<GraphStore, 'capabilities'>;

const QUOTED_PHRASE = /^"[^"]+"$/u;

/** The type that runs; 400 when it has no retriever or the graph store does not speak it, 403 when it is switched off. */
export function answeringType(
  type: SearchType,
  query: string,
  { settings, indexes }: { readonly settings: SearchSettings; readonly indexes: { readonly graph: CypherCapability } },
): AnsweredType {
  if (isQuery(type)) {
    if (!settings.allowCypherQuery) {
      const text = `${type} search is disabled by default for security reasons. Set ALLOW_CYPHER_QUERY=true to allow it.`;
      throw engramError('SearchTypeDisabledError', text);
    }
    if (!indexes.graph.capabilities.cypher) throw cypherNotSupported(type);
  }
  if (isAnswered(type)) return type;
  if (type === 'FEELING_LUCKY') return QUOTED_PHRASE.test(query.trim()) ? 'CHUNKS_LEXICAL' : 'HYBRID_COMPLETION';
  const text = `Unsupported search type: ${type}. This server has ${OFFERED_TYPES.join(', ')}.`;
  throw engramError('UnsupportedSearchTypeError', text);
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** `top_k` below 1, a blank query for a type that needs one, an answer that needs a model which is not there: 422. */
export function checkRequest(deps: TypeDependencies, request: SearchRequest, type: AnsweredType): void {
  if (request.topK !== null && request.topK <= 0) {
    throw engramError('QueryValidationError', 'top_k must be a positive integer.');
  }
  const needsWords = type !== 'CHUNKS_LEXICAL' && type !== 'SKILLS' && !isQuery(type);
  if (needsWords && request.query.trim() === '') {
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
