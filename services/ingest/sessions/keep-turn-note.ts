import type { AnswerOf, RequestOf } from '../../common/platform/messaging/messages.ts';
import { type CallContext, callerOf } from '../../common/platform/messaging/messenger.ts';
import type { IngestDependencies } from '../dependencies.ts';

/** See `ingest.NoteOnTurn` in proto/. */
export async function keepTurnNote(
  { settings, sessions, sessionEntries, sessionContexts: contexts, clock, ids }: IngestDependencies,
  { session: name, note }: RequestOf<'ingest.NoteOnTurn'>,
  context: CallContext,
): Promise<AnswerOf<'ingest.NoteOnTurn'>> {
  if (!settings.sessions.enabled) return { noted: false };
  const principal = callerOf(context);
  const scope = { tenant: principal.tenant };
  const key = { user: principal.id, session: name };
  if ((await sessions.get(scope, key)) === null) return { noted: false };
  const at = clock.now().toISOString();
  const { feedback, contextRatings, lessons, servedIds } = note;
  if (feedback !== null && (await sessionEntries.qa(scope, key, feedback.qaId)) !== null) {
    await contexts.addFeedback(scope, key, {
      id: feedback.id,
      createdAt: at,
      rawText: feedback.text,
      referencedQaIds: [feedback.qaId],
      referencedQaRating: feedback.rating,
      influencingContextIds: feedback.contextIds,
    });
  }
  const ratings = new Map(Object.entries(contextRatings));
  if (ratings.size > 0) await contexts.rate(scope, key, ratings);
  const sources = feedback === null ? [] : [feedback.id];
  const learned = lessons.map((lesson) => ({ ...lesson, feedbackIds: sources }));
  if (learned.length > 0) await contexts.learn(scope, key, learned, { newId: () => ids.uuid(), at });
  if (servedIds.length > 0) await contexts.served(scope, key, servedIds, at);
  return { noted: true };
}
