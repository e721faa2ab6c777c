import { engramError } from '../../common/kernel/errors.ts';
import type { GraphStore } from '../../common/storage/ports/graph-store.ts';
import { cypherNotSupported } from '../cypher/graph-query.ts';
import type { SearchSettings } from '../dependencies.ts';
import { type AnsweredType, isAnswered, isQuery, OFFERED_TYPES, type SearchType } from '../search-types.ts';
import type { DatasetChoice } from './search-request.ts';

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
