/** Every value that the wire knows; those without a retriever yet answer 400. */
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

/** Types with a retriever of their own. */
export const ANSWERED_TYPES = [
  'CHUNKS',
  'CHUNKS_LEXICAL',
  'SUMMARIES',
  'RAG_COMPLETION',
  'HYBRID_COMPLETION',
  'GRAPH_COMPLETION',
  'TRIPLET_COMPLETION',
] as const;
export type AnsweredType = (typeof ANSWERED_TYPES)[number];

export type CompletionType = Exclude<AnsweredType, 'CHUNKS' | 'CHUNKS_LEXICAL' | 'SUMMARIES'>;

export function isCompletion(type: AnsweredType): type is CompletionType {
  return type !== 'CHUNKS' && type !== 'CHUNKS_LEXICAL' && type !== 'SUMMARIES';
}

export function isAnswered(type: SearchType): type is AnsweredType {
  return (ANSWERED_TYPES as readonly string[]).includes(type);
}
