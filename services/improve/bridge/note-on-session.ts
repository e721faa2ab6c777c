import type { SessionKey } from '../../common/domain/session.ts';
import { noteOnSession as noteMethod, type SessionNote } from '../../common/platform/messaging/methods/ingest.ts';
import type { ImproveDependencies } from '../dependencies.ts';
import type { ImprovePass } from '../stage.ts';

/**
 * Tells ingest, which owns sessions, what was made of answers of the caller. How many were noted: those that are gone, or
 * have newer feedback, are not, and are no error.
 */
export async function noteOnSession(
  { messenger }: Pick<ImproveDependencies, 'messenger'>,
  { context, signal }: Pick<ImprovePass, 'context' | 'signal'>,
  { session }: SessionKey,
  notes: readonly SessionNote[],
): Promise<number> {
  return (await messenger.call(noteMethod, { session, notes }, { ...context, signal })).noted;
}
