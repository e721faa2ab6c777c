import { takeTurn } from '../conversation/take-turn.ts';
import type { SearchParts } from '../dependencies.ts';
import { recordSearch } from './record-search.ts';
import { readableDatasets } from './resolve-datasets.ts';
import type { DatasetOutcome } from './search-outcome.ts';
import type { SearchRequest } from './search-request.ts';
import { answeringType, checkDatasetScope, checkTypeOptions, type TypeOptions } from './search-type-rules.ts';
import { withModels } from './with-models.ts';

/** POST /search: permission `read` on every dataset; errors as search-recall.md §1.5. */
export async function search(
  parts: SearchParts,
  request: SearchRequest,
  options: TypeOptions,
): Promise<readonly DatasetOutcome[]> {
  const askedAt = parts.clock.now();
  checkTypeOptions(request.type, options);
  const deps = await withModels(parts, request.principal);
  const datasets = await readableDatasets(deps, request);
  checkDatasetScope(request.type, request.datasets);
  const type = answeringType(request.type, request.query, deps);
  const { outcomes, keep } = await takeTurn(deps, request, { type, datasets });
  await Promise.all([recordSearch(deps, request, { type: request.type, outcomes, askedAt }), keep()]);
  return outcomes;
}
