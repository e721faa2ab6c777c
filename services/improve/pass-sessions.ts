import { type EntryCounts, type Session, type SessionKey, sessionDocumentId } from '../common/domain/session.ts';
import type { SessionFeedback } from '../common/domain/session-context.ts';
import { clientMessage, isEngramError } from '../common/kernel/errors.ts';
import type { Scope } from '../common/kernel/scope.ts';
import type { SessionNote } from '../common/platform/messaging/messages.ts';
import type { MessageCaller } from '../common/platform/messaging/messenger.ts';
import type { Logger } from '../common/ports/logger.ts';
import type { SessionWatermarks, Watermarks } from '../common/records/improve/watermarks.ts';
import type { SessionContexts } from '../common/records/sessions/session-context.ts';
import type { Sessions } from '../common/records/sessions/sessions.ts';
import { type ImprovePass, isBudgetError, type StageOutcome } from './model.ts';

interface SessionReads {
  readonly sessions: Sessions;
}

/** Returns the scope of the pass's sessions: the caller's tenant, whichever tenant the dataset has. */
export function sessionScope({ principal }: ImprovePass): Scope {
  return { tenant: principal.tenant };
}

/** Reads the existing sessions of the pass, in its order. */
export function sessionsOf({ sessions }: SessionReads, pass: ImprovePass): Promise<readonly Session[]> {
  return pass.reads.once('sessions', () => sessions.getMany(sessionScope(pass), pass.sessions));
}

/** Reads one session of the pass; null when it does not exist. */
export async function sessionOf(deps: SessionReads, pass: ImprovePass, key: SessionKey): Promise<Session | null> {
  const found = await sessionsOf(deps, pass);
  return found.find(({ user, session }) => user === key.user && session === key.session) ?? null;
}

/** Reads the feedback in remarks of a session after a time; all of it for null. */
export function remarksOf(
  { contexts }: { readonly contexts: SessionContexts },
  pass: ImprovePass,
  key: SessionKey,
  after: string | null,
): Promise<readonly SessionFeedback[]> {
  const name = `remarks of ${sessionDocumentId(key)} after ${after}`;
  return pass.reads.once(name, () => contexts.feedback(sessionScope(pass), key, after));
}

/** Reads how far the entries of the pass's sessions are processed. */
export function watermarksOf(
  { watermarks }: { readonly watermarks: Watermarks },
  pass: ImprovePass,
): Promise<SessionWatermarks> {
  return pass.reads.once('watermarks', () => watermarks.ofMany(sessionScope(pass), pass.sessions));
}

interface Notes {
  readonly messenger: MessageCaller;
}

/**
 * Notes on answers of the caller what was made of them; ingest owns sessions and writes it. Returns how many were noted:
 * answers that are gone or have newer feedback are not, which is no error.
 */
export async function noteOnSession(
  { messenger }: Notes,
  { context, signal }: ImprovePass,
  { session }: SessionKey,
  notes: readonly SessionNote[],
): Promise<number> {
  return (await messenger.call('ingest.NoteOnSession', { session, notes }, { ...context, signal })).noted;
}

/** Reports to ingest how many entries are in the memory of a dataset; from then on they may expire. */
export async function reportPersisted(
  { messenger }: Notes,
  { context, signal }: ImprovePass,
  { session }: SessionKey,
  persisted: Partial<EntryCounts>,
): Promise<void> {
  const request = { session, notes: [], bridged: { qas: 0, traces: 0, ...persisted } };
  await messenger.call('ingest.NoteOnSession', request, { ...context, signal });
}

interface SessionFailures {
  readonly count: number;
  /** Message of the last failure for clients; null when there is none. */
  readonly error: string | null;
}

/**
 * Works on each session of the pass, one after the other. A failure does not stop the next session; an exhausted budget and
 * an abort stop everything.
 */
export async function eachSession(
  { logger, stage }: { readonly logger: Logger; readonly stage: string },
  pass: ImprovePass,
  work: (key: SessionKey) => Promise<void>,
): Promise<SessionFailures> {
  const keys = new Map(pass.sessions.map((key) => [`${key.user}/${key.session}`, key]));
  let count = 0;
  let error: string | null = null;
  for (const key of keys.values()) {
    pass.signal.throwIfAborted();
    try {
      await work(key);
    } catch (reason) {
      pass.signal.throwIfAborted();
      if (isBudgetError(reason)) throw reason;
      logger.warn('improve.session.failed', { stage, dataset: pass.dataset.id, error: reason });
      count += 1;
      error = isEngramError(reason)
        ? `${reason.wireName}: ${clientMessage(reason)}`
        : 'CogneeSystemError: The session could not be processed.';
    }
  }
  return { count, error };
}

/** Makes the outcome of a stage: completed, or errored with the last failure. */
export function outcomeOf(failures: SessionFailures, counts: Readonly<Record<string, number>>): StageOutcome {
  if (failures.error === null) return { status: 'completed', counts };
  return { status: 'errored', error: failures.error, counts };
}
