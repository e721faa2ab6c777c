import { requireCreatableDatasetName, requireDatasetCreation } from '../../common/domain/permissions.ts';
import type { DataItemId, DatasetId } from '../../common/kernel/brand.ts';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { engramError, isEngramError } from '../../common/kernel/errors.ts';
import { datasetId } from '../../common/kernel/ids.ts';
import type { Permission, Principal } from '../../common/kernel/principal.ts';
import { wireTenant } from '../../common/kernel/scope.ts';
import { once } from '../../common/platform/async/once.ts';
import type { CallContext, Messenger } from '../../common/platform/messaging/messenger.ts';
import type { IngestDependencies } from '../dependencies.ts';

/** How a request names its dataset; the id wins when both are given. */
export interface DatasetSelection {
  readonly id?: string | null;
  readonly name?: string | null;
}

export function isSelected(selection: DatasetSelection): boolean {
  return Boolean(selection.id) || Boolean(selection.name);
}

interface TargetOptions {
  readonly permission: Permission;
  readonly createMissing?: boolean;
  readonly namesAmongPermitted?: boolean;
  /** The caller leaves out what sources withhold from the principal. */
  readonly partly?: boolean;
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

/** A dataset that a request adds to. */
export interface AddTarget {
  readonly dataset: DatasetRef;
  /** Makes the dataset when its name is new, once. */
  create(): Promise<DatasetRef>;
  isThere(): boolean;
}

/**
 * The dataset that a request adds to. One of a new name is made by `create`, with the first item: a request that is refused
 * leaves none behind. Errors as with `createMissing`.
 */
export async function addTarget(
  messenger: Messenger,
  principal: Principal,
  selection: DatasetSelection,
  context: CallContext,
): Promise<AddTarget> {
  const options = { permission: 'write', context } as const;
  try {
    const dataset = await targetDataset(messenger, principal, selection, options);
    return { dataset, create: async () => dataset, isThere: () => true };
  } catch (error) {
    if (selection.id || !isEngramError(error) || error.wireName !== 'DatasetNotFoundError') throw error;
  }
  const name = selection.name ?? '';
  requireCreatableDatasetName(name);
  requireDatasetCreation(principal);
  const { id: ownerId, tenant } = principal;
  const id = datasetId(name, ownerId, wireTenant(tenant));
  let isThere = false;
  const create = once(async () => {
    const made = await targetDataset(messenger, principal, selection, { ...options, createMissing: true });
    // A dataset of the name was transferred to the account meanwhile.
    if (made.id !== id)
      throw engramError('ConflictError', `Dataset '${name}' has just come to be.`, { retryable: true });
    isThere = true;
    return made;
  });
  const dataset = { id, name, ownerId, tenant, createdAt: new Date(0).toISOString(), updatedAt: null };
  return { dataset, create, isThere: () => isThere };
}

/** The dataset with the id, on which who asks holds the permission. */
export function datasetWith(
  { messenger }: Pick<IngestDependencies, 'messenger'>,
  { principal, context }: { readonly principal: Principal; readonly context: CallContext },
  id: string,
  permission: Permission,
): Promise<DatasetRef> {
  return targetDataset(messenger, principal, { id }, { permission, context });
}

/** The dataset as the principal, who may read it, sees it: with the items that its sources withhold from them. */
export async function seenDataset(
  { messenger, sourceAccess }: IngestDependencies,
  principal: Principal,
  id: string,
  context: CallContext,
): Promise<DatasetRef> {
  const options = { permission: 'read', partly: true, context } as const;
  return sourceAccess.asSeen(await targetDataset(messenger, principal, { id }, options));
}

/** Every dataset on which the principal holds the permission; none is no error. */
export async function permittedDatasets(
  messenger: Messenger,
  principal: Principal,
  permission: Permission,
  { partly = false, ...context }: CallContext & Pick<TargetOptions, 'partly'>,
): Promise<readonly DatasetRef[]> {
  return (await messenger.call('auth.ResolveDatasets', { permission, partly }, { ...context, principal })).datasets;
}

/**
 * The dataset, for callers that may see everything it ever had: a snapshot shows what was forgotten since, and what was there
 * before access was granted. Those are who may read it and decide who else does.
 */
export async function wholeDataset(
  messenger: Messenger,
  principal: Principal,
  id: string,
  context: CallContext,
): Promise<DatasetRef> {
  await targetDataset(messenger, principal, { id }, { permission: 'read', context });
  return targetDataset(messenger, principal, { id }, { permission: 'share', context });
}

/**
 * The dataset of an item that a request names without one, among those where the principal holds the permission: none →
 * `DataNotFoundError`, several → `AmbiguousDataIdError` with the candidates.
 */
export async function findItemDataset(
  { items, messenger }: IngestDependencies,
  principal: Principal,
  id: DataItemId,
  { permission, context }: { readonly permission: Permission; readonly context: CallContext },
): Promise<DatasetRef> {
  const permitted = new Map(
    (await permittedDatasets(messenger, principal, permission, context)).map((dataset) => [dataset.id, dataset]),
  );
  const places = await items.locate({ tenant: principal.tenant }, id);
  const found = places.flatMap(({ dataset }) => permitted.get(dataset as DatasetId) ?? []);
  const [first] = found;
  if (first === undefined) throw engramError('DataNotFoundError', `Data (${id}) not found.`);
  if (found.length > 1) {
    const candidates = found.map((dataset) => `(dataset=${dataset.name}, data_id=${id})`).join(', ');
    throw engramError(
      'AmbiguousDataIdError',
      `Data id ${id} matches several datasets; repeat with dataset_id. Candidates: ${candidates}`,
    );
  }
  return first;
}
