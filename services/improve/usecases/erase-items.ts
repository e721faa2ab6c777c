import type { DataItemId } from '../../common/kernel/brand.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import type { EraseLearnedResponse } from '../../common/platform/messaging/methods/improve.ts';
import type { ImproveDependencies } from '../dependencies.ts';
import { forgetElements } from '../structure/forget-elements.ts';
import { forgetItems } from '../structure/forget-items.ts';

/** Removes what was made of items that cognify has made invisible, and what ratings made of elements that went with them. */
export async function eraseItems(
  deps: Pick<ImproveDependencies, 'store' | 'weights' | 'indexes' | 'ledger'>,
  dataset: DatasetRef,
  items: readonly DataItemId[],
): Promise<EraseLearnedResponse> {
  const scope = scopeOf(dataset);
  const built = await forgetItems(deps.store, scope, items);
  const rated = await forgetElements(deps, scope);
  return { removed: built.removed + rated.removed, residue: built.residue + rated.residue };
}
