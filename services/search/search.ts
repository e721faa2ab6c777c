import { type SearchParts, withModels } from './dependencies.ts';
import { recordSearch } from './history.ts';
import type { DatasetOutcome, SearchRequest } from './model.ts';
import { readableDatasets } from './search-datasets.ts';
import { answerTurn } from './turn.ts';
import { checkDatasetScope, checkTypeOptions } from './types/check-request.ts';
import { chooseType } from './types/choose-type.ts';

/**
 * POST /search, from top to bottom: check the request, resolve the datasets, answer the question as a turn of its session,
 * record it in the history. Needs permission `read` on every dataset; errors as in search-recall.md §1.5.
 */
export async function search(parts: SearchParts, request: SearchRequest): Promise<readonly DatasetOutcome[]> {
  const askedAt = parts.clock.now();
  checkTypeOptions(request);
  const deps = await withModels(parts, request.principal);
  const datasets = await readableDatasets(deps, request);
  checkDatasetScope(request.type, request.datasets);
  const type = await chooseType(deps, request, datasets);
  const { outcomes, save } = await answerTurn(deps, request, { type, datasets });
  await Promise.all([recordSearch(deps, request, { type: request.type, outcomes, askedAt }), save()]);
  return outcomes;
}
