import type { QaEntry, TraceEntry, UsedGraphElements } from '../domain/session.ts';

/** Entries of sessions as the wire shows them, field for field as they were stored (search-recall.md §4.5, ingest.md §8.1). */
export function presentQa(entry: QaEntry): Readonly<Record<string, unknown>> {
  return {
    time: entry.time,
    question: entry.question,
    context: entry.context,
    answer: entry.answer,
    qa_id: entry.id,
    feedback_text: entry.feedbackText,
    feedback_score: entry.feedbackScore,
    used_graph_element_ids: presentElements(entry.usedGraphElements),
    memify_metadata: entry.memifyMetadata,
    used_session_context_ids: entry.usedContextIds,
  };
}

export function presentTrace(entry: TraceEntry): Readonly<Record<string, unknown>> {
  return {
    trace_id: entry.id,
    origin_function: entry.originFunction,
    status: entry.status,
    memory_query: entry.memoryQuery,
    memory_context: entry.memoryContext,
    method_params: entry.methodParams,
    method_return_value: entry.methodReturnValue,
    error_message: entry.errorMessage,
    session_feedback: entry.sessionFeedback,
  };
}

function presentElements(used: UsedGraphElements | null): Readonly<Record<string, unknown>> | null {
  if (used === null) return null;
  const { nodeIds, edgeIds } = used;
  return {
    ...(nodeIds === undefined ? {} : { node_ids: nodeIds }),
    ...(edgeIds === undefined ? {} : { edge_ids: edgeIds }),
  };
}
