import { engramError } from '../../common/kernel/errors.ts';
import type { DatasetChoice, SearchRequest, SearchSettings } from '../model.ts';
import { type AnsweredType, isCompletion, isQuery, type SearchType } from '../search-types.ts';
import { modelNeeded } from './cypher.ts';
import type { TypeDependencies } from './target.ts';

/** Throws a 422 for options that the type does not support. */
export function checkTypeOptions({
  type,
  codeQuery = null,
  agent,
}: Pick<SearchRequest, 'type' | 'codeQuery' | 'agent'>): void {
  const { maxIter = null, skills = null, tools = null } = agent ?? {};
  if (maxIter !== null && maxIter < 1) {
    throw engramError('InvalidMaxIter', 'max_iter must be a positive integer.');
  }
  if (codeQuery !== null && type !== 'CODE') {
    throw engramError('InvalidCodeSearchConfig', 'code_query is only supported with the search type CODE.');
  }
  if (codeQuery !== null && ['skills', 'tools'].some((key) => Object.hasOwn(codeQuery, key))) {
    throw engramError('UnsupportedSearchTypeError', 'code_query takes no skills and no tools.');
  }
  if ((skills !== null || tools !== null) && type !== 'AGENTIC_COMPLETION') {
    throw engramError('InvalidAgenticSearchConfig', 'skills and tools are only supported with AGENTIC_COMPLETION.');
  }
}

/** Throws a 422 when a type that needs exactly one dataset gets another number. */
export function checkDatasetScope(type: SearchType, choice: DatasetChoice): void {
  if (type !== 'AGENTIC_COMPLETION' && type !== 'SKILLS') return;
  const count = choice.ids?.length || choice.names?.length || 0;
  if (count === 1) return;
  const name = type === 'SKILLS' ? 'InvalidSkillsDatasetScope' : 'InvalidAgenticDatasetScope';
  throw engramError(name, `${type} needs exactly one dataset.`);
}

/** Returns the type that runs. Throws 403 for a disabled type. */
export function answeringType(
  type: Exclude<SearchType, 'FEELING_LUCKY'>,
  { settings }: { readonly settings: SearchSettings },
): AnsweredType {
  if (isQuery(type) && !settings.allowCypherQuery) {
    const text = `${type} search is disabled by default for security reasons. Set ALLOW_CYPHER_QUERY=true to allow it.`;
    throw engramError('SearchTypeDisabledError', text);
  }
  return type;
}

/** Types that need no words, or judge the query themselves. */
const NO_WORDS: ReadonlySet<AnsweredType> = new Set([
  ...(['CHUNKS_LEXICAL', 'SKILLS', 'CODING_RULES', 'GRAPH_REPORT', 'CODE', 'CYPHER', 'NATURAL_LANGUAGE'] as const),
]);

/** Throws a 422 for `top_k` below 1, a blank query where the type needs one, or a missing language model. */
export function checkRequest(deps: TypeDependencies, request: SearchRequest, type: AnsweredType): void {
  if (request.topK !== null && request.topK <= 0) {
    throw engramError('QueryValidationError', 'top_k must be a positive integer.');
  }
  if (!NO_WORDS.has(type) && request.query.trim() === '') {
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
