/** The stages of improve, in the order in which they run (specification, Improve). */
export const STAGE_NAMES = [
  'feedback_weights',
  'persist_session_qa',
  'persist_agent_traces',
  'extract_agent_context',
  'distill_sessions',
  'update_user_preferences',
  'build_truth_subspace',
  'triplet_enrichment',
  'global_context_index',
] as const;
export type StageName = (typeof STAGE_NAMES)[number];

/** Without it nothing of a session would reach the graph: it cannot be switched off. */
export const FATAL_STAGE: StageName = 'persist_session_qa';
