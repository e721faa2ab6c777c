import type { DatasetRef } from '../../kernel/dataset.ts';
import { engramError } from '../../kernel/errors.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { Clock } from '../../ports/system.ts';
import { type Account, lastinglyAsAccount } from '../messaging/account-authority.ts';
import type { CallContext, Messenger } from '../messaging/messenger.ts';
import { resolveDatasets } from '../messaging/methods/auth.ts';

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
  parts: { readonly messenger: Pick<Messenger, 'call'>; readonly clock: Pick<Clock, 'monotonicMs'> },
  job: Account & { readonly datasetId: string },
  asking: CallContext,
): Promise<JobAuthority> {
  const gone = 'The account that started this job no longer exists or is no longer active.';
  const { context } = await lastinglyAsAccount(parts, job, asking, gone);
  const request = { permission: 'write', ids: [job.datasetId] } as const;
  const { datasets } = await parts.messenger.call(resolveDatasets, request, context);
  const [dataset] = datasets;
  if (dataset === undefined)
    throw engramError('PermissionDeniedError', 'The dataset of this job no longer exists or may no longer be written.');
  return { principal: context.principal, dataset, context };
}
