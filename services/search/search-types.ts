/** All search types of the contract; unsupported ones are answered with 400. */
export const SEARCH_TYPES = [
  'SUMMARIES',
  'CHUNKS',
  'CHUNKS_LEXICAL',
  'RAG_COMPLETION',
  'HYBRID_COMPLETION',
  'TRIPLET_COMPLETION',
  'GRAPH_COMPLETION',
  'GRAPH_COMPLETION_DECOMPOSITION',
  'GRAPH_SUMMARY_COMPLETION',
  'CYPHER',
  'NATURAL_LANGUAGE',
  'GRAPH_COMPLETION_COT',
  'GRAPH_COMPLETION_CONTEXT_EXTENSION',
  'FEELING_LUCKY',
  'TEMPORAL',
  'CODING_RULES',
  'CODE',
  'AGENTIC_COMPLETION',
  'GRAPH_REPORT',
  'BROAD',
  'SKILLS',
] as const;

export type SearchType = (typeof SEARCH_TYPES)[number];

/** Search types that this server runs. */
const ANSWERED_TYPES = [
  'CHUNKS',
  'CHUNKS_LEXICAL',
  'SUMMARIES',
  'RAG_COMPLETION',
  'HYBRID_COMPLETION',
  'GRAPH_COMPLETION',
  'TRIPLET_COMPLETION',
  'AGENTIC_COMPLETION',
  'CYPHER',
  'NATURAL_LANGUAGE',
  'SKILLS',
] as const;

export type AnsweredType = (typeof ANSWERED_TYPES)[number];

/** Search types that a request can name: those that this server runs, and the one that chooses among them. */
export const OFFERED_TYPES = [...ANSWERED_TYPES, 'FEELING_LUCKY'] as const;

/** Types that return rows of a graph query. */
export type QueryType = 'CYPHER' | 'NATURAL_LANGUAGE';

/** Types that return passages or summaries. */
type RowType = 'CHUNKS' | 'CHUNKS_LEXICAL' | 'SUMMARIES';

export type CompletionType = Exclude<AnsweredType, RowType | QueryType | 'SKILLS'>;

export function isQuery(type: SearchType): type is QueryType {
  return type === 'CYPHER' || type === 'NATURAL_LANGUAGE';
}

export function isCompletion(type: AnsweredType): type is CompletionType {
  return !isQuery(type) && type !== 'SKILLS' && type !== 'CHUNKS' && type !== 'CHUNKS_LEXICAL' && type !== 'SUMMARIES';
}

export function isAnswered(type: SearchType): type is AnsweredType {
  return (ANSWERED_TYPES as readonly string[]).includes(type);
}
