import type { DatasetId, TenantId, UserId } from '../../kernel/brand.ts';
import { sha256 } from '../../kernel/hashes.ts';
import { asId } from '../../kernel/ids.ts';
import type { Scope, SystemScope } from '../../kernel/scope.ts';
import { ignoreConflict, retryOnConflict } from '../../platform/async/retry-on-conflict.ts';
import type { DocumentStore, Stored, Write } from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';
import { repository } from '../base/repository.ts';

type RequestDocument = {
  readonly userId: string;
  readonly sessionId: string;
  readonly datasetId: string;
  /** Number of entries since the request was last taken, and the time of the first one. */
  readonly entries: number;
  readonly firstAt: string;
  /** When these entries are due; null while they are too few and no time is set. */
  readonly wantedAt: string | null;
  /** Set while a scheduler works on it. */
  readonly takenUntil: string | null;
  /** When a scheduler may take it: `takenUntil`, else `wantedAt`. */
  readonly dueAt: string | null;
  /** API key of the newest entry; null or absent: none. */
  readonly keyId?: string | null;
};

/**
 * Requests to persist a session in its dataset: one document per user, session and dataset, written by ingest in the commit of
 * a session entry, and taken by improve's scheduler. A request is durable, so no entry waits for ever because a process died.
 */
export const improveRequestsCollection: OwnedCollection<RequestDocument> = {
  name: 'improve_wishes',
  level: 'tenant',
  owner: 'improve',
  writers: {
    auth: 'removes the requests of a deleted user',
    ingest: 'asks for an improve in the commit of the session entry',
  },
  belongsTo: { user: 'userId', tenant: 'scope', dataset: 'datasetId' },
  indexes: [{ fields: ['dueAt'], wide: true }, { fields: ['datasetId'] }, { fields: ['userId', 'sessionId'] }],
};

export interface StoredImproveRequest {
  readonly id: string;
  readonly version: number;
  readonly tenant: TenantId;
  readonly user: UserId;
  readonly session: string;
  readonly dataset: DatasetId;
  readonly entries: number;
  /** API key of the newest entry: the improve acts with it and is charged to its budgets too. */
  readonly keyId: string | null;
}

/** When the request of a session is due (IMPROVE_DEBOUNCE_ENTRIES, IMPROVE_DEBOUNCE_SECONDS). */
export interface Debounce {
  /** After this many entries; 1 with `ms` set: the number does not matter. */
  readonly entries: number;
  /** After this time; 0: time does not matter. */
  readonly ms: number;
}

export type ImproveRequests = ReturnType<typeof createImproveRequests>;

export function createImproveRequests(store: DocumentStore) {
  const records = repository(store, improveRequestsCollection, (stored) => stored);
  return {
    /**
     * Makes the writes that request an improve for one more entry. Their commit fails with `DuplicateKeyError` or
     * `VersionConflictError` when the request changed meanwhile.
     */
    async requestWrites(
      scope: Scope,
      request: Pick<StoredImproveRequest, 'user' | 'session' | 'dataset' | 'keyId'>,
      { at, debounce }: { readonly at: Date; readonly debounce: Debounce },
    ): Promise<readonly Write[]> {
      const id = documentId(request);
      const stored = await records.get(scope, id);
      const now = at.toISOString();
      const waiting = stored === null || stored.value.entries === 0 ? null : stored.value;
      const firstAt = waiting?.firstAt ?? now;
      const entries = (waiting?.entries ?? 0) + 1;
      const wantedAt = earlier(waiting?.wantedAt ?? null, dueTime({ entries, firstAt, now }, debounce));
      const takenUntil = stored?.value.takenUntil ?? null;
      const { user: userId, session: sessionId, dataset: datasetId, keyId } = request;
      const waitingFor = { entries, firstAt, wantedAt, takenUntil, dueAt: takenUntil ?? wantedAt, keyId };
      return [records.putWrite(id, { userId, sessionId, datasetId, ...waitingFor }, stored)];
    },
    has: async (scope: Scope, request: Pick<StoredImproveRequest, 'user' | 'session' | 'dataset'>) =>
      (await records.get(scope, documentId(request))) !== null,
    /** Reads the due requests of every tenant, oldest first. */
    async due(scope: SystemScope, now: Date, limit: number): Promise<readonly StoredImproveRequest[]> {
      const { items } = await records.page(scope, {
        where: { dueAt: { exists: true, atMost: now.toISOString() } },
        sort: [{ field: 'dueAt' }],
        limit,
      });
      return items.map(requestOf);
    },
    /** Takes a request until a time, after which another scheduler may take it. Null when another one took it. */
    async take(request: StoredImproveRequest, until: Date): Promise<StoredImproveRequest | null> {
      const scope = { tenant: request.tenant };
      const stored = await records.get(scope, request.id);
      if (stored === null || stored.version !== request.version) return null;
      const takenUntil = until.toISOString();
      const document = { ...stored.value, entries: 0, wantedAt: null, takenUntil, dueAt: takenUntil };
      const write = records.replaceWrite(request.id, document, request.version);
      const isTaken = await ignoreConflict(store.commit(scope, [write]));
      return isTaken ? { ...request, version: request.version + 1 } : null;
    },
    /** Removes a taken request, or keeps what is left of it: the entries since it was taken. */
    async settle({ tenant, id }: StoredImproveRequest): Promise<void> {
      await retryOnConflict(async () => {
        const stored = await records.get({ tenant }, id);
        if (stored === null) return;
        const { value, version } = stored;
        const left = { ...value, takenUntil: null, dueAt: value.wantedAt };
        await store.commit({ tenant }, [
          value.entries === 0 ? records.removeWrite(id, version) : records.replaceWrite(id, left, version),
        ]);
      });
    },
    /** Makes the write that removes the requests of a session. */
    removeOfSessionWrite: (user: UserId, session: string) =>
      records.removeWhereWrite({ userId: user, sessionId: session }),
    /** Removes the requests for a dataset. Returns how many are left. */
    async eraseDataset({ tenant }: Scope, dataset: DatasetId): Promise<number> {
      const where = { datasetId: dataset };
      // Most datasets have none: one read is enough.
      if ((await records.count({ tenant }, where)) === 0) return 0;
      await records.removeWhere({ tenant }, where);
      return records.count({ tenant }, where);
    },
  };
}

/** Returns when the entries are due; null when no limit applies yet. */
function dueTime(
  { entries, firstAt, now }: { readonly entries: number; readonly firstAt: string; readonly now: string },
  debounce: Debounce,
): string | null {
  const byTime = debounce.ms > 0 ? new Date(Date.parse(firstAt) + debounce.ms).toISOString() : null;
  const countsEntries = debounce.ms === 0 || debounce.entries > 1;
  return countsEntries && entries >= debounce.entries ? now : byTime;
}

function earlier(one: string | null, other: string | null): string | null {
  if (one === null || other === null) return one ?? other;
  return one < other ? one : other;
}

function documentId({ user, session, dataset }: { user: UserId; session: string; dataset: DatasetId }): string {
  return `${user}/${sha256(session)}/${dataset}`;
}

function requestOf({ id, version, tenant, value }: Stored<RequestDocument>): StoredImproveRequest {
  const { userId, sessionId, datasetId, entries, keyId = null } = value;
  return {
    id,
    version,
    entries,
    keyId,
    session: sessionId,
    tenant: asId(tenant ?? ''),
    user: asId(userId),
    dataset: asId(datasetId),
  };
}
