import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { pagesOf } from '../../common/kernel/result-page.ts';
import type { JobLease } from '../../common/platform/jobs/job-lease.ts';
import { impersonateWithRenewal } from '../../common/platform/messaging/account-authority.ts';
import type { ClaimedJob } from '../../common/ports/work-queue.ts';
import type { SourceConnection } from '../../common/records/integrations/connections.ts';
import { type SourceItem, sourceItemId } from '../../common/records/integrations/source-items.ts';
import { accessOf } from '../connections/connect.ts';
import type { SourceDependencies } from '../dependencies.ts';
import type { Connector, SourceResource } from '../providers/connector.ts';
import { commit, countFailure, failureOf, type ImportAttempt, type ImportTally } from './import-attempt.ts';
import { DisconnectedError, importFeed, isOfTheImport, refreshDocument, startBuild } from './import-feed.ts';
import { removeDocuments, removeMatching } from './remove-documents.ts';
import { openPermissions } from './source-permissions.ts';

/** Authorises an attempt of a job of the connection, and makes its dataset if need be. `PermissionDeniedError` when it may not. */
export async function openAttempt(
  dependencies: SourceDependencies,
  { job, lease, connection, connector }: OpenedJob,
  tally: ImportTally,
): Promise<ImportAttempt> {
  const { messenger, clock, settings } = dependencies;
  const { signal } = lease;
  const { userId, tenant, keyId } = connection;
  const gone = 'The account that connected this source no longer exists or is no longer active.';
  const asking = { requestId: job.id, signal };
  const account = await impersonateWithRenewal(dependencies, { userId, tenant, keyId }, asking, gone);
  const { context } = account;
  const resolve = async (): Promise<DatasetRef> => {
    const named =
      connection.dataset === null
        ? { names: [connection.datasetName], createMissing: true }
        : { ids: [connection.dataset] };
    const { datasets } = await messenger.call('auth.ResolveDatasets', { permission: 'write', ...named }, context);
    if (datasets[0] !== undefined) return datasets[0];
    throw engramError('PermissionDeniedError', 'The dataset no longer exists or may no longer be written.');
  };
  const dataset = await resolve();
  const access = accessOf(dependencies, connector, { ...connection, dataset: dataset.id }, signal);
  let askedMs = clock.monotonicMs();
  return {
    job,
    connector,
    dataset,
    context,
    tally,
    access,
    permissions: await openPermissions(dependencies, { connector, access, dataset }),
    async requireStill() {
      if (clock.monotonicMs() - askedMs < settings.recheckMs) return;
      await account.requireStill();
      if ((await dependencies.connections.get(connection.id))?.status !== 'active') throw new DisconnectedError();
      askedMs = clock.monotonicMs();
    },
  };
}

export interface OpenedJob {
  readonly job: ClaimedJob;
  readonly lease: JobLease;
  readonly connection: SourceConnection;
  readonly connector: Connector;
}

/** Brings the items of a connection into step with its source. What is stored before an error stays. */
export async function carryOutImport(dependencies: SourceDependencies, attempt: ImportAttempt): Promise<void> {
  const { connector, access, dataset, tally } = attempt;
  const { connection } = access;
  const { selection } = connector.capabilities;
  const feeds = connector.capabilities.feeds.filter((feed) => !connection.leftOut?.includes(feed));
  await commit(dependencies, attempt, [], { dataset: dataset.id, waitingUntil: null });
  await takeDeliveries(dependencies, attempt);
  const listed = await connector.list(access);
  const chosen = selection === 'none' || connection.selection === null ? null : new Set(connection.selection);
  const resources = listed.filter((one) => isChosen(one, chosen));
  // A person chose from a list; what a resource declares may be misspelt.
  const names = new Set(listed.flatMap(({ id, name }) => [id, name]));
  const unknown = connection.declared ? [...(chosen ?? [])].filter((name) => !names.has(name)) : [];
  if (unknown.length > 0) {
    countFailure(tally, 'failed_not_found', unknown.length);
    tally.error = `It has no ${unknown.join(', ')}.`;
  }
  if (selection !== 'per import' || connection.declared)
    await removeDeselected(dependencies, attempt, { resources: new Set(resources.map(({ id }) => id)), feeds });
  for (const { id: resource, name } of resources) {
    for (const feed of feeds) {
      try {
        await importFeed(dependencies, attempt, { connectionId: connection.id, resource, feed });
      } catch (error) {
        if (isOfTheImport(error, access)) throw error;
        dependencies.logger.warn('import.feed.failed', { connectionId: connection.id, resource, feed, error });
        countFailure(tally, failureOf(error));
        tally.error ??= `${name}: ${error instanceof Error ? error.message : String(error)}`;
      }
    }
  }
  try {
    await recheckPermissions(dependencies, attempt);
  } catch (error) {
    if (isOfTheImport(error, access)) throw error;
    dependencies.logger.warn('import.permissions.failed', { connectionId: connection.id, error });
    countFailure(tally, failureOf(error));
    tally.error ??= `Permissions: ${error instanceof Error ? error.message : String(error)}`;
  }
  const { buildDue } = (await dependencies.connections.get(connection.id)) ?? {};
  if (buildDue) await startBuild(dependencies, attempt);
}

/** Whether a selection has a resource, by its id or its name; null has all that are no part of another. */
export function isChosen(
  { id, name, isPart }: Pick<SourceResource, 'id' | 'name' | 'isPart'>,
  chosen: ReadonlySet<string> | null,
): boolean {
  return chosen === null ? isPart !== true : chosen.has(id) || chosen.has(name);
}

/** Removes what webhooks reported as deleted, and fetches again what they reported as changed. */
async function takeDeliveries(dependencies: SourceDependencies, attempt: ImportAttempt): Promise<void> {
  const { events } = dependencies;
  const connectionId = attempt.access.connection.id;
  for (const { id, gone, stale = [] } of await events.waiting(connectionId)) {
    await removeDocuments(
      dependencies,
      attempt,
      gone.map((one) => sourceItemId({ connectionId, ...one })),
    );
    for (const { key, ...feed } of stale) await refreshDocument(dependencies, attempt, { connectionId, ...feed }, key);
    await commit(dependencies, attempt, [events.takenWrite(id)]);
  }
}

/** Removes the documents of resources and feeds that are not chosen, or not there, any more. */
async function removeDeselected(
  dependencies: SourceDependencies,
  attempt: ImportAttempt,
  { resources, feeds }: { readonly resources: ReadonlySet<string>; readonly feeds: readonly string[] },
): Promise<void> {
  const { sourceItems } = dependencies;
  for (const feed of await sourceItems.feeds(scopeOf(attempt.dataset), attempt.access.connection.id)) {
    if (resources.has(feed.resource) && feeds.includes(feed.feed)) continue;
    const { connectionId, resource, feed: name } = feed;
    await removeMatching(dependencies, attempt, { connectionId, resource, feed: name });
    await commit(dependencies, attempt, [sourceItems.removeCursorWrite(feed)]);
  }
}

/** Documents whose permissions are asked for at a time. */
const PAGE = 500;

/** Compares who sees what with the source, for every document of the connection, also those that did not change. */
export async function recheckPermissions(dependencies: SourceDependencies, attempt: ImportAttempt): Promise<void> {
  const { permissions, access, dataset } = attempt;
  if (permissions === null) return;
  const { sourceItems } = dependencies;
  const { id: connectionId } = access.connection;
  const read = (after: string | null) => sourceItems.page(scopeOf(dataset), { connectionId }, { limit: PAGE, after });
  for await (const items of pagesOf(read)) {
    await attempt.requireStill();
    access.signal.throwIfAborted();
    for (const documents of Map.groupBy(items, ({ resource, feed }) => `${resource}\n${feed}`).values()) {
      const keys = documents.map(({ key }) => key);
      const found = await permissions.of(documents[0] as SourceItem, keys);
      const writes = await permissions.writes(documents, ({ key }) => found.get(key) ?? null);
      if (writes.length > 0) await commit(dependencies, attempt, writes);
    }
  }
  await commit(dependencies, attempt, permissions.removeUnusedWrites(), { accessNote: permissions.note() });
}
