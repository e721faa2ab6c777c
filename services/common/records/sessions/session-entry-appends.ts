import {
  type EntryCounts,
  type NewQa,
  type NewTrace,
  type QaEntry,
  type Session,
  type SessionKey,
  sessionDocumentId,
} from '../../domain/session.ts';
import type { Scope } from '../../kernel/scope.ts';
import { createKeyedQueue } from '../../platform/async/keyed-queue.ts';
import { retry } from '../../platform/async/retry.ts';
import { isWriteConflict } from '../../platform/async/retry-on-conflict.ts';
import { type DocumentStore, DuplicateKeyError, insert, type Write } from '../../storage/ports/document-store.ts';
import { type EntryKind, sessionEntriesCollection, toJson } from './session-entry-documents.ts';
import type { SessionChange, Sessions } from './sessions.ts';

/** Checks and writes beside an append. Both may be called again, with the session as it is then. */
export interface AppendOptions {
  /** Throws what the append is refused with. Null: the entry would open the session. */
  admit?(session: Session | null): void;
  /** To be committed with the entry; their conflicts repeat the append. */
  also?(): Promise<readonly Write[]>;
}

export type NewQaEntry = NewQa & Pick<QaEntry, 'memifyMetadata'>;

interface NewEntry<New extends NewTrace | NewQaEntry> {
  readonly id: string;
  readonly kind: EntryKind;
  readonly entry: New;
  readonly change: SessionChange;
  readonly options: AppendOptions;
}

type AppendEntry = <New extends NewTrace | NewQaEntry, Entry>(
  scope: Scope,
  key: SessionKey,
  entry: NewEntry<New>,
) => Promise<Entry>;

/** Appends of this process wait for each other, so that only other processes interfere. */
const MAX_ATTEMPTS = 100;

/** Entries of one session each take the next number: those of this process wait for each other. */
export function createAppend(store: DocumentStore, sessions: Sessions): AppendEntry {
  const inTurn = createKeyedQueue();
  return (scope, key, entry) =>
    inTurn(`${scope.tenant}/${sessionDocumentId(key)}`, () => append(store, sessions, { scope, key, entry }));
}

interface Append<New extends NewTrace | NewQaEntry> {
  readonly scope: Scope;
  readonly key: SessionKey;
  readonly entry: NewEntry<New>;
}

async function append<New extends NewTrace | NewQaEntry, Entry>(
  store: DocumentStore,
  sessions: Sessions,
  { scope, key, entry: { id, kind, entry, change, options } }: Append<New>,
): Promise<Entry> {
  const hasFeedback = 'feedbackScore' in entry && (entry.feedbackScore !== null || entry.feedbackText !== null);
  const counter = kind === 'qa' ? 'qaCount' : 'traceCount';
  const time = change.lastActivityAt;
  const appendNext = async (): Promise<Entry> => {
    const session = await sessions.get(scope, key);
    options.admit?.(session);
    const number = (session?.[counter] ?? 0) + 1;
    const feedbackNumber = hasFeedback ? (session?.feedbackCount ?? 0) + 1 : null;
    const grow =
      session === null
        ? [sessions.openWrite(opened(key, counter, change, hasFeedback))]
        : [
            sessions.growWrite(session, counter, change),
            ...(hasFeedback ? [sessions.growWrite(session, 'feedbackCount', { lastActivityAt: time })] : []),
          ];
    const document = { session: sessionDocumentId(key), kind, number, time, feedbackNumber, entry: toJson(entry) };
    const added = insert(sessionEntriesCollection, id, document);
    await store.commit(scope, [...grow, added, ...((await options.also?.()) ?? [])]);
    return { ...entry, id, number, time, ...(kind === 'qa' ? { feedbackNumber } : {}) } as Entry;
  };
  const isRetryable = (error: unknown) => isWriteConflict(error) && !isKnownId(error);
  return retry(appendNext, { isRetryable, attempts: MAX_ATTEMPTS });
}

function isKnownId(error: unknown): boolean {
  if (!(error instanceof DuplicateKeyError)) return false;
  return error.collection === sessionEntriesCollection.name && error.index[0] === 'id';
}

const NOTHING_SPENT = { tokensIn: 0, tokensOut: 0, embeddingTokens: 0 };
const NONE: EntryCounts = { qas: 0, traces: 0 };

function opened(key: SessionKey, counter: 'qaCount' | 'traceCount', change: SessionChange, hasFeedback: boolean) {
  const { dataset = null, agent = null, nodeSets = null, label = null, lastModel = null, errors = 0 } = change;
  const { lastActivityAt } = change;
  return {
    ...key,
    dataset,
    agent,
    nodeSets,
    label,
    lastModel,
    startedAt: lastActivityAt,
    lastActivityAt,
    qaCount: 0,
    traceCount: 0,
    errorCount: errors,
    feedbackCount: hasFeedback ? 1 : 0,
    usage: NOTHING_SPENT,
    expired: NONE,
    [counter]: 1,
  };
}
