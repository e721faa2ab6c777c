import type { JsonObject } from '../../common/kernel/json.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import type { NewJob } from '../../common/ports/work-queue.ts';
import type { SourceConnection } from '../../common/records/integrations/connections.ts';
import { DuplicateKeyError, type Write } from '../../common/storage/ports/document-store.ts';
import { isOfAccount } from '../connections/connect.ts';
import type { SourceDependencies } from '../dependencies.ts';
import { revocation } from '../imports/import-worker.ts';
import { startAccessCheck, startImport } from '../imports/start-import.ts';
import { type RawDelivery, WebhookRefusedError, type WebhookSignal } from '../providers/connector.ts';
import { requireProvider } from '../providers/providers.ts';

/**
 * Checks a delivery and notes what it says, durably, before it is acknowledged: what it starts is a job. A delivery that is
 * repeated within a day does nothing. Returns the answer. 404 for a provider without webhooks, 401 for a wrong signature.
 */
export async function receiveDelivery(
  dependencies: SourceDependencies,
  provider: string,
  delivery: RawDelivery,
): Promise<JsonObject> {
  requireProvider(provider);
  const verify = dependencies.connectors.get(provider)?.verifyWebhook;
  if (verify === undefined) throw new HttpError(404, { detail: `${provider} does not accept webhook deliveries.` });
  const {
    id,
    signals,
    answer = { ok: true },
  } = await verify(delivery).catch((error: unknown) => {
    throw error instanceof WebhookRefusedError ? new HttpError(401, { detail: error.message }) : error;
  });
  for (const [accountId, ofAccount] of Map.groupBy(signals, (signal) => signal.accountId)) {
    await applySignals(dependencies, { provider, accountId, deliveryId: id, signals: ofAccount });
  }
  return answer;
}

async function applySignals(
  dependencies: SourceDependencies,
  received: {
    readonly provider: string;
    readonly accountId: string;
    readonly deliveryId: string;
    readonly signals: readonly WebhookSignal[];
  },
): Promise<void> {
  const { connections, credentials, store, clock } = dependencies;
  const { provider, accountId, deliveryId, signals } = received;
  const documents = (kind: 'gone' | 'stale') =>
    signals.flatMap((one) => {
      return one.kind === kind ? [{ resource: one.resource, feed: one.feed, key: one.key }] : [];
    });
  const named = { gone: documents('gone'), stale: documents('stale') };
  const revoked = signals.find((one) => one.kind === 'revoked');
  const tasks = signals.filter((one) => one.kind === 'task');
  const isOfImports = signals.some(({ kind }) => !['revoked', 'task', 'access'].includes(kind));
  for (const found of await connections.ofAccount(provider, accountId)) {
    await retryOnConflict(async () => {
      const connection = await connections.get(found.id);
      if (connection === null || connection.status !== 'active') return;
      const { id: connectionId, tenant: tenantId } = connection;
      const write = deliveryWrite(dependencies, connection, deliveryId, named);
      if (revoked !== undefined) {
        const ended = connections.changeWrite(connectionId, revocation(revoked.reason, clock.now()), {
          status: 'active',
        });
        await store.commit({ tenant: tenantId }, [write, ended, credentials.removeWrite(connectionId)]);
      } else if (isOfImports) await startImport(dependencies, connection, { again: true, writes: [write] });
      else if (signals.some(({ kind }) => kind === 'access')) {
        if (connection.dataset !== null) await startAccessCheck(dependencies, connection, [write]);
      }
    }).catch(unlessKnown);
    const isMain = found.status === 'active' && isOfAccount(found);
    for (const { job } of isMain ? tasks : []) await noteTask(dependencies, found, deliveryId, job);
  }
}

/** Has a job of the connection done for a delivery, once: what is committed is done, whatever becomes of this process. */
export async function noteTask(
  dependencies: SourceDependencies,
  connection: SourceConnection,
  deliveryId: string,
  { kind, payload }: Pick<NewJob, 'kind' | 'payload'>,
): Promise<void> {
  const { store, workQueue, logger } = dependencies;
  const scope = { tenant: connection.tenant };
  const job = { kind, payload: { ...payload, connectionId: connection.id } };
  const write = deliveryWrite(dependencies, connection, `${kind}:${deliveryId}`, { gone: [], stale: [] });
  await store.commit(scope, [write, ...workQueue.enqueueWrites(scope, job).writes]).catch(unlessKnown);
  await workQueue.wake(kind).catch((error: unknown) => logger.warn('task.wake.failed', { error }));
}

type NamedDocuments = Pick<Parameters<SourceDependencies['events']['deliveryWrite']>[1], 'gone' | 'stale'>;

function deliveryWrite(
  { events, clock }: SourceDependencies,
  { id: connectionId, provider, tenant: tenantId, userId }: SourceConnection,
  deliveryId: string,
  documents: NamedDocuments,
): Write {
  const noted = { connectionId, tenantId, userId, ...documents, receivedAt: clock.now().toISOString() };
  return events.deliveryWrite(`${provider}:${deliveryId}:${connectionId}`, noted);
}

function unlessKnown(error: unknown): void {
  if (!(error instanceof DuplicateKeyError && error.collection === 'source_deliveries')) throw error;
}
