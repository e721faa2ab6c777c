import type { SearchEvent } from '../../views/search-events.ts';

/** Presents a question or a rating (search-recall.md §8.1). */
export function presentSearchEvent({ session, entry, kind }: SearchEvent): Readonly<Record<string, unknown>> {
  const { id, time, question, answer, usedGraphElements, feedbackScore, feedbackText, memifyMetadata } = entry;
  return {
    session_id: session.session,
    qa_id: id,
    time,
    question,
    node_ids: usedGraphElements?.nodeIds ?? [],
    edge_ids: usedGraphElements?.edgeIds ?? [],
    kind,
    ...(kind === 'search'
      ? { answer }
      : {
          rating: feedbackScore,
          feedback_text: feedbackText,
          applied: memifyMetadata?.['feedback_weights_applied'] === true,
        }),
  };
}
