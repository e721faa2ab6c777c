import type { DatasetRef } from '../../common/kernel/dataset.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { nameConflict, retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import type { DeclaredConnection, SourceConnection } from '../../common/records/integrations/connections.ts';
import { importedBefore } from '../../common/records/integrations/connections.ts';
import type { SourceDependencies } from '../dependencies.ts';
import { startWrites, wakeImports } from '../imports/start-import.ts';
import {
  type ConnectedAccount,
  type Connector,
  type SourceAccess,
  SourceRevokedError,
} from '../providers/connector.ts';

/** Whom a connection belongs to. */
export type Connecting = Pick<SourceConnection, 'userId' | 'tenant' | 'keyId'>;

export function connectingOf({ id: userId, tenant, key }: Principal): Connecting {
  return { userId, tenant, keyId: key?.id ?? null };
}

/** What a Dataset resource declares of a connection of its dataset. */
interface DeclaredFor {
  readonly declaration: DeclaredConnection;
  readonly dataset: DatasetRef;
  /** Null: everything. */
  readonly selection: readonly string[] | null;
}

/** It is in the list of its user: it is active, or was ended by its provider and nobody has taken it off. */
export function isListed({ status, revokedReason }: SourceConnection): boolean {
  return status === 'active' || revokedReason !== null;
}

/** A person has connected it: it is no import of its own, and no source of a resource. */
export function isOfAccount({ parentId, declared }: Pick<SourceConnection, 'parentId' | 'declared'>): boolean {
  return parentId === undefined && !declared;
}

/** State of an import of its own whose account is connected anew. */
export const RESUMED = { status: 'active', revokedReason: null, revokedAt: null } as const;

/** What makes an import of its own the only one of the account into its dataset. */
export function partAccount({ provider, accountId, userId, dataset }: Omit<SourceConnection, 'version'>): string {
  return JSON.stringify([provider, accountId, userId, dataset]);
}

/** The account is connected by another owner. */
export class AlreadyConnectedError extends Error {
  override readonly name = 'AlreadyConnectedError';
}

type Connected = ConnectedAccount & { readonly datasetName?: string; readonly declared?: DeclaredFor };

/**
 * Stores a connection, and starts its first import where something is chosen. The same account of the same user, or of the same
 * dataset where a resource declares it, is connected anew: its items stay, and what a person chose. `AlreadyConnectedError` while
 * another user has it.
 */
export async function storeConnection(
  dependencies: SourceDependencies,
  connector: Connector,
  owner: Connecting,
  account: Connected,
): Promise<SourceConnection> {
  const { provider, capabilities } = connector;
  const { declared } = account;
  const storing = retryOnConflict(async () => {
    const { connections, credentials, audit } = dependencies;
    const all = await connections.ofAccount(provider, account.accountId);
    const others = all.filter((one) => !one.parentId && (declared !== undefined || !one.declared));
    const before = others.find((one) => isSame(one, owner, declared)) ?? null;
    const isExclusive = declared === undefined && capabilities.accounts === 'exclusive';
    if (isExclusive && others.some(({ id, status }) => status === 'active' && id !== before?.id)) {
      throw new AlreadyConnectedError();
    }
    const connection = connectedAs(dependencies, connector, owner, account, before);
    const holder = isExclusive ? [] : [owner.tenant, declared?.dataset.id ?? owner.userId];
    const activeAccount = JSON.stringify([provider, account.accountId, ...holder]);
    const now = connection.connectedAt;
    const parts = all.filter(({ parentId, status }) => parentId === connection.id && status === 'revoked');
    const starts = !connection.syncing && connection.selection?.length !== 0;
    const known = { ...connection, version: (before?.version ?? 0) + 1 };
    const resource = declared === undefined ? {} : { resource: declared.declaration.resource };
    await audit.commit(
      { tenant: owner.tenant },
      [
        connections.putWrite(connection, activeAccount, before),
        ...(account.tokens === undefined ? [] : [await credentials.storeWrite(connection, account.tokens)]),
        ...parts.map((part) => connections.putWrite({ ...part, ...RESUMED, nextSyncAt: now }, partAccount(part), part)),
        ...(starts ? startWrites(dependencies, known) : []),
      ],
      [
        {
          tenant: owner.tenant,
          action: 'source.connected',
          actor: declared === undefined ? owner.userId : null,
          subject: connection.id,
          details: { provider, ...resource },
        },
      ],
    );
    return known;
  });
  // Another user was faster, time and again.
  const stored = await nameConflict(storing, { duplicate: () => new AlreadyConnectedError() });
  wakeImports(dependencies);
  return stored;
}

function isSame(
  { id, userId, tenant, dataset }: SourceConnection,
  owner: Connecting,
  declared: DeclaredFor | undefined,
): boolean {
  if (tenant !== owner.tenant) return false;
  if (declared === undefined) return userId === owner.userId;
  return dataset === declared.dataset.id && id !== declared.declaration.authorizedBy;
}

/** The connection as it is from now on; `before` is the one that is connected anew. */
function connectedAs(
  { ids, clock }: Pick<SourceDependencies, 'ids' | 'clock'>,
  connector: Connector,
  owner: Connecting,
  account: Connected,
  before: SourceConnection | null,
): Omit<SourceConnection, 'version'> {
  const { provider, capabilities } = connector;
  const now = clock.now().toISOString();
  const { accountId, label: accountLabel, authType, scopes, declared, datasetName } = account;
  const metadata = { ...before?.metadata, ...account.metadata };
  const nothing = ['none', 'optional'].includes(capabilities.selection) ? null : [];
  const isSyncing = before?.syncing ?? false;
  return {
    id: before?.id ?? ids.uuid(),
    provider,
    accountId,
    accountLabel,
    ...owner,
    authType,
    scopes,
    metadata,
    status: 'active',
    revokedReason: null,
    revokedAt: null,
    ...(declared === undefined
      ? {
          selection: before?.selection ?? nothing,
          dataset: before?.dataset ?? null,
          datasetName:
            before?.datasetName ?? datasetName ?? connector.datasetName({ accountId, accountLabel, metadata }),
        }
      : { selection: declared.selection, dataset: declared.dataset.id, datasetName: declared.dataset.name }),
    ...(declared === undefined && before?.leftOut !== undefined ? { leftOut: before.leftOut } : {}),
    ...importedBefore(before),
    syncing: isSyncing,
    again: isSyncing,
    createdAt: before?.createdAt ?? now,
    connectedAt: now,
    declared: declared?.declaration ?? null,
  };
}

/** The active connection of the caller: the one of the id, else the newest that a person has connected. Null: there is none. */
export async function findConnection(
  { connections }: SourceDependencies,
  { id, tenant }: Principal,
  provider: string,
  connectionId: string | undefined,
): Promise<SourceConnection | null> {
  return connectionAmong(await connections.ofUser(id, tenant), provider, connectionId);
}

export function connectionAmong(
  all: readonly SourceConnection[],
  provider: string,
  connectionId: string | undefined,
): SourceConnection | null {
  const ofProvider = all.filter((one) => one.provider === provider);
  return newestOf(
    ofProvider.filter(({ id, parentId }) => (connectionId === undefined ? !parentId : id === connectionId)),
  );
}

/** The connection, which also counts as syncing while one of its imports into other datasets is under way. */
export function withParts(connection: SourceConnection, all: readonly SourceConnection[]): SourceConnection {
  const isSyncing = all.some(({ parentId, syncing }) => parentId === connection.id && syncing);
  return { ...connection, syncing: connection.syncing || isSyncing };
}

/** The first that is active, of those that no resource declares if there are any. */
export function newestOf(newestFirst: readonly SourceConnection[]): SourceConnection | null {
  const active = newestFirst.filter(({ status }) => status === 'active');
  return active.find(({ declared }) => !declared) ?? active[0] ?? null;
}

/** 404 when there is none. */
export async function requireConnection(...parameters: Parameters<typeof findConnection>): Promise<SourceConnection> {
  const connection = await findConnection(...parameters);
  if (connection !== null) return connection;
  throw new HttpError(404, { detail: `${parameters[2]} is not connected` });
}

/** Access of a connector to a connection. */
export function accessOf(
  { credentials, connections }: Pick<SourceDependencies, 'credentials' | 'connections'>,
  connector: Connector,
  connection: SourceConnection,
  signal: AbortSignal,
): SourceAccess {
  const { parentId, declared } = connection;
  const holderId = parentId ?? declared?.authorizedBy ?? null;
  return {
    connection,
    signal,
    async token(rejected) {
      const holder = holderId === null ? connection : await connections.get(holderId);
      if (holder?.status === 'active') return credentials.accessToken(holder, connector, { signal, rejected });
      throw new SourceRevokedError(`The connection to ${connector.capabilities.title} has ended.`);
    },
  };
}
