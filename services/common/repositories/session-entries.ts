import type { JsonObject } from '../domain/json.ts';
import type { Page } from '../domain/result-page.ts';
import type { Scope } from '../domain/scope.ts';
import type { EntryCounts, NewQa, NewTrace, QaEntry, Session, SessionKey, TraceEntry } from '../domain/session.ts';
import { createTurns } from '../domain/turns.ts';
import {
  type Collection,
  type DocumentStore,
  DuplicateKeyError,
  type Filter,
  insert,
  remove,
  removeWhere,
  replace,
  type Stored,
  VersionConflictError,
  type Write,
} from '../ports/document-store.ts';
import { type SessionChange, type Sessions, sessionDocumentId, sessionsCollection } from './sessions.ts';

type EntryKind = 'qa' | 'trace';
type EntryDocument = {
  /** Id of the session's document. */
  readonly session: string;
  readonly kind: EntryKind;
  readonly number: number;
  readonly time: string;
  /** Of an answer with feedback. */
  readonly feedbackNumber: number | null;
  readonly entry: JsonObject;
};

export const sessionEntriesCollection: Collection<EntryDocument> = {
  name: 'session_entries',
  level: 'tenant',
  indexes: [{ fields: ['session', 'kind', 'number'], unique: true }, { fields: ['session', 'feedbackNumber'] }],
};

/** What else an append looks at and writes. Both may be asked again, with the session as it is then. */
export interface AppendOptions {
  /** Throws what the append is refused with. Null: the entry would open the session. */
  admit?(session: Session | null): void;
  /** To be committed with the entry; their conflicts repeat the append. */
  also?(): Promise<readonly Write[]>;
}

/** What improve has made of an answer: added to what is known of it. */
export interface QaNote {
  readonly id: string;
  readonly memifyMetadata: JsonObject;
  /** Noted only while this is the answer's last feedback: newer feedback has to be worked through anew. */
  readonly ofFeedback: number | null;
}

/** Questions with answers and steps of agents: append-only but for feedback and what improve notes on an answer. */
export interface SessionEntries {
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
  qa(scope: Scope, key: SessionKey, id: string): Promise<QaEntry | null>;
  /** Feedback on an answer; what is null stays as it was. Null for an unknown answer. */
  giveFeedback(scope: Scope, key: SessionKey, id: string, feedback: QaFeedback): Promise<QaEntry | null>;
  /** In one commit, repeated when answers change meanwhile. How many were noted: those that are gone or outdated are not. */
  note(scope: Scope, key: SessionKey, notes: readonly QaNote[]): Promise<number>;
  /** Answers lose what they say and what they were made from; they keep their numbers. How many there were. */
  forget(scope: Scope, key: SessionKey, ids: readonly string[]): Promise<number>;
  /** Those with greater numbers, in order. */
  qasAfter(scope: Scope, key: SessionKey, number: number, limit: number): Promise<readonly QaEntry[]>;
  tracesAfter(scope: Scope, key: SessionKey, number: number, limit: number): Promise<readonly TraceEntry[]>;
  /** Answers whose last feedback has a greater number, in the order of their feedback. */
  feedbackAfter(scope: Scope, key: SessionKey, feedbackNumber: number, limit: number): Promise<readonly QaEntry[]>;
  /** The newest ones, in order. */
  lastQas(scope: Scope, key: SessionKey, limit: number): Promise<readonly QaEntry[]>;
  lastTraces(scope: Scope, key: SessionKey, limit: number): Promise<readonly TraceEntry[]>;
  /** All of the session and its entries. Committed alone, great numbers of entries go in parts: `removeEntries` first. */
  removeWrites(key: SessionKey): readonly Write[];
  /** The oldest of each kind, as many as are said; all of them without a number. */
  removeEntries(scope: Scope, key: SessionKey, oldest?: EntryCounts): Promise<void>;
}

export interface QaFeedback {
  readonly text: string | null;
  /** 1 to 5. */
  readonly score: number | null;
  readonly at: string;
}

const NOTHING_SPENT = { tokensIn: 0, tokensOut: 0, costUsd: 0, embeddingTokens: 0, embeddingCostUsd: 0 };
const NONE: EntryCounts = { qas: 0, traces: 0 };
const MAX_PAGE = 1000;
const MAX_LABEL_LENGTH = 120;

export function createSessionEntries(store: DocumentStore, sessions: Sessions): SessionEntries {
  const collection = sessionEntriesCollection;
  const inTurn = createTurns();
  const appendNow = async <New extends NewTrace | (NewQa & Pick<QaEntry, 'memifyMetadata'>), Entry>(
    scope: Scope,
    key: SessionKey,
    { id, kind, entry, change, options }: NewEntry<New>,
  ): Promise<Entry> => {
    for (;;) {
      const session = await sessions.get(scope, key);
      options.admit?.(session);
      const counter = kind === 'qa' ? 'qaCount' : 'traceCount';
      const number = (session?.[counter] ?? 0) + 1;
      const time = change.lastActivityAt;
      const hasFeedback = 'feedbackScore' in entry && (entry.feedbackScore !== null || entry.feedbackText !== null);
      const feedbackNumber = hasFeedback ? (session?.feedbackCount ?? 0) + 1 : null;
      const grow =
        session === null
          ? [sessions.openWrite(opened(key, counter, change, hasFeedback))]
          : [
              sessions.growWrite(session, counter, change),
              ...(hasFeedback ? [sessions.growWrite(session, 'feedbackCount', { lastActivityAt: time })] : []),
            ];
      const document = {
        ...{ session: sessionDocumentId(key), kind, number, time, feedbackNumber },
        entry: toJson(entry),
      };
      try {
        await store.commit(scope, [...grow, insert(collection, id, document), ...((await options.also?.()) ?? [])]);
        return { ...entry, id, number, time, ...(kind === 'qa' ? { feedbackNumber } : {}) } as Entry;
      } catch (error) {
        const isKnownId =
          error instanceof DuplicateKeyError && error.collection === collection.name && error.index[0] === 'id';
        const isOvertaken = error instanceof VersionConflictError || error instanceof DuplicateKeyError;
        if (isKnownId || !isOvertaken) throw error;
      }
    }
  };
  /** Entries of one session each take the next number: those of this process wait for each other. */
  const append = <New extends NewTrace | (NewQa & Pick<QaEntry, 'memifyMetadata'>), Entry>(
    scope: Scope,
    key: SessionKey,
    entry: NewEntry<New>,
  ): Promise<Entry> =>
    inTurn(`${scope.tenant}/${sessionDocumentId(key)}`, () => appendNow<New, Entry>(scope, key, entry));
  const page = async <Entry>(
    scope: Scope,
    where: Filter<EntryDocument>,
    { by, limit, isNewest }: { by: 'number' | 'feedbackNumber'; limit: number; isNewest: boolean },
  ): Promise<readonly Entry[]> => {
    const entries: Entry[] = [];
    let next: string | null = null;
    do {
      const found: Page<Stored<EntryDocument>> = await store.find(scope, collection, {
        where,
        sort: [{ field: by, descending: isNewest }],
        limit: Math.min(MAX_PAGE, limit - entries.length),
        after: next,
      });
      for (const stored of found.items) entries.push(entryOf<Entry>(stored));
      next = found.next;
    } while (next !== null && entries.length < limit);
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
  const storedQa = async (scope: Scope, key: SessionKey, id: string) => {
    const found = await store.get(scope, collection, id);
    return found !== null && isQaOf(found, key) ? found : null;
  };
  return {
    appendQa: (scope, key, id, qa, change, options = {}) =>
      append<NewQa & Pick<QaEntry, 'memifyMetadata'>, QaEntry>(scope, key, {
        ...{ id, kind: 'qa', options, change: { ...change, label: labelOf(qa.question) } },
        entry: { ...qa, memifyMetadata: null },
      }),
    appendTrace: (scope, key, id, entry, change, options = {}) =>
      append<NewTrace, TraceEntry>(scope, key, { id, kind: 'trace', entry, change, options }),
    async qa(scope, key, id) {
      const found = await storedQa(scope, key, id);
      return found === null ? null : entryOf<QaEntry>(found);
    },
    async giveFeedback(scope, key, id, { text, score, at }) {
      for (;;) {
        const [session, found] = await Promise.all([sessions.get(scope, key), storedQa(scope, key, id)]);
        if (session === null || found === null) return null;
        const entry = entryOf<QaEntry>(found);
        const changed = {
          ...entry,
          feedbackText: text ?? entry.feedbackText,
          feedbackScore: score ?? entry.feedbackScore,
          memifyMetadata: { ...entry.memifyMetadata, feedback_weights_applied: false },
          feedbackNumber: session.feedbackCount + 1,
        };
        try {
          await store.commit(scope, [
            sessions.growWrite(session, 'feedbackCount', { lastActivityAt: at }),
            replace(collection, id, changedDocument(found, changed), found.version),
          ]);
          return changed;
        } catch (error) {
          if (!(error instanceof VersionConflictError)) throw error;
        }
      }
    },
    async note(scope, key, notes) {
      for (;;) {
        const ids = notes.map(({ id }) => id);
        const found = (await store.getMany(scope, collection, ids)).filter((stored) => isQaOf(stored, key));
        const changed = found.flatMap((stored) => notedDocument(stored, notes));
        if (changed.length === 0) return 0;
        try {
          await store.commit(
            scope,
            changed.map(({ id, document, version }) => replace(collection, id, document, version)),
          );
          return changed.length;
        } catch (error) {
          if (!(error instanceof VersionConflictError)) throw error;
        }
      }
    },
    async forget(scope, key, ids) {
      for (;;) {
        const stored = (await store.getMany(scope, collection, ids)).filter((one) => isQaOf(one, key));
        if (stored.length === 0) return 0;
        const labels = stored.map(({ value }) => labelOf(String(value.entry['question'] ?? '')));
        const session = await sessions.get(scope, key);
        const isLabelled = session !== null && labels.includes(session.label);
        try {
          await store.commit(scope, [
            ...stored.map((one) => replace(collection, one.id, forgottenDocument(one), one.version)),
            ...(isLabelled ? [sessions.unlabelWrite(session)] : []),
          ]);
          return stored.length;
        } catch (error) {
          if (!(error instanceof VersionConflictError)) throw error;
        }
      }
    },
    qasAfter: (scope, key, number, limit) => after<QaEntry>(scope, key, 'qa', number, limit),
    tracesAfter: (scope, key, number, limit) => after<TraceEntry>(scope, key, 'trace', number, limit),
    feedbackAfter: (scope, key, number, limit) =>
      page<QaEntry>(
        scope,
        { session: sessionDocumentId(key), feedbackNumber: { greaterThan: number } },
        { by: 'feedbackNumber', limit, isNewest: false },
      ),
    lastQas: (scope, key, limit) => last<QaEntry>(scope, key, 'qa', limit),
    lastTraces: (scope, key, limit) => last<TraceEntry>(scope, key, 'trace', limit),
    removeWrites(key) {
      const id = sessionDocumentId(key);
      return [remove(sessionsCollection, id), removeWhere(collection, { session: id })];
    },
    async removeEntries(scope, key, oldest) {
      const session = sessionDocumentId(key);
      if (oldest === undefined) {
        await store.commit(scope, [removeWhere(collection, { session })]);
        return;
      }
      for (const [kind, count] of [['qa', oldest.qas] as const, ['trace', oldest.traces] as const]) {
        if (count > 0)
          await store.commit(scope, [removeWhere(collection, { session, kind, number: { atMost: count } })]);
      }
    },
  };
}

interface NewEntry<Entry> {
  readonly id: string;
  readonly kind: EntryKind;
  readonly entry: Entry;
  readonly change: SessionChange;
  readonly options: AppendOptions;
}

function opened(
  key: SessionKey,
  counter: 'qaCount' | 'traceCount',
  change: SessionChange,
  hasFeedback: boolean,
): Session {
  const { dataset = null, agent = null, nodeSets = null, label = null, lastModel = null, errors = 0 } = change;
  const { lastActivityAt } = change;
  return {
    ...key,
    ...{ dataset, agent, nodeSets, label, lastModel, startedAt: lastActivityAt, lastActivityAt },
    ...{ qaCount: 0, traceCount: 0, errorCount: errors, feedbackCount: hasFeedback ? 1 : 0 },
    ...{ usage: NOTHING_SPENT, expired: NONE },
    [counter]: 1,
  };
}

function labelOf(question: string): string | null {
  const start = question.trimStart().slice(0, 2 * MAX_LABEL_LENGTH);
  return start === '' ? null : [...start].slice(0, MAX_LABEL_LENGTH).join('').trimEnd();
}

function isQaOf({ value }: Stored<EntryDocument>, key: SessionKey): boolean {
  return value.kind === 'qa' && value.session === sessionDocumentId(key);
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

function changedDocument({ value }: Stored<EntryDocument>, changed: QaEntry): EntryDocument {
  const { id: _, number: __, time: ___, feedbackNumber, ...entry } = changed;
  return { ...value, feedbackNumber, entry: toJson(entry) };
}

function forgottenDocument({ value }: Stored<EntryDocument>): EntryDocument {
  const nothing: NewQa & Pick<QaEntry, 'memifyMetadata'> = {
    ...{ question: '', context: '', answer: '', feedbackText: null, feedbackScore: null },
    ...{ usedGraphElements: null, usedContextIds: null, memifyMetadata: null },
  };
  return { ...value, feedbackNumber: null, entry: toJson(nothing) };
}

/** Interfaces of entries are made of JSON values only. */
function toJson(entry: object): JsonObject {
  return entry as JsonObject;
}

function entryOf<Entry>({ id, value }: Stored<EntryDocument>): Entry {
  const { number, time, feedbackNumber, kind } = value;
  return { ...value.entry, id, number, time, ...(kind === 'qa' ? { feedbackNumber } : {}) } as Entry;
}
