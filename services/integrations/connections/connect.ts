import type { Principal } from '../../common/kernel/principal.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import type { SourceConnection } from '../../common/records/integrations/connections.ts';
import { DuplicateKeyError } from '../../common/storage/ports/document-store.ts';
import type { SourceDependencies } from '../dependencies.ts';
import { startWrites, wakeImports } from '../imports/start-import.ts';
import type { ConnectedAccount, Connector, SourceAccess } from '../providers/connector.ts';

/** Whom a connection belongs to. */
export type Connecting = Pick<SourceConnection, 'userId' | 'tenant' | 'keyId'>;

export function connectingOf({ id: userId, tenant, key }: Principal): Connecting {
  return { userId, tenant, keyId: key?.id ?? null };
}

/** The account is connected by another owner. */
export class AlreadyConnectedError extends Error {
  override readonly name = 'AlreadyConnectedError';
}

/**
 * Stores a connection, and starts its first import where something is chosen. The same account of the same user is connected
 * anew: its dataset and selection stay. `AlreadyConnectedError` while another user has it.
 */
export async function storeConnection(
  dependencies: SourceDependencies,
  connector: Connector,
  owner: Connecting,
  account: ConnectedAccount & { readonly datasetName?: string },
): Promise<SourceConnection> {
  const { provider, capabilities } = connector;
  const stored = await retryOnConflict(async () => {
    const { connections, credentials, ids, clock, audit } = dependencies;
    const others = await connections.ofAccount(provider, account.accountId);
    const before = others.find(({ userId, tenant }) => userId === owner.userId && tenant === owner.tenant) ?? null;
    if (
      capabilities.accounts === 'exclusive' &&
      others.some(({ id, status }) => status === 'active' && id !== before?.id)
    ) {
      throw new AlreadyConnectedError();
    }
    const now = clock.now().toISOString();
    const { accountId, label: accountLabel, authType, scopes } = account;
    const metadata = { ...before?.metadata, ...account.metadata };
    const connection: Omit<SourceConnection, 'version'> = {
      ...{ id: before?.id ?? ids.uuid(), provider, accountId, accountLabel, ...owner, authType, scopes, metadata },
      ...{ status: 'active', revokedReason: null, revokedAt: null },
      selection: before?.selection ?? (['none', 'optional'].includes(capabilities.selection) ? null : []),
      dataset: before?.dataset ?? null,
      datasetName:
        before?.datasetName ?? account.datasetName ?? connector.datasetName({ accountId, accountLabel, metadata }),
      ...{ syncing: before?.syncing ?? false, again: false, done: 0, total: null, waitingUntil: null },
      ...{ syncStatus: before?.syncStatus ?? null, syncError: null, syncCounts: before?.syncCounts ?? null },
      ...{ lastSyncedAt: before?.lastSyncedAt ?? null, nextSyncAt: null, buildDue: before?.buildDue ?? false },
      ...{ createdAt: before?.createdAt ?? now, connectedAt: now },
    };
    const activeAccount = JSON.stringify([
      ...[provider, accountId],
      ...(capabilities.accounts === 'exclusive' ? [] : [owner.tenant, owner.userId]),
    ]);
    const starts = !connection.syncing && connection.selection?.length !== 0;
    const known = { ...connection, version: (before?.version ?? 0) + 1 };
    await audit.commit(
      { tenant: owner.tenant },
      [
        connections.putWrite(connection, activeAccount, before),
        ...(account.tokens === undefined ? [] : [await credentials.storeWrite(connection, account.tokens)]),
        ...(starts ? startWrites(dependencies, known) : []),
      ],
      [
        {
          tenant: owner.tenant,
          action: 'source.connected',
          actor: owner.userId,
          subject: connection.id,
          details: { provider },
        },
      ],
    );
    return known;
  }).catch((error: unknown) => {
    // Another user was faster, time and again.
    if (error instanceof DuplicateKeyError) throw new AlreadyConnectedError();
    throw error;
  });
  wakeImports(dependencies);
  return stored;
}

/** The active connection of the caller: the one of the id, else the newest. Null: there is none. */
export async function findConnection(
  { connections }: SourceDependencies,
  { id, tenant }: Principal,
  provider: string,
  connectionId: string | undefined,
): Promise<SourceConnection | null> {
  const own = (await connections.ofUser(id, tenant)).filter(
    (one) => one.provider === provider && (connectionId === undefined || one.id === connectionId),
  );
  return own.find(({ status }) => status === 'active') ?? null;
}

/** 404 when there is none. */
export async function requireConnection(...parameters: Parameters<typeof findConnection>): Promise<SourceConnection> {
  const connection = await findConnection(...parameters);
  if (connection !== null) return connection;
  throw new HttpError(404, { detail: `${parameters[2]} is not connected` });
}

/** Access of a connector to a connection. */
export function accessOf(
  { credentials }: Pick<SourceDependencies, 'credentials'>,
  connector: Connector,
  connection: SourceConnection,
  signal: AbortSignal,
): SourceAccess {
  return {
    ...{ connection, signal },
    token: (rejected) => credentials.accessToken(connection, connector, { signal, rejected }),
  };
}
