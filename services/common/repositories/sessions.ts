import { hash } from 'node:crypto';
import type { DatasetId, UserId } from '../domain/brand.ts';
import { asId } from '../domain/ids.ts';
import type { Scope } from '../domain/scope.ts';
import type { Session, SessionKey } from '../domain/session.ts';
import {
  type Collection,
  type DocumentStore,
  insert,
  type Stored,
  update,
  type Write,
} from '../ports/document-store.ts';
import { findAll } from './find-all.ts';

type SessionDocument = {
  readonly userId: string;
  readonly sessionId: string;
  readonly datasetId: string | null;
  readonly agentId: string | null;
  readonly nodeSets: readonly string[] | null;
  readonly startedAt: string;
  readonly lastActivityAt: string;
  readonly qaCount: number;
  readonly traceCount: number;
  readonly errorCount: number;
  readonly tokensIn: number;
  readonly tokensOut: number;
  readonly costUsd: number;
  readonly embeddingTokens: number;
  readonly embeddingCostUsd: number;
  readonly lastModel: string | null;
};

export const sessionsCollection: Collection<SessionDocument> = {
  name: 'sessions',
  level: 'tenant',
  indexes: [
    { fields: ['userId', 'lastActivityAt'] },
    { fields: ['datasetId', 'lastActivityAt'] },
    { fields: ['sessionId'] },
    { fields: ['lastActivityAt'], wide: true },
  ],
};

/** Sessions without their entries; see `session-entries.ts`. */
export interface Sessions {
  get(scope: Scope, key: SessionKey): Promise<Session | null>;
  /** Of every user who has a session of that name. */
  named(scope: Scope, session: string): Promise<readonly Session[]>;
  /** Of any of the users, or bound to any of the datasets; each once, in no order. */
  ofUsersOrDatasets(
    scope: Scope,
    users: readonly UserId[],
    datasets: readonly DatasetId[],
    activeSince: string | null,
  ): Promise<readonly Session[]>;
  /** `DuplicateKeyError` in the commit when it exists. */
  openWrite(session: Session): Write;
  /**
   * `VersionConflictError` in the commit unless the session still has as many entries of the kind: who appends takes the
   * next number.
   */
  growWrite(session: Session, kind: 'qaCount' | 'traceCount', change: SessionChange): Write;
  /** Adds what was spent; nothing happens to a session that is gone. */
  spendWrite(key: SessionKey, spent: Partial<Session['usage']>, change: SessionChange): Write;
}

/** Bound once: a dataset, an agent and node sets are only set where none is. */
export interface SessionChange extends Partial<Pick<Session, 'dataset' | 'agent' | 'nodeSets' | 'lastModel'>> {
  readonly lastActivityAt: string;
  readonly errors?: number;
}

export function createSessions(store: DocumentStore): Sessions {
  return {
    async get(scope, key) {
      const stored = await store.get(scope, sessionsCollection, sessionDocumentId(key));
      return stored === null ? null : sessionOf(stored);
    },
    async named(scope, session) {
      const found = await findAll(store, scope, sessionsCollection, { where: { sessionId: session } });
      return found.map(sessionOf);
    },
    async ofUsersOrDatasets(scope, users, datasets, activeSince) {
      const since = activeSince === null ? {} : { lastActivityAt: { atLeast: activeSince } };
      const [own, shared] = await Promise.all([
        findAll(store, scope, sessionsCollection, {
          where: { userId: { in: users }, ...since },
          sort: [{ field: 'userId' }, { field: 'lastActivityAt' }],
        }),
        findAll(store, scope, sessionsCollection, {
          where: { datasetId: { in: datasets }, ...since },
          sort: [{ field: 'datasetId' }, { field: 'lastActivityAt' }],
        }),
      ]);
      return [...new Map([...own, ...shared].map((stored) => [stored.id, sessionOf(stored)])).values()];
    },
    openWrite: (session) => insert(sessionsCollection, sessionDocumentId(session), documentOf(session)),
    growWrite(session, kind, { errors = 0, ...change }) {
      const { dataset, agent, nodeSets, lastModel, lastActivityAt } = change;
      return update(sessionsCollection, sessionDocumentId(session), {
        where: { [kind]: session[kind] },
        set: {
          lastActivityAt,
          ...(session.dataset === null && dataset ? { datasetId: dataset } : {}),
          ...(session.agent === null && agent ? { agentId: agent } : {}),
          ...(session.nodeSets === null && nodeSets ? { nodeSets } : {}),
          ...(lastModel ? { lastModel } : {}),
        },
        increment: { [kind]: 1, ...(errors === 0 ? {} : { errorCount: errors }) },
        required: true,
      });
    },
    spendWrite(key, spent, { lastActivityAt, lastModel }) {
      return update(sessionsCollection, sessionDocumentId(key), {
        set: { lastActivityAt, ...(lastModel ? { lastModel } : {}) },
        increment: spent,
      });
    },
  };
}

/** Ids of callers may be long and hold anything; ids of documents may not. */
export function sessionDocumentId({ user, session }: SessionKey): string {
  return `${user}/${hash('sha256', session)}`;
}

function documentOf(session: Session): SessionDocument {
  const { user, session: sessionId, dataset, agent, usage, ...rest } = session;
  return { userId: user, sessionId, datasetId: dataset, agentId: agent, ...rest, ...usage };
}

function sessionOf({ value }: Stored<SessionDocument>): Session {
  const { userId, sessionId, datasetId, agentId, nodeSets, lastModel, ...rest } = value;
  const { startedAt, lastActivityAt, qaCount, traceCount, errorCount, ...usage } = rest;
  return {
    user: asId(userId),
    session: sessionId,
    dataset: datasetId === null ? null : asId(datasetId),
    ...{ agent: agentId, nodeSets, startedAt, lastActivityAt, qaCount, traceCount, errorCount, usage, lastModel },
  };
}
