import type { JsonObject } from '../domain/json.ts';
import type { Page } from '../domain/result-page.ts';
import type { Scope } from '../domain/scope.ts';
import type { NewQa, NewTrace, QaEntry, Session, SessionKey, TraceEntry } from '../domain/session.ts';
import {
  type Collection,
  type DocumentStore,
  DuplicateKeyError,
  insert,
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
  readonly entry: JsonObject;
};

export const sessionEntriesCollection: Collection<EntryDocument> = {
  name: 'session_entries',
  level: 'tenant',
  indexes: [{ fields: ['session', 'kind', 'number'], unique: true }],
};

/** Questions with answers and steps of agents: append-only but for feedback and what improve notes on an answer. */
export interface SessionEntries {
  /** Durable when it resolves. Opens the session when it is the first entry; concurrent entries get numbers one after the other. */
  appendQa(scope: Scope, key: SessionKey, id: string, entry: NewQa, change: SessionChange): Promise<QaEntry>;
  appendTrace(scope: Scope, key: SessionKey, id: string, entry: NewTrace, change: SessionChange): Promise<TraceEntry>;
  qa(scope: Scope, key: SessionKey, id: string): Promise<QaEntry | null>;
  /** Repeated when somebody else changes the entry meanwhile; null for an unknown one. */
  changeQa(
    scope: Scope,
    key: SessionKey,
    id: string,
    change: (entry: QaEntry) => Partial<QaEntry>,
  ): Promise<QaEntry | null>;
  /** Those with greater numbers, in order. */
  qasAfter(scope: Scope, key: SessionKey, number: number, limit: number): Promise<readonly QaEntry[]>;
  tracesAfter(scope: Scope, key: SessionKey, number: number, limit: number): Promise<readonly TraceEntry[]>;
  /** The newest ones, in order. */
  lastQas(scope: Scope, key: SessionKey, limit: number): Promise<readonly QaEntry[]>;
  lastTraces(scope: Scope, key: SessionKey, limit: number): Promise<readonly TraceEntry[]>;
  /** All of the session and its entries. */
  removeWrites(key: SessionKey): readonly Write[];
}

const NOTHING_SPENT = { tokensIn: 0, tokensOut: 0, costUsd: 0, embeddingTokens: 0, embeddingCostUsd: 0 };

export function createSessionEntries(store: DocumentStore, sessions: Sessions): SessionEntries {
  const append = async <Entry extends NewQa | NewTrace>(
    scope: Scope,
    key: SessionKey,
    { id, kind, entry, change }: { id: string; kind: EntryKind; entry: Entry; change: SessionChange },
  ) => {
    for (;;) {
      const session = await sessions.get(scope, key);
      const counter = kind === 'qa' ? 'qaCount' : 'traceCount';
      const number = (session?.[counter] ?? 0) + 1;
      const time = change.lastActivityAt;
      const grow =
        session === null
          ? sessions.openWrite(opened(key, counter, change))
          : sessions.growWrite(session, counter, change);
      const document = { session: sessionDocumentId(key), kind, number, time, entry: toJson(entry) };
      try {
        await store.commit(scope, [grow, insert(sessionEntriesCollection, id, document)]);
        return { ...entry, id, number, time };
      } catch (error) {
        const isOvertaken =
          error instanceof VersionConflictError || (error instanceof DuplicateKeyError && error.index[0] !== 'id');
        const isOpened = error instanceof DuplicateKeyError && error.collection === sessionsCollection.name;
        if (!isOvertaken && !isOpened) throw error;
      }
    }
  };
  const page = async <Entry>(
    scope: Scope,
    key: SessionKey,
    { kind, after, limit, isNewest }: { kind: EntryKind; after: number; limit: number; isNewest: boolean },
  ): Promise<readonly Entry[]> => {
    const entries: Entry[] = [];
    let next: string | null = null;
    do {
      const found: Page<Stored<EntryDocument>> = await store.find(scope, sessionEntriesCollection, {
        where: { session: sessionDocumentId(key), kind, number: { greaterThan: after } },
        sort: [{ field: 'number', descending: isNewest }],
        limit: Math.min(1000, limit - entries.length),
        after: next,
      });
      for (const stored of found.items) entries.push(entryOf<Entry>(stored));
      next = found.next;
    } while (next !== null && entries.length < limit);
    return isNewest ? entries.toReversed() : entries;
  };
  const stored = async (scope: Scope, key: SessionKey, id: string) => {
    const found = await store.get(scope, sessionEntriesCollection, id);
    return found?.value.session === sessionDocumentId(key) && found.value.kind === 'qa' ? found : null;
  };
  return {
    async appendQa(scope, key, id, entry, change) {
      return { ...(await append(scope, key, { id, kind: 'qa', entry, change })), memifyMetadata: null };
    },
    appendTrace: (scope, key, id, entry, change) => append(scope, key, { id, kind: 'trace', entry, change }),
    async qa(scope, key, id) {
      const found = await stored(scope, key, id);
      return found === null ? null : entryOf<QaEntry>(found);
    },
    async changeQa(scope, key, id, change) {
      for (;;) {
        const found = await stored(scope, key, id);
        if (found === null) return null;
        const entry = entryOf<QaEntry>(found);
        const changed = { ...entry, ...change(entry) };
        const { id: _, number: __, time: ___, ...rest } = changed;
        const document = { ...found.value, entry: toJson(rest) };
        try {
          await store.commit(scope, [replace(sessionEntriesCollection, id, document, found.version)]);
          return changed;
        } catch (error) {
          if (!(error instanceof VersionConflictError)) throw error;
        }
      }
    },
    qasAfter: (scope, key, after, limit) => page<QaEntry>(scope, key, { kind: 'qa', after, limit, isNewest: false }),
    tracesAfter: (scope, key, after, limit) =>
      page<TraceEntry>(scope, key, { kind: 'trace', after, limit, isNewest: false }),
    lastQas: (scope, key, limit) => page<QaEntry>(scope, key, { kind: 'qa', after: 0, limit, isNewest: true }),
    lastTraces: (scope, key, limit) => page<TraceEntry>(scope, key, { kind: 'trace', after: 0, limit, isNewest: true }),
    removeWrites(key) {
      const id = sessionDocumentId(key);
      return [
        { kind: 'remove', collection: sessionsCollection, id },
        removeWhere(sessionEntriesCollection, { session: id }),
      ];
    },
  };
}

function opened(key: SessionKey, counter: 'qaCount' | 'traceCount', change: SessionChange): Session {
  const { dataset = null, agent = null, nodeSets = null, lastModel = null, lastActivityAt, errors = 0 } = change;
  return {
    ...key,
    ...{ dataset, agent, nodeSets, lastModel, startedAt: lastActivityAt, lastActivityAt },
    ...{ qaCount: 0, traceCount: 0, errorCount: errors, usage: NOTHING_SPENT },
    [counter]: 1,
  };
}

/** Interfaces of entries are made of JSON values only. */
function toJson(entry: object): JsonObject {
  return entry as JsonObject;
}

function entryOf<Entry>({ id, value }: Stored<EntryDocument>): Entry {
  const noted = value.kind === 'qa' ? { memifyMetadata: null } : {};
  return { ...noted, ...value.entry, id, number: value.number, time: value.time } as Entry;
}
