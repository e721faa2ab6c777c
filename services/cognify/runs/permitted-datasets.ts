import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { isEngramError } from '../../common/kernel/errors.ts';
import type { Permission, Principal } from '../../common/kernel/principal.ts';
import type { CallContext, Messenger } from '../../common/platform/messaging/messenger.ts';
import { resolveDatasets } from '../../common/platform/messaging/methods/auth.ts';

/** The datasets named by id, or every readable one without ids; `PermissionDeniedError` when one is not readable. */
export async function readableDatasets(
  messenger: Messenger,
  principal: Principal,
  ids: readonly string[],
  context: CallContext,
): Promise<readonly DatasetRef[]> {
  const permission: Permission = 'read';
  const selection = ids.length === 0 ? {} : { ids };
  const { datasets } = await messenger.call(resolveDatasets, { permission, ...selection }, { ...context, principal });
  return datasets;
}

export function readableDataset(
  messenger: Messenger,
  principal: Principal,
  id: string,
  context: CallContext,
): Promise<DatasetRef> {
  return datasetWith(messenger, { principal, permission: 'read' }, id, context);
}

/** `PermissionDeniedError` without the permission. */
export async function datasetWith(
  messenger: Messenger,
  { principal, permission }: { readonly principal: Principal; readonly permission: Permission },
  id: string,
  context: CallContext,
): Promise<DatasetRef> {
  const request = { permission, ids: [id] };
  const { datasets } = await messenger.call(resolveDatasets, request, { ...context, principal });
  const [dataset] = datasets;
  if (dataset === undefined) throw new Error(`auth resolved no dataset for ${id}`);
  return dataset;
}

export function isRefusal(error: unknown): boolean {
  return isEngramError(error) && error.wireName === 'PermissionDeniedError';
}
