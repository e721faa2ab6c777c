import type { Session } from '../../domain/session.ts';
import type { DatasetId, UserId } from '../../kernel/brand.ts';
import { pagesOf } from '../../kernel/result-page.ts';
import type { Scope } from '../../kernel/scope.ts';
import { slices } from '../../kernel/slices.ts';
import type { DocumentStore, Filter, Stored } from '../../storage/ports/document-store.ts';
import { type SessionDocument, type Sessions, sessionOf, sessionsCollection } from './sessions.ts';

/** Sessions that a caller may see: those of the users, and those bound to the datasets, of any user. */
export interface SessionViewer {
  /** The viewer first. */
  readonly users: readonly UserId[];
  readonly datasets: readonly DatasetId[];
}

export interface ActivityRange {
  /** ISO-8601, null for no bound. */
  readonly from: string | null;
  readonly before: string | null;
}

export type SessionOrder = 'lastActivityAt' | 'startedAt' | 'tokensIn' | 'tokensOut';

export interface SessionPageQuery extends ActivityRange {
  readonly order: SessionOrder;
  readonly descending: boolean;
  readonly limit: number;
  readonly offset: number;
}

const PAGE = 1000;
/** Values of one `in` condition. */
const SLICE = 500;
/** Sessions of other people with one name that are looked through. */
const MAX_NAMED = 100;

export type VisibleSessions = ReturnType<typeof createVisibleSessions>;

/** Sessions that a caller may see, each once. No read is larger than a page. */
export function createVisibleSessions(store: DocumentStore, sessions: Sessions) {
  const collection = sessionsCollection;
  const find = async (
    scope: Scope,
    where: Filter<SessionDocument>,
    { order, descending, limit, offset }: SessionPageQuery,
  ) => {
    const sort = [{ field: order, descending }];
    return (await store.find(scope, collection, { where, sort, limit, offset })).items;
  };
  const all = (scope: Scope, where: Filter<SessionDocument>) =>
    pagesOf((after) => store.find(scope, collection, { where, limit: PAGE, after }));
  /** The first `count` in order. */
  const top = async (scope: Scope, where: Filter<SessionDocument>, count: number, query: SessionPageQuery) => {
    const found: Stored<SessionDocument>[] = [];
    for (let offset = 0; offset < count; offset += PAGE) {
      const items = await find(scope, where, { ...query, limit: Math.min(PAGE, count - offset), offset });
      found.push(...items);
      if (items.length < PAGE) break;
    }
    return found;
  };
  return {
    async page(scope: Scope, viewer: SessionViewer, query: SessionPageQuery) {
      const own = ownFilters(viewer, query);
      const shared = sharedFilters(viewer, query);
      const count = (where: Filter<SessionDocument>) => store.count(scope, collection, where);
      const [ownCount, ...sharedCounts] = await Promise.all([
        sum(own.map(count)),
        ...shared.map(async (where) => {
          const ownToo = own.map((one) => count({ ...where, ...one }));
          return { where, others: (await count(where)) - (await sum(ownToo)) };
        }),
      ]);
      const withOthers = sharedCounts.filter(({ others }) => others > 0).map(({ where }) => where);
      const total = ownCount + sharedCounts.reduce((all, { others }) => all + others, 0);
      const [only] = own;
      if (withOthers.length === 0 && own.length === 1 && only !== undefined) {
        return { sessions: (await find(scope, only, query)).map(sessionOf), total };
      }
      const end = query.offset + query.limit;
      const streams = await Promise.all([...own, ...withOthers].map((where) => top(scope, where, end, query)));
      const merged = [...new Map(streams.flat().map((stored) => [stored.id, stored])).values()].sort(inOrder(query));
      return { sessions: merged.slice(query.offset, end).map(sessionOf), total };
    },
    /** Sessions with the name: those of the users in their order, then others, the one used last first. */
    async named(scope: Scope, { users, datasets }: SessionViewer, name: string): Promise<readonly Session[]> {
      const own = await sessions.getMany(
        scope,
        users.map((user) => ({ user, session: name })),
      );
      const others: Stored<SessionDocument>[] = [];
      for (const slice of slices(datasets, SLICE)) {
        const where = { sessionId: name, datasetId: { in: slice } };
        others.push(...(await store.find(scope, collection, { where, limit: MAX_NAMED })).items);
      }
      const byUser = new Map(own.map((session) => [session.user, session]));
      const newestFirst = others
        .map(sessionOf)
        .filter(({ user }) => !byUser.has(user))
        .toSorted((one, other) => (one.lastActivityAt < other.lastActivityAt ? 1 : -1));
      return [...users.flatMap((user) => byUser.get(user) ?? []), ...newestFirst];
    },
    /** All of them, page by page. */
    async *pages(scope: Scope, viewer: SessionViewer, range: ActivityRange): AsyncIterable<readonly Session[]> {
      const users = new Set<string>(viewer.users);
      const own = ownFilters(viewer, range);
      for (const where of [...own, ...sharedFilters(viewer, range)]) {
        const isOwn = own.includes(where);
        for await (const items of all(scope, where)) {
          yield items.filter(({ value }) => isOwn || !users.has(value.userId)).map(sessionOf);
        }
      }
    },
    /** The same of everybody in the tenant. */
    async *allPages(scope: Scope, range: ActivityRange): AsyncIterable<readonly Session[]> {
      for await (const items of all({ tenant: scope.tenant }, activity(range))) yield items.map(sessionOf);
    },
  };
}

/** One user is looked for by equality, which an index gives in order; many together. */
function ownFilters({ users }: SessionViewer, range: ActivityRange): readonly Filter<SessionDocument>[] {
  return [...slices(users, SLICE)].map((slice) => ({
    userId: slice.length === 1 ? (slice[0] ?? '') : { in: slice },
    ...activity(range),
  }));
}

function sharedFilters({ datasets }: SessionViewer, range: ActivityRange): readonly Filter<SessionDocument>[] {
  return [...slices(datasets, SLICE)].map((slice) => ({ datasetId: { in: slice }, ...activity(range) }));
}

function activity({ from, before }: ActivityRange): Filter<SessionDocument> {
  if (from === null && before === null) return {};
  return {
    lastActivityAt: { ...(from === null ? {} : { atLeast: from }), ...(before === null ? {} : { lessThan: before }) },
  };
}

/** Compares in the order of the store: by the field, then by the id, both in the one direction. */
function inOrder({ order, descending }: SessionPageQuery) {
  const sign = descending ? -1 : 1;
  return (one: Stored<SessionDocument>, other: Stored<SessionDocument>): number => {
    const [a, b] = [one.value[order], other.value[order]];
    if (a !== b) return a < b ? -sign : sign;
    return one.id < other.id ? -sign : sign;
  };
}

async function sum(counts: readonly Promise<number>[]): Promise<number> {
  return (await Promise.all(counts)).reduce((all, count) => all + count, 0);
}
