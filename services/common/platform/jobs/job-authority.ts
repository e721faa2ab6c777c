import type { DatasetRef } from '../../kernel/dataset.ts';
import { engramError } from '../../kernel/errors.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { MonotonicClock } from '../../ports/system.ts';
import { type Account, impersonateWithRenewal } from '../messaging/account-authority.ts';
import type { CallContext, MessageCaller } from '../messaging/messenger.ts';

export interface JobAuthority {
  readonly principal: Principal;
  /** The first of the datasets. */
  readonly dataset: DatasetRef;
  readonly datasets: readonly DatasetRef[];
  /** Speaks for the principal as long as it is there, however long the job takes. */
  readonly context: CallContext;
  /** Asks auth now whether account and datasets are still as they were; errors as of `authoriseJob`. */
  requireStill(): Promise<void>;
}

/**
 * Authorises the account that a job works for: the job may be claimed long after it was asked for, and take longer than a
 * token lives. `PermissionDeniedError` when the user, the API key or a dataset is gone, or may not be written any more;
 * `ServiceUnavailableError` or `DeadlineExceededError` when auth cannot say.
 */
export async function authoriseJob(
  parts: { readonly messenger: MessageCaller; readonly clock: MonotonicClock },
  job: Account & { readonly datasetIds: readonly string[] },
  asking: CallContext,
): Promise<JobAuthority> {
  const gone = 'The account that started this job no longer exists or is no longer active.';
  const account = await impersonateWithRenewal(parts, job, asking, gone);
  const { context } = account;
  const resolve = async () => {
    const { datasets } = await parts.messenger.call(
      'auth.ResolveDatasets',
      { permission: 'write', ids: job.datasetIds },
      context,
    );
    const [dataset] = datasets;
    if (dataset !== undefined) return { dataset, datasets };
    throw engramError('PermissionDeniedError', 'The dataset of this job no longer exists or may no longer be written.');
  };
  return {
    ...(await resolve()),
    principal: context.principal,
    context,
    async requireStill() {
      await account.requireStill();
      await resolve();
    },
  };
}
