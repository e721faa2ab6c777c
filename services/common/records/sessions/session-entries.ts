import {
  type EntryCounts,
  type NewQa,
  type NewTrace,
  type QaEntry,
  type SessionKey,
  sessionDocumentId,
  type TraceEntry,
} from '../../domain/session.ts';
import type { Scope } from '../../kernel/scope.ts';
import {
  type DocumentStore,
  type Filter,
  remove,
  removeWhere,
  type Write,
} from '../../storage/ports/document-store.ts';
import { repository } from '../base/repository.ts';
import { votesOfSessionWrite, votesUpToWrite } from '../improve/element-weights.ts';
import { type AppendOptions, createAppend, type NewQaEntry } from './session-entry-appends.ts';
import { createQaChanges, type QaChanges } from './session-entry-changes.ts';
import {
  sessionEntriesCollection as collection,
  type EntryDocument,
  type EntryKind,
  entryOf,
  isQaOf,
  labelOf,
} from './session-entry-documents.ts';
import { type SessionChange, type Sessions, sessionsCollection } from './sessions.ts';

export type { AppendOptions } from './session-entry-appends.ts';
export type { QaFeedback, QaNote } from './session-entry-changes.ts';
export { sessionEntriesCollection } from './session-entry-documents.ts';

/** Questions with answers and steps of agents: append-only but for feedback and what improve notes on an answer. */
export interface SessionEntries extends EntryReads, QaChanges {
  /** Durable when it resolves. Opens the session when it is the first entry; concurrent entries get numbers one after the other. */
  appendQa(
    scope: Scope,
    key: SessionKey,
    id: string,
    entry: NewQa,
    change: SessionChange,
    options?: AppendOptions,
  ): Promise<QaEntry>;
  appendTrace(
    scope: Scope,
    key: SessionKey,
    id: string,
    entry: NewTrace,
    change: SessionChange,
    options?: AppendOptions,
  ): Promise<TraceEntry>;
  /** The session, its entries and the votes of its answers. Great numbers of entries go in parts: `removeEntries` first. */
  removeWrites(key: SessionKey): readonly Write[];
  /** The oldest of each kind, as many as are said, with their votes. Without a number all entries, and no votes. */
  removeEntries(scope: Scope, key: SessionKey, oldest?: EntryCounts): Promise<void>;
}

export function createSessionEntries(store: DocumentStore, sessions: Sessions): SessionEntries {
  const append = createAppend(store, sessions);
  return {
    ...createEntryReads(store),
    ...createQaChanges(store, sessions),
    appendQa: (scope, key, id, qa, change, options = {}) =>
      append<NewQaEntry, QaEntry>(scope, key, {
        id,
        kind: 'qa',
        options,
        change: { ...change, label: labelOf(qa.question) },
        entry: { ...qa, memifyMetadata: null },
      }),
    appendTrace: (scope, key, id, entry, change, options = {}) =>
      append<NewTrace, TraceEntry>(scope, key, { id, kind: 'trace', entry, change, options }),
    removeWrites(key) {
      const id = sessionDocumentId(key);
      return [remove(sessionsCollection, id), removeWhere(collection, { session: id }), votesOfSessionWrite(key)];
    },
    async removeEntries(scope, key, oldest) {
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

type EntryReads = ReturnType<typeof createEntryReads>;

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
