import type { SourceConnection } from '../../common/records/integrations/connections.ts';
import type { SourceDependencies } from '../dependencies.ts';
import { eraseJob, wakeImports } from '../imports/start-import.ts';
import { accessOf, isListed } from './connect.ts';

/**
 * Ends a connection, or takes one that its provider has ended off the list; an import under way stops. With `deleteData` a job erases the items that came by it. What a declared one
 * reads with is not given back at the provider: it belongs to whoever made the Secret, or to another connection.
 */
export async function disconnect(
  { connections, connectors, credentials, workQueue, audit, clock, logger }: SourceDependencies,
  connection: SourceConnection,
  { deleteData, signal }: { readonly deleteData: boolean; readonly signal: AbortSignal },
): Promise<void> {
  const { id, tenant, userId: actor, provider, parentId, status } = connection;
  const connector = connectors.get(provider);
  const access = connector && accessOf({ credentials, connections }, connector, connection, signal);
  const parts = (await connections.ofAccount(provider, connection.accountId)).filter((one) => one.parentId === id);
  const revoking =
    access && status === 'active' && parentId === undefined && !connection.declared
      ? connector.oauth?.revoke?.(access)
      : undefined;
  await revoking?.catch((error: unknown) => {
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
      connections.changeWrite(id, ended, { status }),
      credentials.removeWrite(id),
      ...parts.filter(isListed).map((part) => connections.changeWrite(part.id, ended)),
      ...(deleteData
        ? [connection, ...parts].flatMap((one) => workQueue.enqueueWrites({ tenant }, eraseJob(one)).writes)
        : []),
    ],
    [{ tenant, action: 'source.disconnected', actor, subject: id, details: { provider, deleteData } }],
  );
  if (deleteData) wakeImports({ workQueue, logger });
}
