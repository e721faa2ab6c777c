import type { SessionKey } from '../../common/domain/session.ts';
import { noteOnSession as noteMethod, type SessionNote } from '../../common/messaging/methods/ingest.ts';
import type { ImproveDependencies } from '../dependencies.ts';
import type { ImprovePass } from '../stage.ts';

/** Tells ingest, which owns sessions, what was made of answers of the caller. A session that is gone is no error. */
export async function noteOnSession(
  { messenger }: Pick<ImproveDependencies, 'messenger'>,
  { context, signal }: Pick<ImprovePass, 'context' | 'signal'>,
  { session }: SessionKey,
  notes: readonly SessionNote[],
): Promise<void> {
  await messenger.call(noteMethod, { session, notes }, { ...context, signal });
}
