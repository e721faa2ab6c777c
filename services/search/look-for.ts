import { isEngramError } from '../common/kernel/errors.ts';
import type { AnswerOf, RequestOf } from '../common/platform/messaging/messages.ts';
import { type CallContext, callerOf } from '../common/platform/messaging/messenger.ts';
import type { SearchParts } from './dependencies.ts';
import type { DatasetOutcome, SearchRequest } from './model.ts';
import { search } from './search.ts';
import type { SearchType } from './search-types.ts';

/** How a text was found. `registry`: it is the name of a searched dataset. */
type FoundBy = 'graph' | 'lexical' | 'registry' | 'vector';

/** Lexical, lexical with vectors, and graph: together they read every index. */
const TYPES = ['CHUNKS_LEXICAL', 'CHUNKS', 'GRAPH_COMPLETION'] as const satisfies readonly SearchType[];

/** Errors for datasets that the caller may not read. */
const REFUSALS = ['PermissionDeniedError', 'DatasetNotFoundError'];

/** Searches for a canary text: `search.LookFor` in proto/. */
export async function lookFor(
  parts: SearchParts,
  request: RequestOf<'search.LookFor'>,
  context: CallContext,
): Promise<AnswerOf<'search.LookFor'>> {
  // A probe leaves no history and no session turns, and reads the indexes themselves.
  const settings = { ...parts.settings, logSearchHistory: false, sessionMemory: false };
  const here = async () => null;
  const found = new Set<FoundBy>();
  for (const type of TYPES) {
    try {
      const outcomes = await search({ ...parts, settings, here }, searchFor(request, type, context));
      requireComplete(outcomes);
      for (const way of waysOf(type, outcomes, request.text)) found.add(way);
    } catch (error) {
      if (!isEngramError(error)) throw error;
      if (REFUSALS.includes(error.wireName)) return { foundBy: [], refusal: error.wireName };
      // The dataset is readable and has no searchable memory yet.
      if (error.wireName !== 'NoDataError') throw error;
    }
  }
  return { foundBy: [...found].sort(), refusal: null };
}

function searchFor(
  { text, datasetId, datasetName }: RequestOf<'search.LookFor'>,
  type: SearchType,
  context: CallContext,
): SearchRequest {
  return {
    principal: callerOf(context),
    context,
    query: text,
    type,
    datasets: {
      ...(datasetId === undefined ? {} : { ids: [datasetId] }),
      ...(datasetName === undefined ? {} : { names: [datasetName] }),
    },
    topK: null,
    sessionId: null,
    systemPrompt: null,
    nodeSets: undefined,
    onlyContext: true,
    includeReferences: false,
    explain: false,
    responseSchema: null,
  };
}

/** Throws when a dataset could not be searched: then the absence of the text proves nothing. */
function requireComplete(outcomes: readonly DatasetOutcome[]): void {
  const failed = outcomes.find(({ error }) => error !== null && error.wireName !== 'NoDataError');
  if (failed?.error) throw failed.error;
}

function waysOf(type: (typeof TYPES)[number], outcomes: readonly DatasetOutcome[], text: string): readonly FoundBy[] {
  return outcomes.flatMap(({ dataset, outcome }): FoundBy[] => [
    ...(dataset?.name === text ? (['registry'] as const) : []),
    ...(outcome?.kind === 'rows'
      ? outcome.rows
          .filter(({ row }) => JSON.stringify(row.payload).includes(text))
          .flatMap(({ distance }) => wayOfRow(type, distance))
      : []),
    // The context never contains the question; the prompt does.
    ...(outcome?.kind === 'completion' && outcome.context.includes(text) ? (['graph'] as const) : []),
  ]);
}

function wayOfRow(type: (typeof TYPES)[number], distance: number | null): readonly FoundBy[] {
  if (type === 'CHUNKS_LEXICAL') return ['lexical'];
  // A row without a distance was found by its words alone.
  return distance === null ? ['lexical'] : ['vector'];
}
