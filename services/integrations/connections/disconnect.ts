import type { SourceConnection } from '../../common/records/integrations/connections.ts';
import type { SourceDependencies } from '../dependencies.ts';
import { eraseJob, wakeImports } from '../imports/start-import.ts';
import { accessOf } from './connect.ts';

/**
 * Ends a connection; an import under way stops. With `deleteData` a job erases the items that came by it. What a declared one
 * reads with is not given back at the provider: it belongs to whoever made the Secret, or to another connection.
 */
export async function disconnect(
  { connections, connectors, credentials, workQueue, audit, clock, logger }: SourceDependencies,
  connection: SourceConnection,
  { deleteData, signal }: { readonly deleteData: boolean; readonly signal: AbortSignal },
): Promise<void> {
  const { id, tenant, userId: actor, provider } = connection;
  const connector = connectors.get(provider);
  const access = connector && accessOf({ credentials }, connector, connection, signal);
  await (access && !connection.declared ? connector.oauth?.revoke?.(access) : undefined)?.catch((error: unknown) => {
    logger.warn('source.revoke.failed', { provider, error });
  });
  const ended = {
    status: 'revoked',
    revokedReason: null,
    revokedAt: clock.now().toISOString(),
    nextSyncAt: null,
    declared: null,
  } as const;
  await audit.commit(
    { tenant },
    [
      connections.changeWrite(id, ended, { status: 'active' }),
      credentials.removeWrite(id),
      ...(deleteData ? workQueue.enqueueWrites({ tenant }, eraseJob(connection)).writes : []),
    ],
    [{ tenant, action: 'source.disconnected', actor, subject: id, details: { provider, deleteData } }],
  );
  if (deleteData) wakeImports({ workQueue, logger });
}
