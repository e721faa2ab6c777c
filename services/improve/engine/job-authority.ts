import type { DatasetRef } from '../../common/domain/dataset.ts';
import { engramError } from '../../common/domain/errors.ts';
import type { Principal } from '../../common/domain/principal.ts';
import type { CallContext } from '../../common/messaging/messenger.ts';
import { getPrincipal, resolveDatasets } from '../../common/messaging/methods/auth.ts';
import { renewedProof } from '../../common/messaging/principal-proof.ts';
import type { ImproveDependencies } from '../dependencies.ts';

export interface JobAuthority {
  readonly principal: Principal;
  readonly dataset: DatasetRef;
  /** Speaks for the principal as long as it is there, however long the job takes. */
  readonly context: CallContext;
}

/**
 * A job may be claimed long after it was asked for, and takes longer than a token lives: auth is asked again and again.
 * `PermissionDeniedError` when the user, the API key or the dataset is gone, or may not be written any more.
 */
export async function authoriseJob(
  { messenger, clock }: Pick<ImproveDependencies, 'messenger' | 'clock'>,
  job: {
    readonly userId: string;
    readonly tenant: string;
    readonly datasetId: string;
    readonly keyId: string | null;
  },
  asking: CallContext,
): Promise<JobAuthority> {
  const { userId, tenant, datasetId, keyId } = job;
  const account = { userId, tenant, ...(keyId === null ? {} : { key: keyId }) };
  const ask = async () => {
    const { principal, token } = await messenger.call(getPrincipal, account, asking);
    if (principal === null)
      throw engramError('PermissionDeniedError', 'Who asked for this improve may do so no longer.');
    return { principal, token };
  };
  const { principal, token } = await ask();
  const renew = async () => (await ask()).token ?? '';
  const proof = token === undefined ? {} : { proof: renewedProof(token, renew, clock) };
  const context = { ...asking, principal, ...proof };
  const { datasets } = await messenger.call(resolveDatasets, { permission: 'write', ids: [datasetId] }, context);
  const [dataset] = datasets;
  if (dataset === undefined)
    throw engramError('PermissionDeniedError', 'The dataset of this improve no longer exists.');
  return { principal, dataset, context };
}
