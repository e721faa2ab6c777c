import { engramError } from '../../common/kernel/errors.ts';

/** Enrichment tasks that memify and improve take by name (cognify-improve.md §4); any of them in either list. */
export const MEMIFY_TASKS = [
  'extract_subgraph',
  'extract_subgraph_chunks',
  'extract_user_sessions',
  'extract_agent_trace_feedbacks',
  'detect_entity_duplicates',
  'extract_code_docs',
  'get_triplet_datapoints',
  'cognify_session',
  'cognify_agent_trace_feedback',
  'apply_feedback_weights',
  'merge_entity_duplicates',
  'index_data_points',
  'cognify_code_doc_chunks',
  'add_data_points',
  'add_code_doc_edges',
] as const;
export type MemifyTask = (typeof MEMIFY_TASKS)[number];

/** Tasks that are done elsewhere or do not apply, with the reason. */
const UNAVAILABLE: Partial<Record<MemifyTask, string>> = {
  detect_entity_duplicates: 'entities are resolved while a dataset is cognified',
  merge_entity_duplicates: 'entities are resolved while a dataset is cognified',
  extract_code_docs: 'there is no code graph',
  cognify_code_doc_chunks: 'there is no code graph',
  add_code_doc_edges: 'there is no code graph',
};

/** Throws `CogneeValidationError` for an unknown or unavailable task name. */
export function requireKnownTasks(names: readonly string[]): void {
  const unknown = names.find((name) => !(MEMIFY_TASKS as readonly string[]).includes(name));
  if (unknown === undefined) {
    requireAvailable(names);
    return;
  }
  throw engramError(
    'CogneeValidationError',
    `Unknown memify task name: '${unknown}'. Supported task names: ${MEMIFY_TASKS.join(', ')}.`,
  );
}

function requireAvailable(names: readonly string[]): void {
  for (const name of names) {
    const why = UNAVAILABLE[name as MemifyTask];
    if (why !== undefined)
      throw engramError('CogneeValidationError', `Memify task '${name}' is not available: ${why}.`);
  }
}
