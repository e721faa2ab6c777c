import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { Permission, Principal } from '../../common/kernel/principal.ts';
import type { CallContext, Messenger } from '../../common/platform/messaging/messenger.ts';

/** How a request names its dataset; the id wins when both are given. */
export interface DatasetSelection {
  readonly id?: string | null;
  readonly name?: string | null;
}

export function isSelected(selection: DatasetSelection): boolean {
  return Boolean(selection.id) || Boolean(selection.name);
}

export interface TargetOptions {
  readonly permission: Permission;
  readonly createMissing?: boolean;
  readonly namesAmongPermitted?: boolean;
}

/** The one dataset a request means, checked; see `resolveDatasets` for the errors. */
export async function targetDataset(
  messenger: Messenger,
  principal: Principal,
  selection: DatasetSelection,
  { context, ...options }: TargetOptions & { readonly context: CallContext },
): Promise<DatasetRef> {
  const named = selection.id ? { ids: [selection.id] } : { names: [selection.name ?? ''] };
  const { datasets } = await messenger.call(
    'auth.ResolveDatasets',
    { ...named, ...options },
    { ...context, principal },
  );
  const [dataset] = datasets;
  if (dataset === undefined) throw engramError('DatasetNotFoundError', 'There are no datasets to work with.');
  return dataset;
}

/** Every dataset on which the principal holds the permission; none is no error. */
export async function permittedDatasets(
  messenger: Messenger,
  principal: Principal,
  permission: Permission,
  context: CallContext,
): Promise<readonly DatasetRef[]> {
  return (await messenger.call('auth.ResolveDatasets', { permission }, { ...context, principal })).datasets;
}
