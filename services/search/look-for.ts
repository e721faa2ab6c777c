import { isEngramError } from '../common/kernel/errors.ts';
import type { AnswerOf, RequestOf } from '../common/platform/messaging/messages.ts';
import { type CallContext, callerOf } from '../common/platform/messaging/messenger.ts';
import type { SearchParts } from './dependencies.ts';
import type { DatasetOutcome, SearchRequest } from './model.ts';
import { search } from './search.ts';
import type { SearchType } from './search-types.ts';

/** By words alone, by words and vector, and with what the graph has around it: everything that a search reads. */
/** Where a text stood in an answer. `registry`: it is the name of a dataset that was searched. */
type FoundBy = 'graph' | 'lexical' | 'registry' | 'vector';

const TYPES = ['CHUNKS_LEXICAL', 'CHUNKS', 'GRAPH_COMPLETION'] as const satisfies readonly SearchType[];

/** What is not the caller's to read. */
const REFUSALS = ['PermissionDeniedError', 'DatasetNotFoundError'];

const NO_OPTIONS = { maxIter: null, codeQuery: null, skills: null, tools: null };

/** See `search.LookFor` in proto/. */
export async function lookFor(
  parts: SearchParts,
  request: RequestOf<'search.LookFor'>,
  context: CallContext,
): Promise<AnswerOf<'search.LookFor'>> {
  // Nobody reads the history of who asks, and it has no conversations.
  const settings = { ...parts.settings, logSearchHistory: false, sessionMemory: false };
  const found = new Set<FoundBy>();
  for (const type of TYPES) {
    try {
      const outcomes = await search({ ...parts, settings }, searchFor(request, type, context), NO_OPTIONS);
      requireComplete(outcomes);
      for (const way of waysOf(type, outcomes, request.text)) found.add(way);
    } catch (error) {
      if (!isEngramError(error)) throw error;
      if (REFUSALS.includes(error.wireName)) return { foundBy: [], refusal: error.wireName };
      // A dataset that may be read and has nothing to be found yet.
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

/** What could not be searched proves nothing. */
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
    // The question stands in the prompt, never in the context.
    ...(outcome?.kind === 'completion' && outcome.context.includes(text) ? (['graph'] as const) : []),
  ]);
}

function wayOfRow(type: (typeof TYPES)[number], distance: number | null): readonly FoundBy[] {
  if (type === 'CHUNKS_LEXICAL') return ['lexical'];
  // Without a distance its words alone brought it up.
  return distance === null ? ['lexical'] : ['vector'];
}
