import type { NewQa, NewTrace, Session } from '../../common/domain/session.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import type { AppendOptions } from '../../common/records/sessions/session-entries.ts';
import type { SessionChange } from '../../common/records/sessions/sessions.ts';
import { DuplicateKeyError } from '../../common/storage/ports/document-store.ts';
import type { IngestDependencies } from '../dependencies.ts';
import { requireDatasetStillThere } from '../items/dataset-still-there.ts';
import { boundElsewhere, type SessionTarget } from './session-target.ts';

interface Appending extends Pick<AppendOptions, 'also'> {
  /** Pins the session's; null and empty pin nothing. */
  readonly nodeSets: readonly string[] | null;
  /** With its `operationId` an entry that an earlier attempt has appended is not appended again. */
  readonly context: CallContext;
}

/**
 * Returns the id of the entry; durable when it resolves. Errors: `SessionNodeSetConflictError`, `InvalidRequestError` for a
 * session bound meanwhile, `PermissionDeniedError` for a dataset that was forgotten meanwhile.
 */
export async function appendQa(
  dependencies: IngestDependencies,
  target: SessionTarget,
  entry: NewQa,
  appending: Appending,
): Promise<string> {
  const { change, options } = await prepared(dependencies, target, appending);
  const { scope, key } = target;
  return appendOnce(dependencies, target, appending, (id) =>
    dependencies.sessionEntries.appendQa(scope, key, id, entry, change, options),
  );
}

export async function appendTrace(
  dependencies: IngestDependencies,
  target: SessionTarget,
  entry: NewTrace,
  appending: Appending,
): Promise<string> {
  const { change, options } = await prepared(dependencies, target, appending);
  const { scope, key } = target;
  const counted = { ...change, errors: entry.status === 'error' ? 1 : 0 };
  return appendOnce(dependencies, target, appending, (id) =>
    dependencies.sessionEntries.appendTrace(scope, key, id, entry, counted, options),
  );
}

async function appendOnce(
  dependencies: IngestDependencies,
  { scope, key, dataset }: SessionTarget,
  { context: { operationId } }: Appending,
  append: (id: string) => Promise<unknown>,
): Promise<string> {
  const id = operationId ?? dependencies.ids.uuid();
  try {
    await append(id);
  } catch (error) {
    const isThere = error instanceof DuplicateKeyError && error.index[0] === 'id' && operationId !== undefined;
    if (!isThere) throw error;
  }
  await requireDatasetStillThere(dependencies, { scope, key, dataset: dataset.id }, 'write');
  return id;
}

async function prepared(
  { connections, clock }: IngestDependencies,
  { key, session, dataset }: SessionTarget,
  { nodeSets, also }: Appending,
): Promise<{ readonly change: SessionChange; readonly options: AppendOptions }> {
  const pin = nodeSets === null || nodeSets.length === 0 ? null : [...new Set(nodeSets)].sort();
  const agent = session?.agent ?? (await connections.ofSession(key.user, key.session))?.id ?? null;
  return {
    change: { dataset: dataset.id, agent, nodeSets: pin, lastActivityAt: clock.now().toISOString() },
    options: {
      admit(present) {
        if (present?.dataset && present.dataset !== dataset.id) throw boundElsewhere(key.session);
        if (pin !== null) requirePin(present, pin);
      },
      ...(also === undefined ? {} : { also }),
    },
  };
}

/** It is kept with the session, which is read with every entry. */
const MAX_PIN_LENGTH = 64 * 1024;

/** Before anything is made: `InvalidNodeSetError` for names that are too long together. */
export function requirePinnable(nodeSets: readonly string[] | null): void {
  if (nodeSets === null || JSON.stringify(nodeSets).length <= MAX_PIN_LENGTH) return;
  throw engramError(
    'InvalidNodeSetError',
    `The names in a session's node_set have at most ${MAX_PIN_LENGTH} characters together.`,
  );
}

function requirePin(session: Session | null, requested: readonly string[]): void {
  const pinned = session?.nodeSets ?? null;
  if (pinned === null || JSON.stringify(pinned) === JSON.stringify(requested)) return;
  throw engramError(
    'SessionNodeSetConflictError',
    `A session's node_set cannot change once pinned (pinned: ${shown(pinned)}, requested: ${shown(requested)}); start a new session`,
  );
}

/** Prints a list like the reference. */
function shown(names: readonly string[]): string {
  return `[${names.map((name) => `'${name}'`).join(', ')}]`;
}
