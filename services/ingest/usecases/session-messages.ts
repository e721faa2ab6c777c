import type { Scope } from '../../common/domain/scope.ts';
import type { EntryCounts, SessionKey } from '../../common/domain/session.ts';
import { type CallContext, callerOf } from '../../common/messaging/messenger.ts';
import { resolveDatasets } from '../../common/messaging/methods/auth.ts';
import type {
  AppendSessionRequest,
  AppendSessionResponse,
  NoteOnSessionRequest,
  NoteOnSessionResponse,
} from '../../common/messaging/methods/ingest.ts';
import { DuplicateKeyError, VersionConflictError, type Write } from '../../common/ports/document-store.ts';
import { sessionEntriesCollection } from '../../common/repositories/session-entries.ts';
import type { IngestDependencies } from './dependencies.ts';

/** See `appendSession` in common/messaging/methods/ingest.ts. A turn is stored whatever dataset the session is bound to. */
export async function appendTurn(
  dependencies: IngestDependencies,
  { session: name, qaId, datasetId, entry, spending }: AppendSessionRequest,
  context: CallContext,
): Promise<AppendSessionResponse> {
  const { settings, messenger, sessions, sessionEntries, connections, clock } = dependencies;
  if (!settings.sessions.enabled) return { stored: false };
  const principal = callerOf(context);
  const [dataset = null] =
    datasetId === null
      ? []
      : (await messenger.call(resolveDatasets, { permission: 'read', ids: [datasetId] }, context)).datasets;
  const scope = { tenant: principal.tenant };
  const key = { user: principal.id, session: name };
  const found = await sessions.get(scope, key);
  const agent = found?.agent ?? (await connections.ofSession(key.user, name))?.id ?? null;
  const change = { dataset: dataset?.id ?? null, agent, lastActivityAt: clock.now().toISOString() };
  const also = async (): Promise<readonly Write[]> => {
    if (spending === null) return [];
    const { model, ...spent } = spending;
    return [sessions.spendWrite(key, spent, model)];
  };
  try {
    await sessionEntries.appendQa(scope, key, qaId, entry, change, { also });
  } catch (error) {
    if (!isKnown(error)) throw error;
  }
  return { stored: true };
}

/** The message came before, and only its answer was lost. */
function isKnown(error: unknown): boolean {
  return (
    error instanceof DuplicateKeyError && error.collection === sessionEntriesCollection.name && error.index[0] === 'id'
  );
}

/** Notes of one commit. */
const NOTES_AT_ONCE = 100;

/** See `noteOnSession` in common/messaging/methods/ingest.ts. */
export async function noteOnSession(
  { sessionEntries, sessions, store }: Pick<IngestDependencies, 'sessionEntries' | 'sessions' | 'store'>,
  { session: name, notes, bridged }: NoteOnSessionRequest,
  context: CallContext,
): Promise<NoteOnSessionResponse> {
  const principal = callerOf(context);
  const scope = { tenant: principal.tenant };
  const key = { user: principal.id, session: name };
  let noted = 0;
  for (let start = 0; start < notes.length; start += NOTES_AT_ONCE) {
    const slice = notes.slice(start, start + NOTES_AT_ONCE);
    const named = slice.map(({ qaId: id, memifyMetadata, ofFeedback }) => ({ id, memifyMetadata, ofFeedback }));
    noted += await sessionEntries.note(scope, key, named);
  }
  if (bridged !== null) while (!(await isBridged({ sessions, store }, { scope, key, bridged })));
  return { noted };
}

/** False when the session changed meanwhile. What is known to be bridged never becomes less. */
async function isBridged(
  { sessions, store }: Pick<IngestDependencies, 'sessions' | 'store'>,
  { scope, key, bridged }: { readonly scope: Scope; readonly key: SessionKey; readonly bridged: EntryCounts },
): Promise<boolean> {
  const session = await sessions.get(scope, key);
  if (session === null) return true;
  const qas = Math.min(session.qaCount, Math.max(session.bridged.qas, bridged.qas));
  const traces = Math.min(session.traceCount, Math.max(session.bridged.traces, bridged.traces));
  return isCommitted(store.commit(scope, [sessions.bridgeWrite(session, { qas, traces })]));
}

async function isCommitted(commit: Promise<unknown>): Promise<boolean> {
  try {
    await commit;
    return true;
  } catch (error) {
    if (error instanceof VersionConflictError) return false;
    throw error;
  }
}
