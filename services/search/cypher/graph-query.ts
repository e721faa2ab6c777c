import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { CypherRows } from '../../common/storage/ports/graph-store.ts';
import type { SearchDependencies } from '../dependencies.ts';
import { createVisibility } from '../retrieval/visibility.ts';
import type { SearchRequest } from '../usecases/search-request.ts';

/** Runs a query on the committed graph of one dataset; `CypherSearchError` for one that the store refuses. */
export type GraphQuery = (text: string) => Promise<CypherRows>;

/** For one request: each item is looked up in the ledger once, however many queries follow. */
export function createGraphQuery(
  { indexes, ledger }: Pick<SearchDependencies, 'indexes' | 'ledger'>,
  request: SearchRequest,
  dataset: DatasetRef,
): GraphQuery {
  const { graph } = indexes;
  const scope = scopeOf(dataset);
  const visibility = createVisibility(ledger, scope);
  return (text) => {
    if (graph.cypher === undefined) throw cypherNotSupported(request.type);
    return graph.cypher(scope, { text, committed: visibility.filter }, request.context.signal);
  };
}

export function cypherNotSupported(type: string) {
  return engramError('SearchTypeNotSupported', `The graph store of this server does not support ${type} search.`);
}
