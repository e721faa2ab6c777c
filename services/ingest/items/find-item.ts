import type { DataItemId, DatasetId } from '../../common/kernel/brand.ts';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { Permission, Principal } from '../../common/kernel/principal.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import type { IngestDependencies } from '../dependencies.ts';
import { permittedDatasets } from './target-dataset.ts';

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
