import { type SearchParts, withModels } from './dependencies.ts';
import { recordSearch } from './history.ts';
import type { DatasetOutcome, SearchRequest } from './model.ts';
import { readableDatasets } from './search-datasets.ts';
import { takeTurn } from './turn.ts';
import { answeringType, checkDatasetScope, checkTypeOptions, type TypeOptions } from './types/check-request.ts';

/** POST /search: permission `read` on every dataset; errors as search-recall.md §1.5. */
export async function search(
  parts: SearchParts,
  request: SearchRequest,
  options: TypeOptions,
): Promise<readonly DatasetOutcome[]> {
  const askedAt = parts.clock.now();
  checkTypeOptions(request.type, options);
  const deps = await withModels(parts, request.principal);
  const datasets = await readableDatasets(deps.messenger, request);
  checkDatasetScope(request.type, request.datasets);
  const type = answeringType(request.type, request.query, deps);
  const { outcomes, keep } = await takeTurn(deps, request, { type, datasets });
  await Promise.all([recordSearch(deps, request, { type: request.type, outcomes, askedAt }), keep()]);
  return outcomes;
}
