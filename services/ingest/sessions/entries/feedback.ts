import { z } from 'zod';
import { optional } from '../../../common/platform/http/schema.ts';
import { requireText } from '../session-target.ts';
import type { EntryKind } from './entry-kind.ts';
import { checkScore, checkSize, scoreSchema, targetOf } from './session-checks.ts';

export const feedbackSchema = z
  .object({
    type: z.literal('feedback'),
    qa_id: z.string(),
    feedback_text: optional(z.string()).transform((text) => text ?? null),
    feedback_score: scoreSchema,
  })
  .meta({ id: 'FeedbackEntry' });

/** What somebody thought of an answer. Improve works through it again each time it is given. */
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
