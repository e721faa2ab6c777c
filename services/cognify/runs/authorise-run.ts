import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { asAccount } from '../../common/platform/messaging/account-authority.ts';
import type { CallContext, Messenger } from '../../common/platform/messaging/messenger.ts';
import { resolveDatasets } from '../../common/platform/messaging/methods/auth.ts';

export interface RunAuthority {
  readonly principal: Principal;
  readonly dataset: DatasetRef;
}

/**
 * A run may be claimed long after it was asked for: its user must still exist and may still write. Throws
 * `PermissionDeniedError` when not, `ServiceUnavailableError` or `DeadlineExceededError` when auth cannot say.
 */
export async function authoriseRun(
  messenger: Messenger,
  run: { readonly userId: string; readonly tenant: string; readonly datasetId: string },
  context: CallContext,
): Promise<RunAuthority> {
  const { userId, tenant, datasetId } = run;
  const own = await asAccount(messenger, { userId, tenant }, context, 'The user of this run no longer exists.');
  const { datasets } = await messenger.call(resolveDatasets, { permission: 'write', ids: [datasetId] }, own);
  const [dataset] = datasets;
  if (dataset === undefined) throw engramError('PermissionDeniedError', 'The dataset of this run no longer exists.');
  return { principal: own.principal, dataset };
}
