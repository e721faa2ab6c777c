import {
  type EntryCounts,
  type Session,
  type SessionKey,
  type SessionSpending,
  sessionDocumentId,
} from '../../domain/session.ts';
import type { DatasetId, UserId } from '../../kernel/brand.ts';
import { asId } from '../../kernel/ids.ts';
import type { AnyScope, Scope } from '../../kernel/scope.ts';
import type { DocumentStore, Stored, Write } from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';
import { repository } from '../base/repository.ts';

export type SessionDocument = Omit<Session, keyof SessionKey | 'dataset' | 'agent' | 'expired' | 'usage'> &
  Session['usage'] & {
    readonly userId: UserId;
    readonly sessionId: string;
    readonly datasetId: DatasetId | null;
    readonly agentId: string | null;
    readonly expiredQas: number;
    readonly expiredTraces: number;
    /** False when all of its entries were removed. */
    readonly holdsEntries: boolean;
  };

export const sessionsCollection: OwnedCollection<SessionDocument> = {
  name: 'sessions',
  level: 'tenant',
  owner: 'ingest',
  writers: { auth: 'removes the sessions of a deleted user', improve: 'a change of an answer changes its session' },
  readers: ['search'],
  belongsTo: { user: 'userId', tenant: 'scope', dataset: 'datasetId' },
  indexes: [
    { fields: ['userId', 'lastActivityAt'] },
    { fields: ['userId', 'startedAt', 'tokensIn', 'tokensOut'] },
    { fields: ['datasetId', 'lastActivityAt'] },
    { fields: ['sessionId', 'datasetId'] },
    { fields: ['holdsEntries', 'lastActivityAt'], wide: true },
    { fields: ['userId'], wide: true },
  ],
};

type CountedKind = 'qaCount' | 'traceCount' | 'feedbackCount';

/** A session where it stands, for work over all tenants. */
export interface PlacedSession {
  readonly scope: Scope;
  readonly session: Session;
}

/** Bound once: a dataset, an agent, node sets and a label are only set where there are none. */
export interface SessionChange
  extends Partial<Pick<Session, 'dataset' | 'agent' | 'nodeSets' | 'label' | 'lastModel'>> {
  readonly lastActivityAt: string;
  readonly errors?: number;
}

interface UserOfDataset {
  readonly user: UserId;
  readonly dataset: DatasetId;
  /** ISO-8601 in UTC; null: any time. */
  readonly since: string | null;
  readonly limit: number;
}

export type Sessions = ReturnType<typeof createSessions>;

/** Sessions without their entries; see `session-entries.ts`, and `visible-sessions.ts` for those that a user may see. */
export function createSessions(store: DocumentStore) {
  const records = repository(store, sessionsCollection, sessionOf);
  const collection = sessionsCollection;
  return {
    get: (scope: Scope, key: SessionKey) => records.get(scope, sessionDocumentId(key)),
    getMany: (scope: Scope, keys: readonly SessionKey[]) => records.getMany(scope, keys.map(sessionDocumentId)),
    /** At most `limit` (1 to 1000) that are bound to the dataset. */
    async ofDataset(scope: Scope, dataset: DatasetId, limit: number): Promise<readonly Session[]> {
      const where = { datasetId: dataset };
      return (await records.page({ tenant: scope.tenant }, { where, limit })).items;
    },
    /** Those of a user that are bound to the dataset and were used after the time, the one used last first. */
    async usedLast(scope: Scope, { user, dataset, since, limit }: UserOfDataset): Promise<readonly Session[]> {
      const where = {
        userId: user,
        datasetId: dataset,
        ...(since === null ? {} : { lastActivityAt: { greaterThan: since } }),
      };
      const sort = [{ field: 'lastActivityAt' as const, descending: true }];
      return (await records.page({ tenant: scope.tenant }, { where, sort, limit })).items;
    },
    countOfDataset: (scope: Scope, dataset: DatasetId) =>
      records.count({ tenant: scope.tenant }, { datasetId: dataset }),
    /** At most `limit` of a user; under `SystemScope` in whatever tenant. */
    async ofUser(scope: AnyScope, user: UserId, limit: number): Promise<readonly PlacedSession[]> {
      return (await store.find(scope, collection, { where: { userId: user }, limit })).items.map(placed);
    },
    /** Sessions with entries that were not used since, longest unused first, by page. */
    async unusedSince(
      scope: AnyScope,
      { before, after, limit }: { readonly before: string; readonly after: string | null; readonly limit: number },
    ): Promise<{ readonly sessions: readonly PlacedSession[]; readonly next: string | null }> {
      const where = { holdsEntries: true, lastActivityAt: { lessThan: before } };
      const sort = [{ field: 'lastActivityAt' as const }];
      const { items, next } = await store.find(scope, collection, { where, sort, limit, after });
      return { sessions: items.map(placed), next };
    },
    /** `DuplicateKeyError` in the commit when it exists. */
    openWrite: (session: Session) => records.insertWrite(sessionDocumentId(session), documentOf(session)),
    /**
     * `VersionConflictError` in the commit unless the session still has as many of the kind, and, when it is bound to
     * something by the change, is as it was read: an append takes the next number.
     */
    growWrite(
      session: Session,
      kind: CountedKind,
      { errors = 0, lastModel, lastActivityAt, ...change }: SessionChange,
    ): Write {
      const bound = bindings(session, change);
      const { qaCount, traceCount } = session;
      return records.updateWrite(sessionDocumentId(session), {
        where: { [kind]: session[kind], ...(Object.keys(bound).length === 0 ? {} : { qaCount, traceCount }) },
        set: {
          lastActivityAt: later(session.lastActivityAt, lastActivityAt),
          ...bound,
          ...(kind === 'feedbackCount' ? {} : { holdsEntries: true }),
          ...(lastModel ? { lastModel } : {}),
        },
        increment: { [kind]: 1, ...(errors === 0 ? {} : { errorCount: errors }) },
        required: true,
      });
    },
    /** Adds what was spent; does nothing when the session does not exist any more. */
    spendWrite(
      key: SessionKey,
      spent: Partial<Session['usage']>,
      { model, embeddingModel }: Pick<SessionSpending, 'model' | 'embeddingModel'>,
    ): Write {
      const set = {
        ...(model ? { lastModel: model } : {}),
        ...(embeddingModel ? { lastEmbeddingModel: embeddingModel } : {}),
      };
      return records.updateWrite(sessionDocumentId(key), { set, increment: spent });
    },
    /** Removes the label; does nothing when the session has another label by now. */
    unlabelWrite: (session: Session) =>
      records.updateWrite(sessionDocumentId(session), { where: { label: session.label }, set: { label: null } }),
    /** `VersionConflictError` in the commit when the session was used since it was read. */
    expireWrite(session: Session, { qas, traces }: EntryCounts): Write {
      const { qaCount, traceCount, lastActivityAt } = session;
      const isEmpty = qas === qaCount && traces === traceCount;
      return records.updateWrite(sessionDocumentId(session), {
        where: { qaCount, traceCount, lastActivityAt },
        set: {
          expiredQas: qas,
          expiredTraces: traces,
          ...(isEmpty ? { holdsEntries: false, label: null } : {}),
        },
        required: true,
      });
    },
  };
}

export function sessionOf({ value }: Stored<SessionDocument>): Session {
  const { userId: user, sessionId: session, datasetId: dataset, agentId: agent, ...stored } = value;
  const { expiredQas, expiredTraces, holdsEntries: _, tokensIn, tokensOut, embeddingTokens, ...rest } = stored;
  return {
    ...rest,
    user,
    session,
    dataset,
    agent,
    usage: { tokensIn, tokensOut, embeddingTokens },
    expired: { qas: expiredQas, traces: expiredTraces },
  };
}

function documentOf(session: Session): SessionDocument {
  const { user, session: sessionId, dataset, agent, usage, expired, ...rest } = session;
  return {
    userId: user,
    sessionId,
    datasetId: dataset,
    agentId: agent,
    expiredQas: expired.qas,
    expiredTraces: expired.traces,
    holdsEntries: true,
    ...rest,
    ...usage,
  };
}

function placed(stored: Stored<SessionDocument>): PlacedSession {
  return { scope: { tenant: asId(stored.tenant ?? '') }, session: sessionOf(stored) };
}

/** The fields that the change sets for the first time. */
function bindings(
  session: Session,
  { dataset, agent, nodeSets, label }: Omit<SessionChange, 'lastActivityAt' | 'errors' | 'lastModel'>,
): Partial<SessionDocument> {
  return {
    ...(session.dataset === null && dataset ? { datasetId: dataset } : {}),
    ...(session.agent === null && agent ? { agentId: agent } : {}),
    ...(session.nodeSets === null && nodeSets ? { nodeSets } : {}),
    ...(session.label === null && label ? { label } : {}),
  };
}

function later(one: string, other: string): string {
  return one < other ? other : one;
}
