import {
  type EntryCounts,
  type NewQa,
  type NewTrace,
  type QaEntry,
  type SessionKey,
  sessionDocumentId,
  type TraceEntry,
} from '../../domain/session.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Scope } from '../../kernel/scope.ts';
import { retryOnConflict } from '../../platform/async/retry-on-conflict.ts';
import {
  type DocumentStore,
  type Filter,
  remove,
  removeWhere,
  replace,
  type Stored,
  type Write,
} from '../../storage/ports/document-store.ts';
import { repository } from '../base/repository.ts';
import { votesOfAnswersWrite, votesOfSessionWrite, votesUpToWrite } from '../improve/element-weights.ts';
import { type AppendOptions, createAppend, type NewQaEntry } from './session-entry-appends.ts';
import {
  changedDocument,
  sessionEntriesCollection as collection,
  type EntryDocument,
  type EntryKind,
  entryOf,
  forgottenDocument,
  isQaOf,
  labelOf,
} from './session-entry-documents.ts';
import { type SessionChange, type Sessions, sessionsCollection } from './sessions.ts';

export type { AppendOptions } from './session-entry-appends.ts';
export { sessionEntriesCollection } from './session-entry-documents.ts';

export type SessionEntries = ReturnType<typeof createSessionEntries>;

/** Questions with answers and steps of agents: append-only but for feedback and what improve notes on an answer. */
export function createSessionEntries(store: DocumentStore, sessions: Sessions) {
  const append = createAppend(store, sessions);
  return {
    ...createEntryReads(store),
    ...createQaChanges(store, sessions),
    /** Durable when it resolves. Opens the session when it is the first entry; concurrent entries get numbers one after the other. */
    appendQa: (
      scope: Scope,
      key: SessionKey,
      id: string,
      qa: NewQa,
      change: SessionChange,
      options: AppendOptions = {},
    ) =>
      append<NewQaEntry, QaEntry>(scope, key, {
        id,
        kind: 'qa',
        options,
        change: { ...change, label: labelOf(qa.question) },
        entry: { ...qa, memifyMetadata: null },
      }),
    appendTrace: (
      scope: Scope,
      key: SessionKey,
      id: string,
      entry: NewTrace,
      change: SessionChange,
      options: AppendOptions = {},
    ) => append<NewTrace, TraceEntry>(scope, key, { id, kind: 'trace', entry, change, options }),
    /** The session, its entries and the votes of its answers. Great numbers of entries go in parts: `removeEntries` first. */
    removeWrites(key: SessionKey): readonly Write[] {
      const id = sessionDocumentId(key);
      return [remove(sessionsCollection, id), removeWhere(collection, { session: id }), votesOfSessionWrite(key)];
    },
    /** The oldest of each kind, as many as are said, with their votes. Without a number all entries, and no votes. */
    async removeEntries(scope: Scope, key: SessionKey, oldest?: EntryCounts): Promise<void> {
      const session = sessionDocumentId(key);
      // One commit each: great numbers go in parts.
      if (oldest === undefined) {
        await store.commit(scope, [removeWhere(collection, { session })]);
        return;
      }
      if (oldest.qas > 0) await store.commit(scope, [votesUpToWrite(key, oldest.qas)]);
      for (const [kind, count] of [['qa', oldest.qas] as const, ['trace', oldest.traces] as const]) {
        if (count > 0)
          await store.commit(scope, [removeWhere(collection, { session, kind, number: { atMost: count } })]);
      }
    },
  };
}

function createEntryReads(store: DocumentStore) {
  const records = repository(store, collection, (stored) => stored);
  const page = async <Entry>(
    scope: Scope,
    where: Filter<EntryDocument>,
    { by, limit, isNewest }: { by: 'number' | 'feedbackNumber'; limit: number; isNewest: boolean },
  ): Promise<readonly Entry[]> => {
    const found = await records.firstOnes(scope, { where, sort: [{ field: by, descending: isNewest }] }, limit);
    const entries = found.map(entryOf<Entry>);
    return isNewest ? entries.toReversed() : entries;
  };
  const after = <Entry>(scope: Scope, key: SessionKey, kind: EntryKind, number: number, limit: number) =>
    page<Entry>(
      scope,
      { session: sessionDocumentId(key), kind, number: { greaterThan: number } },
      { by: 'number', limit, isNewest: false },
    );
  const last = <Entry>(scope: Scope, key: SessionKey, kind: EntryKind, limit: number) =>
    page<Entry>(scope, { session: sessionDocumentId(key), kind }, { by: 'number', limit, isNewest: true });
  return {
    async qa(scope: Scope, key: SessionKey, id: string): Promise<QaEntry | null> {
      const found = await store.get(scope, collection, id);
      return found !== null && isQaOf(found, key) ? entryOf<QaEntry>(found) : null;
    },
    /** Entries with greater numbers, in order. */
    qasAfter: (scope: Scope, key: SessionKey, number: number, limit: number) =>
      after<QaEntry>(scope, key, 'qa', number, limit),
    tracesAfter: (scope: Scope, key: SessionKey, number: number, limit: number) =>
      after<TraceEntry>(scope, key, 'trace', number, limit),
    /** Answers whose last feedback has a greater number, in the order of their feedback. */
    feedbackAfter: (scope: Scope, key: SessionKey, number: number, limit: number) =>
      page<QaEntry>(
        scope,
        { session: sessionDocumentId(key), feedbackNumber: { greaterThan: number } },
        { by: 'feedbackNumber', limit, isNewest: false },
      ),
    /** The newest ones, in order. */
    lastQas: (scope: Scope, key: SessionKey, limit: number) => last<QaEntry>(scope, key, 'qa', limit),
    lastTraces: (scope: Scope, key: SessionKey, limit: number) => last<TraceEntry>(scope, key, 'trace', limit),
  };
}

interface QaFeedback {
  readonly text: string | null;
  /** 1 to 5. */
  readonly score: number | null;
  readonly at: string;
}

/** Findings of improve about an answer, added to its metadata. */
export interface QaNote {
  readonly id: string;
  readonly memifyMetadata: JsonObject;
  /** Noted only while this is the answer's last feedback: newer feedback is processed again. */
  readonly ofFeedback: number | null;
}

/** Changes of existing answers; each is repeated when another process changes them meanwhile. */
function createQaChanges(store: DocumentStore, sessions: Sessions) {
  const storedQas = async (scope: Scope, key: SessionKey, ids: readonly string[]) =>
    (await store.getMany(scope, collection, ids)).filter((stored) => isQaOf(stored, key));
  return {
    /** Feedback on an answer; what is null stays as it was. Null for an unknown answer. */
    giveFeedback: (scope: Scope, key: SessionKey, id: string, { text, score, at }: QaFeedback) =>
      retryOnConflict(async () => {
        const [session, [found]] = await Promise.all([sessions.get(scope, key), storedQas(scope, key, [id])]);
        if (session === null || found === undefined) return null;
        const entry = entryOf<QaEntry>(found);
        const changed = {
          ...entry,
          feedbackText: text ?? entry.feedbackText,
          feedbackScore: score ?? entry.feedbackScore,
          memifyMetadata: { ...entry.memifyMetadata, feedback_weights_applied: false },
          feedbackNumber: session.feedbackCount + 1,
        };
        await store.commit(scope, [
          sessions.growWrite(session, 'feedbackCount', { lastActivityAt: at }),
          replace(collection, id, changedDocument(found, changed), found.version),
        ]);
        return changed;
      }),
    /** In one commit. Returns how many were noted: removed and outdated answers are not. */
    note: (scope: Scope, key: SessionKey, notes: readonly QaNote[]) =>
      retryOnConflict(async () => {
        const ids = notes.map(({ id }) => id);
        const changed = (await storedQas(scope, key, ids)).flatMap((stored) => notedDocument(stored, notes));
        if (changed.length === 0) return 0;
        await store.commit(
          scope,
          changed.map(({ id, document, version }) => replace(collection, id, document, version)),
        );
        return changed.length;
      }),
    /** Answers lose what they say, what they were made from and what their ratings moved; they keep their numbers. How many. */
    forget: (scope: Scope, key: SessionKey, ids: readonly string[]) =>
      retryOnConflict(async () => {
        const stored = await storedQas(scope, key, ids);
        if (stored.length === 0) return 0;
        const labels = stored.map(({ value }) => labelOf(String(value.entry['question'] ?? '')));
        const session = await sessions.get(scope, key);
        const isLabelled = session !== null && labels.includes(session.label);
        await store.commit(scope, [
          ...stored.map((one) => replace(collection, one.id, forgottenDocument(one), one.version)),
          ...(isLabelled ? [sessions.unlabelWrite(session)] : []),
          votesOfAnswersWrite(stored.map(({ id }) => id)),
        ]);
        return stored.length;
      }),
  };
}

function notedDocument(stored: Stored<EntryDocument>, notes: readonly QaNote[]) {
  const own = notes.filter(
    ({ id, ofFeedback }) => id === stored.id && (ofFeedback === null || ofFeedback === stored.value.feedbackNumber),
  );
  if (own.length === 0) return [];
  const entry = entryOf<QaEntry>(stored);
  const memifyMetadata = Object.assign(
    {},
    entry.memifyMetadata,
    ...own.map((note) => note.memifyMetadata),
  ) as JsonObject;
  const document = changedDocument(stored, { ...entry, memifyMetadata });
  return [{ id: stored.id, version: stored.version, document }];
}
