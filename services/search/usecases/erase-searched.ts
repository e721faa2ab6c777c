import type { DatasetRef } from '../../common/kernel/dataset.ts';
import type { EraseAnswersRequest, EraseAnswersResponse } from '../../common/platform/messaging/methods/search.ts';
import type { SearchDependencies } from '../dependencies.ts';

/** Removes what the service keeps of a dataset's content; answers how much went and how much is left. */
export async function eraseSearched(
  deps: Pick<SearchDependencies, 'history' | 'readiness'>,
  dataset: DatasetRef,
): Promise<{ readonly removed: number; readonly residue: number }> {
  const scope = { tenant: dataset.tenant };
  deps.readiness.forget(dataset.id);
  const removed = await deps.history.eraseDataset(scope, dataset.id);
  return { removed, residue: await deps.history.countDataset(scope, dataset.id) };
}

/** Takes what was answered from the items out of the history. */
export async function eraseAnswers(
  { history }: Pick<SearchDependencies, 'history'>,
  { dataset, items }: EraseAnswersRequest,
): Promise<EraseAnswersResponse> {
  return { removed: await history.eraseAnswers({ tenant: dataset.tenant }, dataset.id, items) };
}
