import { z } from 'zod';
import type { NewQa, UsedGraphElements } from '../../common/domain/session.ts';
import { optional } from '../../common/platform/http/schema.ts';
import { appendQa, requirePinnable } from './append-to-session.ts';
import { checkScore, checkSize, type EntryKind, nodeSetSchema, scoreSchema, targetOf } from './entry-kind.ts';
import { requireText } from './session-target.ts';

export const qaSchema = z
  .object({
    type: z.literal('qa'),
    question: z.string(),
    answer: z.string(),
    context: z.string().default(''),
    feedback_text: optional(z.string()).transform((text) => text ?? null),
    feedback_score: scoreSchema,
    used_graph_element_ids: z
      .strictObject({ node_ids: z.array(z.string()).optional(), edge_ids: z.array(z.string()).optional() })
      .nullish(),
    node_set: nodeSetSchema,
  })
  .meta({ id: 'QAEntry' });
type QaInput = z.output<typeof qaSchema>;

/** A question with its answer. */
export const qaKind: EntryKind<QaInput> = {
  needsSession: true,
  check(entry) {
    checkScore(entry.feedback_score);
    checkSize(entry);
    requirePinnable(entry.node_set);
  },
  async store(dependencies, request) {
    const { entry, context } = request;
    const appending = { nodeSets: entry.node_set, context };
    const id = await appendQa(dependencies, targetOf(request), newQa(entry), appending);
    return { status: 'session_stored', entryId: id };
  },
};

function newQa(entry: QaInput): NewQa {
  const { question, answer, context } = entry;
  return {
    question,
    context,
    answer,
    feedbackText: entry.feedback_text,
    feedbackScore: entry.feedback_score,
    usedGraphElements: usedElements(entry.used_graph_element_ids),
    usedContextIds: null,
  };
}

/** Lists that were not given are not given back. */
function usedElements(used: QaInput['used_graph_element_ids']): UsedGraphElements | null {
  if (used === null || used === undefined) return null;
  return {
    ...(used.node_ids === undefined ? {} : { nodeIds: used.node_ids }),
    ...(used.edge_ids === undefined ? {} : { edgeIds: used.edge_ids }),
  };
}

export const feedbackSchema = z
  .object({
    type: z.literal('feedback'),
    qa_id: z.string(),
    feedback_text: optional(z.string()).transform((text) => text ?? null),
    feedback_score: scoreSchema,
  })
  .meta({ id: 'FeedbackEntry' });

/** Feedback about an answer. Improve processes it again each time it is given. */
export const feedbackKind: EntryKind<z.output<typeof feedbackSchema>> = {
  needsSession: true,
  check(entry) {
    requireText('qa_id', entry.qa_id);
    checkScore(entry.feedback_score);
    checkSize(entry);
  },
  async store({ sessionEntries, clock }, request) {
    const { qa_id: id, feedback_text: text, feedback_score: score } = request.entry;
    const { scope, key } = targetOf(request);
    const at = clock.now().toISOString();
    if ((await sessionEntries.giveFeedback(scope, key, id, { text, score, at })) !== null) {
      return { status: 'session_stored', entryId: id };
    }
    return { status: 'errored', entryId: id, error: `add_feedback: QA ${id} not found in session ${key.session}` };
  },
};
