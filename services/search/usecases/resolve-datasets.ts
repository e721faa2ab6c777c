import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { resolveDatasets as resolveMethod } from '../../common/platform/messaging/methods/auth.ts';
import type { SearchDependencies } from '../dependencies.ts';
import type { SearchRequest } from './search-request.ts';

/**
 * The datasets of a request, each once, all readable. `PermissionDeniedError` (403) for an id that is unknown or not
 * permitted, `DatasetNotFoundError` (404) for a name that the caller does not own.
 */
export async function readableDatasets(
  deps: Pick<SearchDependencies, 'messenger'>,
  request: Pick<SearchRequest, 'principal' | 'context' | 'datasets'>,
): Promise<readonly DatasetRef[]> {
  const { ids = [], names = [] } = request.datasets;
  const chosen = ids.length > 0 ? { ids: [...new Set(ids)] } : names.length > 0 ? { names: [...new Set(names)] } : {};
  const { datasets } = await deps.messenger.call(
    resolveMethod,
    { permission: 'read', ...chosen },
    { ...request.context, principal: request.principal },
  );
  return [...new Map(datasets.map((dataset) => [dataset.id, dataset])).values()];
}
