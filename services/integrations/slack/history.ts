import { setTimeout as sleep } from 'node:timers/promises';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import type { SourceConnection } from '../../common/records/integrations/connections.ts';
import { importedBefore } from '../../common/records/integrations/connections.ts';
import { type Connecting, findConnection, isOfAccount, partAccount, RESUMED } from '../connections/connect.ts';
import type { SourceDependencies } from '../dependencies.ts';
import { startImport, startWrites, wakeImports } from '../imports/start-import.ts';
import { type HistoryPlan, type HistorySelection, isAllowed, planOf, threadsOf } from '../providers/slack-selection.ts';

const LOOK_MS = 200;

/** Where the imports of a team into a dataset are asked for. */
interface HistoryPlace {
  readonly parent: SourceConnection;
  readonly owner: Connecting;
  readonly dataset: Pick<DatasetRef, 'id' | 'name'>;
}

/** The active connection of the caller to a team; null: there is none, or it is somebody else's. */
export async function ownTeam(
  dependencies: SourceDependencies,
  principal: Principal,
  teamId: string,
): Promise<SourceConnection | null> {
  const all = await dependencies.connections.ofAccount('slack', teamId);
  const isOwn = ({ userId, tenant }: SourceConnection) => userId === principal.id && tenant === principal.tenant;
  return all.find((one) => one.status === 'active' && isOfAccount(one) && isOwn(one)) ?? null;
}

/** 404 in the words of Slack's own routes. */
export async function requireSlack(
  dependencies: SourceDependencies,
  principal: Principal,
  connectionId: string | undefined,
): Promise<SourceConnection> {
  const connection = await findConnection(dependencies, principal, 'slack', connectionId);
  if (connection !== null && isOfAccount(connection)) return connection;
  throw new HttpError(404, { detail: 'Slack is not connected.' });
}

/** 400 for channels that the owner has not allowed. */
function requireAllowed(parent: SourceConnection, selection: HistorySelection): void {
  const named = [...selection.channel_ids, ...threadsOf(selection).map((thread) => thread.channel_id)];
  const outside = named.filter((id) => !isAllowed(parent, id));
  if (outside.length === 0) return;
  throw new HttpError(400, { detail: `The app is not allowed in ${[...new Set(outside)].join(', ')}.` });
}

/** The dataset, which the caller may write; 403 for any other. */
export async function writableDataset(
  { messenger }: SourceDependencies,
  where: { readonly ids: readonly string[] } | { readonly names: readonly string[]; readonly createMissing: true },
  context: CallContext,
): Promise<DatasetRef> {
  const { datasets } = await messenger.call('auth.ResolveDatasets', { permission: 'write', ...where }, context);
  if (datasets[0] !== undefined) return datasets[0];
  throw new HttpError(403, { detail: 'There is no such dataset, or you may not write it.' });
}

/** Starts an import, once; 400 while one of the team into the dataset is under way. Returns the id of its connection. */
export async function importOnce(
  dependencies: SourceDependencies,
  place: HistoryPlace,
  selection: HistorySelection,
): Promise<string> {
  requireAllowed(place.parent, selection);
  return changePlan(dependencies, place, (plan, isSyncing) => {
    if (isSyncing) throw new HttpError(400, { detail: 'An import of this team into this dataset is already running.' });
    return { ...plan, once: selection };
  });
}

/** Saves the standing import of a team into a dataset, and starts it when it is on. */
export async function saveSync(
  dependencies: SourceDependencies,
  place: HistoryPlace,
  sync: NonNullable<HistoryPlan['sync']>,
): Promise<void> {
  if (sync.enabled) requireAllowed(place.parent, sync.selection);
  await changePlan(dependencies, place, (plan) => ({ ...plan, sync }));
}

/** The imports of the caller that belong to the connection, by dataset. */
export async function partsOf(
  { connections }: SourceDependencies,
  parent: SourceConnection,
  userId: string,
): Promise<readonly SourceConnection[]> {
  const all = await connections.ofAccount('slack', parent.accountId);
  return all.filter((one) => one.parentId === parent.id && one.userId === userId && one.dataset !== null);
}

/** Starts the standing imports of a connection, or the one that it is. False: none is on, or all are under way. */
export async function startStanding(dependencies: SourceDependencies, connection: SourceConnection): Promise<boolean> {
  const isOwn = connection.parentId !== undefined;
  const parts = isOwn ? [connection] : await partsOf(dependencies, connection, connection.userId);
  const standing = parts.filter((part) => part.status === 'active' && planOf(part).sync?.enabled === true);
  const started = await Promise.all(standing.map((part) => startImport(dependencies, part, { again: true })));
  return started.includes(true);
}

async function changePlan(
  dependencies: SourceDependencies,
  { parent, owner, dataset }: HistoryPlace,
  change: (plan: HistoryPlan, isSyncing: boolean) => HistoryPlan,
): Promise<string> {
  const { connections, store, ids, clock } = dependencies;
  const id = await retryOnConflict(async () => {
    const parts = await partsOf(dependencies, parent, owner.userId);
    const before = parts.find((one) => one.dataset === dataset.id && one.tenant === owner.tenant) ?? null;
    const isSyncing = before?.status === 'active' && before.syncing;
    const plan = change(before === null ? { once: null, sync: null } : planOf(before), isSyncing);
    const { team_url = null } = parent.metadata;
    const metadata = { ...(plan as unknown as JsonObject), team_url };
    const starts = plan.once !== null || plan.sync?.enabled === true;
    if (before !== null && isSyncing) {
      // The import under way ends with the plan that it finds then, and another one follows it.
      const set = { metadata, again: starts };
      await store.commit({ tenant: owner.tenant }, [
        connections.changeWrite(before.id, set, { status: 'active', syncing: true }),
      ]);
      return before.id;
    }
    const now = clock.now().toISOString();
    const { provider, accountId, accountLabel, authType, scopes } = parent;
    const part: Omit<SourceConnection, 'version'> = {
      id: before?.id ?? ids.uuid(),
      provider,
      accountId,
      accountLabel,
      authType,
      scopes,
      parentId: parent.id,
      ...owner,
      metadata,
      selection: null,
      dataset: dataset.id,
      datasetName: dataset.name,
      ...importedBefore(before),
      ...(before?.changes === undefined ? {} : { changes: before.changes }),
      ...RESUMED,
      createdAt: before?.createdAt ?? now,
      connectedAt: before?.connectedAt ?? now,
    };
    const stored = { ...part, version: (before?.version ?? 0) + 1 };
    await store.commit({ tenant: owner.tenant }, [
      connections.putWrite(part, partAccount(part), before),
      ...(starts ? startWrites(dependencies, stored) : []),
    ]);
    return part.id;
  });
  wakeImports(dependencies);
  return id;
}

/** Waits until no import of the connection is under way. An import goes on when nobody waits for it any more. */
export async function importEnded(
  { connections }: SourceDependencies,
  id: string,
  signal: AbortSignal,
): Promise<SourceConnection> {
  for (;;) {
    const part = await connections.get(id);
    if (part === null) throw new HttpError(400, { detail: 'The import was removed.' });
    if (!part.syncing) return part;
    await sleep(LOOK_MS, undefined, { signal });
  }
}

/** Numbers of the last import, as the contract has them. */
export function resultOf({ dataset, changes }: SourceConnection) {
  const { added = 0, updated = 0, unchanged = 0, deleted = 0, counted = {} } = changes ?? {};
  return {
    dataset_id: dataset as string,
    conversations: counted['conversations'] ?? 0,
    messages: counted['messages'] ?? 0,
    added,
    updated,
    unchanged,
    deleted,
    status: 'completed' as const,
  };
}

/** Why the last import did not bring in everything. */
export function failureOf({ status, syncStatus, syncError, revokedReason }: SourceConnection): string | null {
  if (status !== 'active') return revokedReason ?? 'The connection to Slack has ended.';
  return syncStatus === 'ok' ? null : (syncError ?? 'The import failed.');
}

/** How the last import went, or goes; null before the first. */
export function reportOf(part: SourceConnection) {
  const { changes, syncing, syncStatus, lastSyncedAt } = part;
  if (changes === undefined && !syncing && syncStatus === null) return null;
  const started = { started_at: changes?.startedAt ?? null };
  if (syncing) return { status: 'running' as const, ...started, finished_at: null };
  const ended = { ...started, finished_at: lastSyncedAt };
  const error = failureOf(part);
  if (error !== null) return { status: 'failed' as const, ...ended, error };
  return { status: 'completed' as const, ...ended, result: resultOf(part) };
}
