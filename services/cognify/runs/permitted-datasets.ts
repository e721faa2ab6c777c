import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { isEngramError } from '../../common/kernel/errors.ts';
import type { Permission, Principal } from '../../common/kernel/principal.ts';
import { nullIf } from '../../common/platform/async/null-if.ts';
import type { CallContext, Messenger } from '../../common/platform/messaging/messenger.ts';

/**
 * Returns the datasets with these ids, or every readable one when there are no ids. `PermissionDeniedError` when one of the
 * ids is not readable. `partly`: also those of which sources withhold items from the caller, who is shown none of them.
 */
export async function readableDatasets(
  messenger: Messenger,
  principal: Principal,
  ids: readonly string[],
  { partly = false, ...context }: CallContext & { readonly partly?: boolean },
): Promise<readonly DatasetRef[]> {
  const request = { permission: 'read', partly, ...(ids.length === 0 ? {} : { ids }) } as const;
  const resolving = messenger.call('auth.ResolveDatasets', request, { ...context, principal });
  // A caller without any dataset may still list them.
  const found = await nullIf((error) => ids.length === 0 && isPermissionDenied(error), resolving);
  return found?.datasets ?? [];
}

/** Returns the dataset with this id; `PermissionDeniedError` without the permission. */
export async function datasetWith(
  messenger: Messenger,
  { principal, permission }: { readonly principal: Principal; readonly permission: Permission },
  id: string,
  context: CallContext,
): Promise<DatasetRef> {
  const request = { permission, ids: [id] };
  const { datasets } = await messenger.call('auth.ResolveDatasets', request, { ...context, principal });
  const [dataset] = datasets;
  if (dataset === undefined) throw new Error(`auth resolved no dataset for ${id}`);
  return dataset;
}

export function isPermissionDenied(error: unknown): boolean {
  return isEngramError(error) && error.wireName === 'PermissionDeniedError';
}
