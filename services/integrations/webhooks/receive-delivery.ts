import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import { DuplicateKeyError } from '../../common/storage/ports/document-store.ts';
import type { SourceDependencies } from '../dependencies.ts';
import { revocation } from '../imports/import-worker.ts';
import { startImport } from '../imports/start-import.ts';
import { type RawDelivery, WebhookRefusedError, type WebhookSignal } from '../providers/connector.ts';
import { requireProvider } from '../providers/providers.ts';

/**
 * Checks a delivery and notes what it says, durably, before it is acknowledged: the import that it starts is a job. A delivery
 * that is repeated within a day does nothing. 404 for a provider without webhooks, 401 for a wrong signature.
 */
export async function receiveDelivery(
  dependencies: SourceDependencies,
  provider: string,
  delivery: RawDelivery,
): Promise<void> {
  requireProvider(provider);
  const verify = dependencies.connectors.get(provider)?.verifyWebhook;
  if (verify === undefined) throw new HttpError(404, { detail: `${provider} does not accept webhook deliveries.` });
  const { id, signals } = await verify(delivery).catch((error: unknown) => {
    throw error instanceof WebhookRefusedError ? new HttpError(401, { detail: error.message }) : error;
  });
  for (const [accountId, ofAccount] of Map.groupBy(signals, (signal) => signal.accountId)) {
    await applySignals(dependencies, { provider, accountId, deliveryId: id, signals: ofAccount });
  }
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
  const { connections, credentials, events, store, clock } = dependencies;
  const { provider, accountId, deliveryId, signals } = received;
  const documents = (kind: 'gone' | 'stale') =>
    signals.flatMap((one) => {
      return one.kind === kind ? [{ resource: one.resource, feed: one.feed, key: one.key }] : [];
    });
  const named = { gone: documents('gone'), stale: documents('stale') };
  const revoked = signals.find((one) => one.kind === 'revoked');
  for (const found of await connections.ofAccount(provider, accountId)) {
    await retryOnConflict(async () => {
      const connection = await connections.get(found.id);
      if (connection === null || connection.status !== 'active') return;
      const { id: connectionId, tenant: tenantId, userId } = connection;
      const now = clock.now();
      const noted = { connectionId, tenantId, userId, ...named, receivedAt: now.toISOString() };
      const write = events.deliveryWrite(`${provider}:${deliveryId}:${connectionId}`, noted);
      if (revoked !== undefined) {
        const ended = connections.changeWrite(connectionId, revocation(revoked.reason, now), { status: 'active' });
        await store.commit({ tenant: tenantId }, [write, ended, credentials.removeWrite(connectionId)]);
      } else await startImport(dependencies, connection, { again: true, writes: [write] });
    }).catch((error: unknown) => {
      if (!(error instanceof DuplicateKeyError && error.collection === 'source_deliveries')) throw error;
    });
  }
}
