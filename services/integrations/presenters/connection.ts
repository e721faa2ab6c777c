import type { SourceConnection } from '../../common/records/integrations/connections.ts';
import type { SourceDependencies } from '../dependencies.ts';
import { isChosen } from '../imports/carry-out-import.ts';
import type { Connector, SourceResource } from '../providers/connector.ts';
import { isConnectable } from '../providers/providers.ts';

/** The wire form of a connection; what it has no value for is left out. */
export async function presentConnection(
  { sourceItems, connectors }: Pick<SourceDependencies, 'sourceItems' | 'connectors'>,
  connection: SourceConnection,
) {
  const { id, provider, tenant, dataset, syncing, done, total } = connection;
  const storedItems = dataset === null ? 0 : await sourceItems.countStored({ tenant, dataset }, id);
  const error = connection.revokedReason ?? connection.syncError;
  const selection = connectors.get(provider)?.capabilities.selection ?? 'none';
  return {
    connected: connection.status === 'active',
    connectionId: id,
    provider,
    accountLabel: connection.accountLabel,
    providerAccountId: connection.accountId,
    connectedAt: connection.connectedAt,
    datasetName: connection.datasetName,
    storedItems,
    selected: connection.selection,
    ...(connection.leftOut?.length ? { leftOut: connection.leftOut } : {}),
    selectable: !['none', 'per import'].includes(selection),
    allowsAll: selection !== 'required',
    ...syncState(connection),
    ...(dataset === null ? {} : { datasetId: dataset }),
    ...(connection.parentId === undefined ? {} : { partOf: connection.parentId }),
    ...(connection.nextSyncAt === null ? {} : { nextSyncAt: connection.nextSyncAt }),
    ...(connection.syncCounts === null ? {} : { syncCounts: connection.syncCounts }),
    ...(syncing ? { progress: { done, total } } : {}),
    ...(connection.waitingUntil === null ? {} : { waitingUntil: connection.waitingUntil }),
    ...(error === null ? {} : { error }),
    ...(connection.accessNote ? { accessNote: connection.accessNote } : {}),
    ...(connection.declared ? { declaredAs: connection.declared.source } : {}),
  };
}

/** The row of a provider in the list of all. */
export function presentProvider(
  provider: string,
  connection: SourceConnection | null,
  connector: Connector | undefined,
) {
  return {
    provider,
    configured: isConnectable(connector),
    oauth: connector?.oauth !== undefined,
    connected: connection !== null,
    accountLabel: connection?.accountLabel ?? null,
    providerAccountId: connection?.accountId ?? null,
    connectedAt: connection?.connectedAt ?? null,
    ...(connection === null ? { syncStatus: null, lastSyncedAt: null } : syncState(connection)),
    syncCounts: connection?.syncCounts ?? null,
  };
}

function syncState({ syncing, syncStatus, lastSyncedAt }: SourceConnection) {
  return { syncStatus: syncing ? ('syncing' as const) : syncStatus, lastSyncedAt };
}

export function presentResources(
  resources: readonly SourceResource[],
  { selection, leftOut = [] }: SourceConnection,
  { kinds }: Connector['capabilities'],
) {
  const chosen = new Set(selection);
  const isSelected = (resource: SourceResource) => selection === null || isChosen(resource, chosen);
  return {
    resources: resources.map(({ isPart: _, ...resource }) => ({ ...resource, selected: isSelected(resource) })),
    selected: selection,
    ...(kinds === undefined
      ? {}
      : { kinds: Object.entries(kinds).map(([id, name]) => ({ id, name, selected: !leftOut.includes(id) })) }),
  };
}
