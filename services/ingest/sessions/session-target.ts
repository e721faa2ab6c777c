import type { Session, SessionKey } from '../../common/domain/session.ts';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import type { Scope } from '../../common/kernel/scope.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import type { IngestDependencies } from '../dependencies.ts';
import { type DatasetSelection, targetDataset } from '../items/target-dataset.ts';

/** A session of the principal, and the dataset that it is bound to or will be by the next entry. */
export interface SessionTarget {
  readonly scope: Scope;
  readonly key: SessionKey;
  /** The session as it was found; null: there is none yet. */
  readonly session: Session | null;
  readonly dataset: DatasetRef;
}

/** Ids of sessions are kept as they are, and looked for. */
const MAX_SESSION_ID_LENGTH = 1000;

export interface SessionSelection extends DatasetSelection {
  readonly session: string;
  /** A name that stands for whatever the session is bound to. */
  readonly defaultName?: string;
  /** Default true: a dataset of a new name. */
  readonly createMissing?: boolean;
}

/**
 * The session with its dataset, on which the principal has `write`; a new name is created. A session that is bound to one
 * dataset takes no other: `InvalidRequestError`. Other errors: `SessionParameterValidationError`, those of `targetDataset`.
 */
export async function sessionTarget(
  { messenger, sessions }: IngestDependencies,
  principal: Principal,
  { session: name, defaultName, createMissing = true, ...selection }: SessionSelection,
  context: CallContext,
): Promise<SessionTarget> {
  requireText('session_id', name);
  if (name.length > MAX_SESSION_ID_LENGTH || !name.isWellFormed()) {
    throw engramError(
      'SessionParameterValidationError',
      `session_id must be Unicode text of at most ${MAX_SESSION_ID_LENGTH} characters`,
    );
  }
  const scope = { tenant: principal.tenant };
  const key = { user: principal.id, session: name };
  const session = await sessions.get(scope, key);
  const bound = session?.dataset ?? null;
  if (bound === null) {
    const options = { permission: 'write', createMissing, context } as const;
    return { scope, key, session, dataset: await targetDataset(messenger, principal, selection, options) };
  }
  if (selection.id && selection.id !== bound) throw boundElsewhere(name);
  const dataset = await targetDataset(messenger, principal, { id: bound }, { permission: 'write', context });
  const named = selection.id ? dataset.name : (selection.name ?? dataset.name);
  if (named !== dataset.name && named !== defaultName) throw boundElsewhere(name);
  return { scope, key, session, dataset };
}

export function boundElsewhere(session: string): Error {
  return engramError(
    'InvalidRequestError',
    `The session '${session.slice(0, 100)}' belongs to another dataset; name that one, or start a new session.`,
  );
}

/** `SessionParameterValidationError` for what is blank. */
export function requireText(parameter: string, value: string): void {
  if (value.trim() !== '') return;
  throw engramError('SessionParameterValidationError', `${parameter} must be a non-empty string`);
}

/** Nothing of a session is written without session memory, and 503 says so: the client may repeat the request elsewhere. */
export function requireSessionMemory({ settings }: IngestDependencies): void {
  if (settings.sessions.enabled) return;
  throw new HttpError(503, { error: 'Remember service temporarily unavailable.' });
}
