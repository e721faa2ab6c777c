import type { DatasetRef } from '../../common/domain/dataset.ts';
import { engramError } from '../../common/domain/errors.ts';
import type { Principal } from '../../common/domain/principal.ts';
import { type Account, lastinglyAsAccount } from '../../common/messaging/account-authority.ts';
import type { CallContext } from '../../common/messaging/messenger.ts';
import { resolveDatasets } from '../../common/messaging/methods/auth.ts';
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
  parts: Pick<ImproveDependencies, 'messenger' | 'clock'>,
  job: Account & { readonly datasetId: string },
  asking: CallContext,
): Promise<JobAuthority> {
  const gone = 'Who asked for this improve may do so no longer.';
  const { context } = await lastinglyAsAccount(parts, job, asking, gone);
  const request = { permission: 'write', ids: [job.datasetId] } as const;
  const { datasets } = await parts.messenger.call(resolveDatasets, request, context);
  const [dataset] = datasets;
  if (dataset === undefined)
    throw engramError('PermissionDeniedError', 'The dataset of this improve no longer exists.');
  return { principal: context.principal, dataset, context };
}
