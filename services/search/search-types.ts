/** All search types of the contract. */
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

/** The one type that chooses among the others. */
const CHOOSING = 'FEELING_LUCKY';

export type AnsweredType = Exclude<SearchType, typeof CHOOSING>;

/** Types that return rows of a graph query. */
export type QueryType = 'CYPHER' | 'NATURAL_LANGUAGE';

/** Types that return passages or summaries. */
const ROWS = ['CHUNKS', 'CHUNKS_LEXICAL', 'SUMMARIES'] as const;
export type RowType = (typeof ROWS)[number];

/** Types that return texts which no question is asked of. */
export type TextType = 'CODING_RULES' | 'GRAPH_REPORT';

const NOT_COMPLETIONS = [
  ...ROWS,
  ...(['CYPHER', 'NATURAL_LANGUAGE', 'SKILLS', 'CODE'] as const),
  ...(['CODING_RULES', 'GRAPH_REPORT'] as const),
];

export type CompletionType = Exclude<AnsweredType, (typeof NOT_COMPLETIONS)[number]>;

export function isQuery(type: SearchType): type is QueryType {
  return type === 'CYPHER' || type === 'NATURAL_LANGUAGE';
}

export function isRow(type: AnsweredType): type is RowType {
  return (ROWS as readonly string[]).includes(type);
}

export function isCompletion(type: AnsweredType): type is CompletionType {
  return !(NOT_COMPLETIONS as readonly string[]).includes(type);
}

export function isAnswered(type: SearchType): type is AnsweredType {
  return type !== CHOOSING;
}
