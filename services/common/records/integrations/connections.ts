import type { DatasetId, TenantId, UserId } from '../../kernel/brand.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { SYSTEM_SCOPE } from '../../kernel/scope.ts';
import type { DocumentStore, Stored, Write } from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';
import { repository } from '../base/repository.ts';

/** Numbers of the last import. */
/**
 * Where failures of an import lie: in taking a document into the dataset, at the source, in an access that has ended, in a
 * budget that is used up, or in a selection that names nothing.
 */
export const IMPORT_FAILURES = [
  'failed_ingestion',
  'failed_source',
  'failed_auth',
  'failed_budget',
  'failed_not_found',
] as const;
export type ImportFailure = (typeof IMPORT_FAILURES)[number];

/** Counts of an import; the sum of its failures is `failed`. */
export type ImportCounts = {
  readonly scanned: number;
  readonly skipped: number;
  readonly failed: number;
} & { readonly [Failure in ImportFailure]?: number };

/** What the imports of one job have done. */
export type ImportChanges = {
  readonly job: string;
  readonly startedAt: string;
  readonly added: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly deleted: number;
  /** Further numbers of the connector, such as messages. */
  readonly counted: Readonly<Record<string, number>>;
};

/** What a Dataset resource says of a connection that it declares. */
export type DeclaredConnection = {
  /** `metadata.uid` of the resource. */
  readonly resource: string;
  /** Name of its entry in `spec.sources`. */
  readonly source: string;
  readonly address: string | null;
  /** Version of the Secret that it was connected with; null: it needs none. */
  readonly credentialsVersion: string | null;
  /** The connection of the same user whose tokens it uses; null: its own. */
  readonly authorizedBy: string | null;
  /** At most one of these two; none: as often as the connector says. */
  readonly everyMs: number | null;
  readonly cron: string | null;
  /** Time before which nothing is brought in; absent or null: from the beginning. */
  readonly since?: string | null;
  readonly deleteOnRemoval: boolean;
};

/** A source that a user, or the resource of a dataset for its owner, has connected. */
export interface SourceConnection {
  readonly id: string;
  readonly version: number;
  readonly provider: string;
  readonly accountId: string;
  readonly accountLabel: string;
  /** The connection whose account and tokens it uses, for an import of its own into another dataset; absent: it has its own. */
  readonly parentId?: string;
  readonly userId: UserId;
  /** Tenant that the user connected it in. */
  readonly tenant: TenantId;
  /** The API key that it was connected with. */
  readonly keyId: string | null;
  readonly authType: string;
  readonly scopes: readonly string[];
  readonly metadata: JsonObject;
  readonly status: 'active' | 'revoked';
  /** Why the provider or its answer ended it; null: it is active, or was disconnected by its user. */
  readonly revokedReason: string | null;
  /** Chosen resources; null: all of them. */
  readonly selection: readonly string[] | null;
  /** Kinds of documents of the connector that are not brought in; absent: none. */
  readonly leftOut?: readonly string[];
  readonly dataset: DatasetId | null;
  readonly datasetName: string;
  /** An import is queued or under way. */
  readonly syncing: boolean;
  /** Something changed during the import: another one follows it. */
  readonly again: boolean;
  /** Documents that the import under way has looked at, and how many there are where that is known. */
  readonly done: number;
  readonly total: number | null;
  /** The source asked to wait until then. */
  readonly waitingUntil: string | null;
  readonly syncStatus: 'ok' | 'degraded' | null;
  readonly syncError: string | null;
  readonly syncCounts: ImportCounts | null;
  /** Why somebody may see less of it here than at the source; null or absent: nobody does. */
  readonly accessNote?: string | null;
  /** Absent before the first import. */
  readonly changes?: ImportChanges;
  readonly lastSyncedAt: string | null;
  /** When an import starts by itself. */
  readonly nextSyncAt: string | null;
  /** Items were stored that no run was started for yet. */
  readonly buildDue: boolean;
  readonly createdAt: string;
  readonly connectedAt: string;
  readonly revokedAt: string | null;
  /** Null or absent: a person has connected it. */
  readonly declared?: DeclaredConnection | null;
}

/** State of a connection of which nothing was brought in. */
export const NOTHING_IMPORTED = {
  syncing: false,
  again: false,
  done: 0,
  total: null,
  waitingUntil: null,
  syncStatus: null,
  syncError: null,
  syncCounts: null,
  lastSyncedAt: null,
  nextSyncAt: null,
  buildDue: false,
} as const;

/** State of a connection that is connected anew: how its last import went, and none that is under way or planned. */
export function importedBefore(before: SourceConnection | null) {
  if (before === null) return NOTHING_IMPORTED;
  const { syncStatus, syncCounts, lastSyncedAt, buildDue } = before;
  return { ...NOTHING_IMPORTED, syncStatus, syncCounts, lastSyncedAt, buildDue };
}

type ConnectionDocument = Omit<SourceConnection, 'id' | 'version' | 'tenant' | 'dataset'> & {
  readonly tenantId: TenantId;
  readonly datasetId: DatasetId | null;
  /** The provider's account, while it is connected; null: it may be connected again by others. */
  readonly activeAccount: string | null;
  /** The resource that declares it. */
  readonly declaredBy?: string | null;
};

/** A user may have connected several sources; an account of a provider is connected once on the server. */
export const connectionsCollection: OwnedCollection<ConnectionDocument> = {
  name: 'source_connections',
  level: 'system',
  owner: 'integrations',
  writers: { auth: 'removes them in the commit that deletes the user or the tenant' },
  belongsTo: { user: 'userId', tenant: 'tenantId' },
  indexes: [
    { fields: ['activeAccount'], unique: true },
    { fields: ['userId', 'connectedAt'] },
    { fields: ['provider', 'accountId'] },
    { fields: ['provider', 'status'] },
    { fields: ['tenantId'] },
    { fields: ['nextSyncAt'] },
    { fields: ['declaredBy'] },
  ],
};

export type ConnectionChange = Partial<Omit<SourceConnection, 'id' | 'version' | 'userId' | 'tenant' | 'createdAt'>>;

export type Connections = ReturnType<typeof createConnections>;

/** Writes are committed by the caller, under any scope. */
export function createConnections(store: DocumentStore) {
  const records = repository(store, connectionsCollection, connectionOf);
  return {
    get: (id: string) => records.get(SYSTEM_SCOPE, id),
    /** Those of a user in a tenant, newest first, at most 1000. */
    async ofUser(user: UserId, tenant: TenantId): Promise<readonly SourceConnection[]> {
      const sort = [{ field: 'userId' }, { field: 'connectedAt', descending: true }] as const;
      const { items } = await records.page(SYSTEM_SCOPE, { where: { userId: user }, sort, limit: 1000 });
      return items.filter((connection) => connection.tenant === tenant);
    },
    /** All of an account, of any user, also those that are revoked. */
    ofAccount: (provider: string, accountId: string) => records.all(SYSTEM_SCOPE, { where: { provider, accountId } }),
    /** Those that a resource declares. */
    declaredBy: (resource: string) => records.all(SYSTEM_SCOPE, { where: { declaredBy: resource } }),
    /** Whose import is due, the longest one first. */
    async due(now: string, limit: number): Promise<readonly SourceConnection[]> {
      const where = { nextSyncAt: { atMost: now } };
      return (await records.page(SYSTEM_SCOPE, { where, sort: [{ field: 'nextSyncAt' }], limit })).items;
    },
    /** Those of a provider that are active. */
    active: (provider: string) => records.all(SYSTEM_SCOPE, { where: { provider, status: 'active' } }),
    /** `DuplicateKeyError` in the commit when the account is connected already. */
    putWrite(connection: Omit<SourceConnection, 'version'>, account: string, before: SourceConnection | null): Write {
      const { id, tenant, dataset, ...value } = { ...connection, version: undefined };
      const declaredBy = value.declared?.resource ?? null;
      const document = { ...value, tenantId: tenant, datasetId: dataset, activeAccount: account, declaredBy };
      return records.putWrite(id, document as ConnectionDocument, before);
    },
    /** `VersionConflictError` in the commit unless it is still as `where` says. */
    changeWrite(id: string, { dataset, ...change }: ConnectionChange, where: ConnectionState = {}): Write {
      const set = { ...change, ...(dataset === undefined ? {} : { datasetId: dataset }) };
      const freed = change.status === 'revoked' ? { activeAccount: null } : {};
      const by = change.declared === undefined ? {} : { declaredBy: change.declared?.resource ?? null };
      return records.updateWrite(id, { where, set: { ...set, ...freed, ...by }, required: true });
    },
    removeWrite: (id: string) => records.removeWrite(id),
  };
}

type ConnectionState = Partial<Pick<SourceConnection, 'status' | 'syncing' | 'again'>>;

function connectionOf({ id, version, value }: Stored<ConnectionDocument>): SourceConnection {
  const { activeAccount: _, declaredBy: __, tenantId, datasetId, ...connection } = value;
  return { ...connection, id, version, tenant: tenantId, dataset: datasetId };
}
