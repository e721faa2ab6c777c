import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import { renewedProof } from '../../common/platform/messaging/principal-proof.ts';
import type { IngestDependencies } from '../dependencies.ts';

/**
 * Returns a context that acts for the dataset's owner, also for an inactive one. Null: the dataset is gone.
 */
export async function impersonateOwner(
  { messenger, ids, clock }: Pick<IngestDependencies, 'messenger' | 'ids' | 'clock'>,
  { id, tenant }: DatasetRef,
  signal: AbortSignal,
): Promise<CallContext | null> {
  const context = { requestId: ids.uuid(), signal };
  const ask = () => messenger.call('auth.GetEraser', { tenantId: tenant, datasetId: id }, context);
  const { principal, token } = await ask();
  if (principal === null) return null;
  if (token === null) return { ...context, principal };
  const renew = async (): Promise<string> => {
    const again = await ask();
    if (again.token === null) throw engramError('ConflictError', 'Another request has removed the dataset meanwhile.');
    return again.token;
  };
  return { ...context, principal, proof: renewedProof(token, renew, clock) };
}
