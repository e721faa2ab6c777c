import type { QaEntry, TraceEntry, UsedGraphElements } from '../../common/domain/session.ts';
import type { SessionFinding } from '../lanes/session-lanes.ts';

/** Items of the session lanes, field for field as stored (search-recall.md §6.4). */
export function presentSessionFinding(finding: SessionFinding, explain: boolean): readonly object[] {
  const { session } = finding;
  const origin = {
    lane: finding.lane,
    session_id: session.session,
    user_id: session.user,
    dataset_id: session.dataset,
  };
  if (finding.lane === 'session_context') {
    const { guidance, profile } = finding;
    const why = explain ? { explain: { ...origin, context_ids: guidance.ids } } : {};
    return [{ source: 'session_context', content: guidance.text, context_profile: profile, ...why }];
  }
  const why = (overlap: number) => (explain ? { explain: { ...origin, overlap, unread: finding.unread } } : {});
  return finding.lane === 'session'
    ? finding.found.map(({ entry, overlap }) => ({ ...presentQa(entry), ...why(overlap) }))
    : finding.found.map(({ entry, overlap }) => ({ ...presentTrace(entry), ...why(overlap) }));
}

function presentQa(entry: QaEntry) {
  return {
    source: 'session',
    time: entry.time,
    question: entry.question,
    context: entry.context,
    answer: entry.answer,
    qa_id: entry.id,
    feedback_text: entry.feedbackText,
    feedback_score: entry.feedbackScore,
    used_graph_element_ids: entry.usedGraphElements === null ? null : presentElements(entry.usedGraphElements),
    memify_metadata: entry.memifyMetadata,
    used_session_context_ids: entry.usedContextIds,
  };
}

/** Lists that were not given are not shown. */
function presentElements({ nodeIds, edgeIds }: UsedGraphElements) {
  return {
    ...(nodeIds === undefined ? {} : { node_ids: nodeIds }),
    ...(edgeIds === undefined ? {} : { edge_ids: edgeIds }),
  };
}

function presentTrace(trace: TraceEntry) {
  return {
    source: 'trace',
    trace_id: trace.id,
    origin_function: trace.originFunction,
    status: trace.status,
    memory_query: trace.memoryQuery,
    memory_context: trace.memoryContext,
    method_params: trace.methodParams,
    method_return_value: trace.methodReturnValue,
    error_message: trace.errorMessage,
    session_feedback: trace.sessionFeedback,
  };
}
