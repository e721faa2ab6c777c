import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { engramError, isEngramError } from '../../common/kernel/errors.ts';
import type { CypherRows } from '../../common/storage/ports/graph-store.ts';
import { modelCallContext, type RecordsOutcome, type SearchRequest } from '../model.ts';
import { createVisibility, hasSearchableMemory } from '../retrieval/visibility.ts';
import type { QueryType } from '../search-types.ts';
import { type FailedAttempt, type GraphQuery, readVocabulary, writeQuery } from './cypher-prompt.ts';
import type { TypeDependencies } from './target.ts';

/** Maximum model calls of one NATURAL_LANGUAGE search in a dataset (search-recall.md §3.12). */
const MAX_ATTEMPTS = 3;

/**
 * Runs the caller's query (CYPHER), or one that a model writes (NATURAL_LANGUAGE). Runs nothing for `onlyContext`, since
 * neither has a context, nor for a dataset without memory.
 */
export async function cypherSearch(
  deps: TypeDependencies,
  request: SearchRequest,
  { dataset, type }: { readonly dataset: DatasetRef; readonly type: QueryType },
): Promise<RecordsOutcome> {
  const nothing: RecordsOutcome = { kind: 'records', type, cypher: null, columns: [], records: [], isCut: false };
  if (request.onlyContext || !(await hasSearchableMemory(deps.store, dataset))) return nothing;
  const query = createGraphQuery(deps, request, dataset);
  if (type === 'CYPHER') return asOutcome(type, request.query, await query(request.query));
  return (await naturalLanguage(deps, request, query)) ?? nothing;
}

/** Returns the rows of the first generated query that has any, else the last query; null when none could be run. */
async function naturalLanguage(
  { languageModel }: TypeDependencies,
  request: SearchRequest,
  query: GraphQuery,
): Promise<RecordsOutcome | null> {
  if (languageModel === null) throw modelNeeded();
  const vocabulary = await readVocabulary(query);
  const failed: FailedAttempt[] = [];
  let last: RecordsOutcome | null = null;
  request.listener?.generating();
  while (failed.length < MAX_ATTEMPTS) {
    const asked = { question: request.query, vocabulary, failed };
    const cypher = await writeQuery(languageModel, asked, modelCallContext(request));
    try {
      last = asOutcome('NATURAL_LANGUAGE', cypher, await query(cypher));
      if (last.records.length > 0) return last;
      failed.push({ cypher, problem: 'It found nothing.' });
    } catch (error) {
      // The model can correct a refused query, but not an unavailable store.
      if (!isEngramError(error) || error.wireName !== 'CypherSearchError') throw error;
      failed.push({ cypher, problem: error.message });
    }
  }
  return last;
}

/** Returns the 422 for a search that needs a language model. */
export function modelNeeded() {
  const text =
    'NATURAL_LANGUAGE search needs a language model, and none is configured. Set LLM_API_KEY or LLM_ENDPOINT.';
  return engramError('LLMAPIKeyNotSetError', text);
}

function asOutcome(type: QueryType, cypher: string, { columns, rows, isCut }: CypherRows): RecordsOutcome {
  return { kind: 'records', type, cypher, columns, records: rows, isCut };
}

/** Creates the query function of one request, which looks up each item in the ledger once for all its queries. */
function createGraphQuery(
  { indexes, ledger }: TypeDependencies,
  request: SearchRequest,
  dataset: DatasetRef,
): GraphQuery {
  const { graph } = indexes;
  const scope = scopeOf(dataset);
  const visibility = createVisibility(ledger, scope);
  const asked = { caller: request.principal.id, committed: visibility.filter };
  return (text) => graph.cypher(scope, { ...asked, text }, request.context.signal);
}
