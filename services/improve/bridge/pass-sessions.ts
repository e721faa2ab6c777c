import { type Session, type SessionKey, sessionDocumentId } from '../../common/domain/session.ts';
import type { SessionFeedback } from '../../common/domain/session-context.ts';
import type { SessionWatermarks, Watermarks } from '../../common/records/improve/watermarks.ts';
import type { SessionContexts } from '../../common/records/sessions/session-context.ts';
import type { Sessions } from '../../common/records/sessions/sessions.ts';
import { sessionScope } from '../learning/each-session.ts';
import type { ImprovePass } from '../stage.ts';

type SessionReads = { readonly sessions: Pick<Sessions, 'getMany'> };

/** Those of the pass that are there, in its order. */
export function sessionsOf({ sessions }: SessionReads, pass: ImprovePass): Promise<readonly Session[]> {
  return pass.reads.once('sessions', () => sessions.getMany(sessionScope(pass), pass.sessions));
}

/** Null when it is not there. */
export async function sessionOf(deps: SessionReads, pass: ImprovePass, key: SessionKey): Promise<Session | null> {
  const found = await sessionsOf(deps, pass);
  return found.find(({ user, session }) => user === key.user && session === key.session) ?? null;
}

/** What users said in passing in a session of the pass since then; all of it for null. */
export function remarksOf(
  { contexts }: { readonly contexts: Pick<SessionContexts, 'feedback'> },
  pass: ImprovePass,
  key: SessionKey,
  after: string | null,
): Promise<readonly SessionFeedback[]> {
  const name = `remarks of ${sessionDocumentId(key)} after ${after}`;
  return pass.reads.once(name, () => contexts.feedback(sessionScope(pass), key, after));
}

/** Where improve has got to in the sessions of the pass. */
export function watermarksOf(
  { watermarks }: { readonly watermarks: Pick<Watermarks, 'ofMany'> },
  pass: ImprovePass,
): Promise<SessionWatermarks> {
  return pass.reads.once('watermarks', () => watermarks.ofMany(sessionScope(pass), pass.sessions));
}
