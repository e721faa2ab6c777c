import type { Session } from '../../common/domain/session.ts';
import { isEngramError } from '../../common/kernel/errors.ts';
import { slices } from '../../common/kernel/slices.ts';
import type { AnswerOf, RequestOf } from '../../common/platform/messaging/messages.ts';
import { type CallContext, callerOf } from '../../common/platform/messaging/messenger.ts';
import { sessionEntriesCollection } from '../../common/records/sessions/session-entries.ts';
import { DuplicateKeyError, type Write } from '../../common/storage/ports/document-store.ts';
import type { IngestDependencies } from '../dependencies.ts';
import { requireDatasetStillThere } from '../items/dataset-still-there.ts';
import { boundElsewhere } from './session-target.ts';

/**
 * See `ingest.AppendSession` in proto/. The caller saw the session before it was answered: another one may
 * have bound it meanwhile, and what a session holds is read by the readers of its dataset.
 */
export async function appendTurn(
  dependencies: IngestDependencies,
  { session: name, qaId, datasetId, entry, spending }: RequestOf<'ingest.AppendSession'>,
  context: CallContext,
): Promise<AnswerOf<'ingest.AppendSession'>> {
  const { settings, messenger, sessions, sessionEntries, connections, clock } = dependencies;
  if (!settings.sessions.enabled) return { stored: false };
  const principal = callerOf(context);
  const [dataset = null] =
    datasetId === null
      ? []
      : (await messenger.call('auth.ResolveDatasets', { permission: 'read', partly: true, ids: [datasetId] }, context))
          .datasets;
  const scope = { tenant: principal.tenant };
  const key = { user: principal.id, session: name };
  const found = await sessions.get(scope, key);
  const agent = found?.agent ?? (await connections.ofSession(key.user, name))?.id ?? null;
  const change = { dataset: dataset?.id ?? null, agent, lastActivityAt: clock.now().toISOString() };
  const also = async (): Promise<readonly Write[]> => {
    if (spending === null) return [];
    const { model, embeddingModel, ...spent } = spending;
    return [sessions.spendWrite(key, spent, { model, embeddingModel })];
  };
  const admit = (present: Session | null) => {
    if (dataset !== null && present?.dataset && present.dataset !== dataset.id) throw boundElsewhere(name);
  };
  try {
    await sessionEntries.appendQa(scope, key, qaId, entry, change, { admit, also });
  } catch (error) {
    if (isEngramError(error) && error.wireName === 'InvalidRequestError') return { stored: false };
    if (!isKnown(error)) throw error;
  }
  if (dataset !== null) await requireDatasetStillThere(dependencies, { scope, key, dataset: dataset.id }, 'read');
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

/** See `ingest.NoteOnSession` in proto/. */
export async function noteOnSession(
  { sessionEntries }: IngestDependencies,
  { session: name, notes }: RequestOf<'ingest.NoteOnSession'>,
  context: CallContext,
): Promise<AnswerOf<'ingest.NoteOnSession'>> {
  const principal = callerOf(context);
  const scope = { tenant: principal.tenant };
  const key = { user: principal.id, session: name };
  let noted = 0;
  for (const slice of slices(notes, NOTES_AT_ONCE)) {
    const named = slice.map(({ qaId: id, memifyMetadata, ofFeedback }) => ({ id, memifyMetadata, ofFeedback }));
    noted += await sessionEntries.note(scope, key, named);
  }
  return { noted };
}
