import { type SessionKey, sessionDocumentId } from '../../domain/session.ts';
import {
  admitted,
  type ContextRow,
  type NewContextRow,
  normalisedContent,
  type SessionFeedback,
} from '../../domain/session-context.ts';
import type { UserId } from '../../kernel/brand.ts';
import { sha256 } from '../../kernel/hashes.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Scope } from '../../kernel/scope.ts';
import { ignoreDuplicate, retryOnConflict } from '../../platform/async/retry-on-conflict.ts';
import {
  type DocumentStore,
  insert,
  remove,
  removeWhere,
  replace,
  type Stored,
  type Write,
} from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';
import { findAll } from '../base/find-all.ts';
import { put } from '../base/repository.ts';

type ContextDocument = {
  readonly userId: string;
  /** Id of the session's document. */
  readonly session: string;
  readonly kind: 'context' | 'feedback' | 'progress';
  /** Unique in a session: the hash of a statement, the id of a feedback, the name of a progress. */
  readonly identity: string;
  readonly createdAt: string;
  readonly row: JsonObject;
};

export const sessionContextCollection: OwnedCollection<ContextDocument> = {
  name: 'session_context',
  level: 'tenant',
  owner: 'ingest',
  writers: {
    auth: 'removes the sessions of a deleted user',
    improve: 'keeps what a session teaches, with how far it was read',
  },
  readers: ['search'],
  belongsTo: { user: 'userId', tenant: 'scope' },
  indexes: [
    { fields: ['session', 'identity'], unique: true },
    { fields: ['session', 'kind', 'createdAt'] },
    { fields: ['userId'] },
    { fields: ['userId'], wide: true },
  ],
};

/** Statements that one session keeps; the oldest give way. */
export const MAX_ROWS_PER_SESSION = 500;
/** Sources that one statement names; the first ones stay. */
const MAX_SOURCES = 50;

interface Noting {
  /** Ids of new statements. */
  readonly newId: () => string;
  /** ISO-8601 with offset. */
  readonly at: string;
  readonly progress?: { readonly name: string; readonly state: JsonObject };
}

export type SessionContexts = ReturnType<typeof createSessionContexts>;

/** Lessons of sessions, with the feedback that taught them. Removed with the session. */
export function createSessionContexts(store: DocumentStore) {
  return {
    /** Oldest first. */
    rows: async (scope: Scope, key: SessionKey) => (await documentsOf(store, { scope, key }, 'context')).map(rowOf),
    /**
     * Adds what is admissible; what is there already gets the further sources and the higher confidence. Answers the ids, of
     * added and matched ones. `progress` is noted in the same commit. Durable when it resolves.
     */
    learn: (scope: Scope, key: SessionKey, lessons: readonly NewContextRow[], noting: Noting) =>
      retryOnConflict(async () => {
        const wanted = distinct(lessons);
        const place = { scope, key };
        const [known, rows] = await Promise.all([
          byIdentity(store, place, [
            ...wanted.keys(),
            ...(noting.progress ? [progressIdentity(noting.progress.name)] : []),
          ]),
          documentsOf(store, place, 'context'),
        ]);
        const at = behind(rows.at(-1)?.value.createdAt, noting.at);
        const { ids, writes, added } = learning(key, wanted, known, { ...noting, at });
        const others = rows.filter(({ id }) => !ids.includes(id));
        const all = [
          ...writes,
          ...forgetting(others, rows.length + added - MAX_ROWS_PER_SESSION),
          ...progressWrites(key, known, noting),
        ];
        if (all.length > 0) await store.commit(scope, all);
        return ids;
      }),
    /** Counts what a user found of statements that were shown. Unknown ids are passed over. */
    rate: (scope: Scope, key: SessionKey, ratings: ReadonlyMap<string, 'helpful' | 'harmful'>) =>
      changeRows(store, { scope, key }, [...ratings.keys()], (row) =>
        ratings.get(row.id) === 'helpful'
          ? { helpfulCount: row.helpfulCount + 1 }
          : { harmfulCount: row.harmfulCount + 1 },
      ),
    /** The statements were shown in a turn. */
    served: (scope: Scope, key: SessionKey, ids: readonly string[], at: string) =>
      changeRows(store, { scope, key }, ids, () => ({ lastServedAt: at })),
    /** The same id is the same feedback. It comes after earlier feedback, whatever the clock says. */
    async addFeedback(scope: Scope, key: SessionKey, feedback: SessionFeedback): Promise<void> {
      const { id } = feedback;
      const newest = await store.find(scope, sessionContextCollection, {
        where: { session: sessionDocumentId(key), kind: 'feedback' },
        sort: [{ field: 'createdAt', descending: true }],
        limit: 1,
      });
      const createdAt = behind(newest.items[0]?.value.createdAt, feedback.createdAt);
      const base = { ...placeOf(key), kind: 'feedback' as const, createdAt };
      const document = { ...base, identity: `feedback:${sha256(id)}`, row: { ...feedback, createdAt } };
      const write = insert(sessionContextCollection, documentId(key, document.identity), document);
      await ignoreDuplicate(store.commit(scope, [write]));
    },
    /** Given after that time, oldest first; all of it for null. */
    async feedback(scope: Scope, key: SessionKey, after?: string | null): Promise<readonly SessionFeedback[]> {
      const found = await documentsOf(store, { scope, key }, 'feedback', after);
      return found.map(({ value }) => value.row as unknown as SessionFeedback);
    },
    /** Null: nothing noted. */
    async progress(scope: Scope, key: SessionKey, name: string): Promise<JsonObject | null> {
      const identity = progressIdentity(name);
      const stored = await store.get(scope, sessionContextCollection, documentId(key, identity));
      return stored?.value.row ?? null;
    },
    removeOfSessionWrite: (key: SessionKey) =>
      removeWhere(sessionContextCollection, { session: sessionDocumentId(key) }),
    removeOfUserWrite: (user: UserId) => removeWhere(sessionContextCollection, { userId: user }),
  };
}

interface SessionPlace {
  readonly scope: Scope;
  readonly key: SessionKey;
}

/** Oldest first; made after that time. */
function documentsOf(
  store: DocumentStore,
  { scope, key }: SessionPlace,
  kind: ContextDocument['kind'],
  after: string | null = null,
) {
  return findAll(store, scope, sessionContextCollection, {
    where: {
      session: sessionDocumentId(key),
      kind,
      ...(after === null ? {} : { createdAt: { greaterThan: after } }),
    },
    sort: [{ field: 'createdAt' }],
  });
}

async function byIdentity(store: DocumentStore, { scope, key }: SessionPlace, identities: readonly string[]) {
  const found = await findAll(store, scope, sessionContextCollection, {
    where: { session: sessionDocumentId(key), identity: { in: identities } },
  });
  return new Map(found.map((stored) => [stored.value.identity, stored]));
}

function changeRows(
  store: DocumentStore,
  { scope, key }: SessionPlace,
  ids: readonly string[],
  change: (row: ContextRow) => Partial<ContextRow>,
): Promise<void> {
  return retryOnConflict(async () => {
    const found = await store.getMany(scope, sessionContextCollection, [...new Set(ids)]);
    const own = found.filter(({ value }) => value.kind === 'context' && value.session === sessionDocumentId(key));
    const writes = own.map((stored) => {
      const row = rowOf(stored);
      return replaced(stored, { ...row, ...change(row) });
    });
    if (writes.length > 0) await store.commit(scope, writes);
  });
}

/** The time, or just after the newest one when the clock has gone back: readers ask for later ones. */
function behind(newest: string | undefined, at: string): string {
  if (newest === undefined || newest < at) return at;
  return new Date(Date.parse(newest) + 1).toISOString();
}

/** Admissible lessons by identity, equal ones joined. */
function distinct(lessons: readonly NewContextRow[]): ReadonlyMap<string, NewContextRow> {
  const wanted = new Map<string, NewContextRow>();
  for (const lesson of lessons) {
    const row = admitted(lesson);
    if (row === null) continue;
    const identity = identityOf(row);
    const before = wanted.get(identity);
    wanted.set(identity, before === undefined ? row : { ...before, ...joined(before, row) });
  }
  return wanted;
}

function learning(
  key: SessionKey,
  wanted: ReadonlyMap<string, NewContextRow>,
  known: ReadonlyMap<string, Stored<ContextDocument>>,
  { newId, at }: Noting,
) {
  const ids: string[] = [];
  const writes: Write[] = [];
  let added = 0;
  for (const [identity, lesson] of wanted) {
    const stored = known.get(identity);
    if (stored === undefined) {
      const id = newId();
      ids.push(id);
      added += 1;
      const { feedbackIds = [], traceIds = [], ...rest } = lesson;
      const row = {
        ...rest,
        feedbackIds: feedbackIds.slice(0, MAX_SOURCES),
        traceIds: traceIds.slice(0, MAX_SOURCES),
        helpfulCount: 0,
        harmfulCount: 0,
        priority: 0,
        lastServedAt: null,
      };
      const base = { ...placeOf(key), kind: 'context' as const, identity, createdAt: at };
      writes.push(insert(sessionContextCollection, id, { ...base, row: row as JsonObject }));
      continue;
    }
    ids.push(stored.id);
    const row = rowOf(stored);
    const changed = { ...row, ...joined(row, lesson) };
    if (JSON.stringify(changed) !== JSON.stringify(row)) writes.push(replaced(stored, changed));
  }
  return { ids, writes, added };
}

/** The oldest of them, as many as are too many. */
function forgetting(rows: readonly Stored<ContextDocument>[], tooMany: number): readonly Write[] {
  const oldest = rows.slice(0, Math.max(0, tooMany));
  return oldest.map(({ id, version }) => remove(sessionContextCollection, id, version));
}

function joined(row: NewContextRow, other: NewContextRow) {
  const union = (left: readonly string[] = [], right: readonly string[] = []) =>
    [...new Set([...left, ...right])].slice(0, MAX_SOURCES);
  return {
    confidence: Math.max(row.confidence, other.confidence),
    feedbackIds: union(row.feedbackIds, other.feedbackIds),
    traceIds: union(row.traceIds, other.traceIds),
  };
}

function progressWrites(
  key: SessionKey,
  known: ReadonlyMap<string, Stored<ContextDocument>>,
  { progress, at }: Noting,
): readonly Write[] {
  if (progress === undefined) return [];
  const identity = progressIdentity(progress.name);
  const stored = known.get(identity);
  const base = { ...placeOf(key), kind: 'progress' as const, identity };
  const document = { ...base, createdAt: stored?.value.createdAt ?? at, row: progress.state };
  return [put(sessionContextCollection, stored?.id ?? documentId(key, identity), document, stored)];
}

function placeOf(key: SessionKey) {
  return { userId: key.user, session: sessionDocumentId(key) };
}

function progressIdentity(name: string): string {
  return `progress:${name}`;
}

function documentId(key: SessionKey, identity: string): string {
  return `${sessionDocumentId(key)}/${identity}`;
}

function identityOf({ profile, section, content }: NewContextRow): string {
  return sha256(`${profile}\n${section}\n${normalisedContent(content)}`);
}

function replaced({ id, version, value }: Stored<ContextDocument>, row: ContextRow): Write {
  const { id: _, createdAt: __, ...rest } = row;
  return replace(sessionContextCollection, id, { ...value, row: { ...rest } as JsonObject }, version);
}

function rowOf({ id, value }: Stored<ContextDocument>): ContextRow {
  return { ...(value.row as unknown as ContextRow), id, createdAt: value.createdAt };
}
