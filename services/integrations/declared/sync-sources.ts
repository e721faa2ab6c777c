import { isDeepStrictEqual } from 'node:util';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { mapConcurrently } from '../../common/platform/async/map-concurrently.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import type { AnswerOf, ReplyOf, RequestOf, SourceState } from '../../common/platform/messaging/messages.ts';
import { createManagedResources } from '../../common/records/auth/managed-resources.ts';
import { requireManaged } from '../../common/records/auth/require-managed.ts';
import type { SourceConnection } from '../../common/records/integrations/connections.ts';
import { AlreadyConnectedError, storeConnection } from '../connections/connect.ts';
import { disconnect } from '../connections/disconnect.ts';
import type { SourceDependencies } from '../dependencies.ts';
import { nextImportAt, startImport } from '../imports/start-import.ts';
import { type Found, type Looking, lookAt, SourceFailure } from './look-at-source.ts';

/** Sources that are connected at the same time. */
const CONCURRENT = 4;

type Failure = NonNullable<SourceState['failure']>;
type Request = RequestOf<'integrations.SyncSources'>;

/** See `integrations.SyncSources` in proto/: rules and errors. */
export async function syncSources(
  deps: SourceDependencies,
  request: Request,
  signal: AbortSignal,
): Promise<ReplyOf<'integrations.SyncSources'>> {
  const { crUid } = request;
  if (request.release) {
    const held = await deps.connections.declaredBy(crUid);
    for (const connection of held) await disconnect(deps, connection, { deleteData: false, signal });
    return { sources: [], ended: held.map(sourceOf) };
  }
  const dataset = await requireDataset(deps, request);
  const before = new Map((await deps.connections.declaredBy(crUid)).map((one) => [sourceOf(one), one]));
  const found = await mapConcurrently(request.sources, CONCURRENT, async (source) => {
    const existing = before.get(source.name) ?? null;
    return {
      source,
      existing,
      outcome: await attempt(() => lookAt(deps, { dataset, crUid, source, existing, signal })),
    };
  });
  const failures = new Map<string, Failure>();
  for (const { source, existing, outcome } of found) {
    const work = async () => {
      if (outcome instanceof SourceFailure) throw outcome;
      if (outcome !== null) await bringAbout(deps, { ...request, dataset, source, existing, signal }, outcome);
    };
    const failure = await attempt(work);
    if (failure instanceof SourceFailure)
      failures.set(source.name, { reason: failure.reason, message: failure.message });
  }
  const declared = new Set(request.sources.map(({ name }) => name));
  const ended: string[] = [];
  // Last, so that a source that was renamed keeps its connection.
  for (const connection of await deps.connections.declaredBy(crUid)) {
    if (declared.has(sourceOf(connection))) continue;
    await end(deps, connection, signal);
    ended.push(sourceOf(connection));
  }
  const after = new Map((await deps.connections.declaredBy(crUid)).map((one) => [sourceOf(one), one]));
  const states = request.sources.map(({ name }) => stateOf(deps, name, after.get(name), failures.get(name) ?? null));
  return { sources: await Promise.all(states), ended };
}

function sourceOf({ declared }: SourceConnection): string {
  return declared?.source ?? '';
}

async function requireDataset(deps: SourceDependencies, { tenantId, datasetId, crUid }: Request): Promise<DatasetRef> {
  const dataset = await deps.datasets.get({ tenant: tenantId }, datasetId);
  if (dataset === null) throw engramError('DatasetNotFoundError', `Dataset ${datasetId} not found.`);
  const managedResources = createManagedResources(deps.store);
  await requireManaged({ managedResources }, { tenant: tenantId, dataset: datasetId }, crUid);
  return dataset;
}

async function attempt<Value>(work: () => Promise<Value>): Promise<Value | SourceFailure> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof SourceFailure) return error;
    throw error;
  }
}

function end(deps: SourceDependencies, connection: SourceConnection, signal: AbortSignal): Promise<void> {
  return disconnect(deps, connection, { deleteData: connection.declared?.deleteOnRemoval ?? false, signal });
}

type Bringing = Looking & Pick<Request, 'sources'>;

/** Stores the connection as declared, and starts an import where that changes what is brought in. */
async function bringAbout(
  deps: SourceDependencies,
  { dataset, crUid, source, existing, sources, signal }: Bringing,
  { connector, declaration, account }: Found,
): Promise<void> {
  const selection = source.selection ?? null;
  if (account === null) {
    if (existing !== null) await change(deps, existing, { connector, declaration, selection });
    return;
  }
  const { provider } = connector;
  const sharing = (await deps.connections.ofAccount(provider, account.accountId)).find(
    (one) => one.dataset === dataset.id && one.declared?.resource === crUid && sourceOf(one) !== source.name,
  );
  if (sharing?.status === 'active' && sources.some(({ name }) => name === sourceOf(sharing))) {
    const message = `Source ${sourceOf(sharing)} brings in the same: put both selections into one source.`;
    throw new SourceFailure('DeclaredTwice', message);
  }
  const owner = { userId: dataset.ownerId, tenant: dataset.tenant, keyId: null };
  const declared = { declaration, dataset, selection };
  const stored = await storeConnection(deps, connector, owner, { ...account, declared }).catch((error: unknown) => {
    if (error instanceof AlreadyConnectedError) throw new SourceFailure('DeclaredTwice', 'It is connected already.');
    throw error;
  });
  if (existing !== null && existing.id !== stored.id) await end(deps, existing, signal);
}

/** Changes what needs no new connection: the selection, the schedule, and what its removal means. */
async function change(
  deps: SourceDependencies,
  { id }: SourceConnection,
  { connector, declaration, selection }: Pick<Found, 'connector' | 'declaration'> & Pick<SourceConnection, 'selection'>,
): Promise<void> {
  await retryOnConflict(async () => {
    const present = await deps.connections.get(id);
    if (present === null || present.status !== 'active') return;
    const chosen = { selection, since: declaration.since ?? null };
    const before = { selection: present.selection, since: present.declared?.since ?? null };
    const isReselected = !isDeepStrictEqual(before, chosen);
    if (!isReselected && isDeepStrictEqual(present.declared, declaration)) return;
    const { syncing, tenant } = present;
    const next = nextImportAt({ declared: declaration }, connector, deps.clock.now());
    const followed = syncing ? { again: true } : { nextSyncAt: next };
    const changed = { selection, declared: declaration, ...followed };
    await deps.store.commit({ tenant }, [deps.connections.changeWrite(id, changed, { status: 'active', syncing })]);
    if (isReselected && !syncing) await startImport(deps, { ...present, ...changed }, { again: true });
  });
}

async function stateOf(
  { sourceItems }: SourceDependencies,
  name: string,
  connection: SourceConnection | undefined,
  failure: Failure | null,
): Promise<AnswerOf<'integrations.SyncSources'>['sources'][number]> {
  if (connection === undefined) {
    const nothing = { items: 0, failed: 0, lastSyncedAt: null, nextSyncAt: null };
    return { name, connected: false, importing: false, ...nothing, failure };
  }
  const { id, tenant, dataset, status, syncing, lastSyncedAt, nextSyncAt, syncCounts } = connection;
  return {
    name,
    connected: status === 'active',
    importing: status === 'active' && syncing,
    lastSyncedAt,
    nextSyncAt,
    items: dataset === null ? 0 : await sourceItems.countStored({ tenant, dataset }, id),
    failed: syncCounts?.failed ?? 0,
    failure: failure ?? failureOfConnection(connection),
  };
}

function failureOfConnection({ status, revokedReason, syncStatus, syncError }: SourceConnection): Failure | null {
  if (status === 'revoked') return { reason: 'Revoked', message: revokedReason ?? 'It was disconnected.' };
  if (syncStatus !== 'degraded') return null;
  return { reason: 'ImportFailed', message: syncError ?? 'Documents of it could not be brought in.' };
}
