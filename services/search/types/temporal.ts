import { rankByTime } from '../answers/dated-answer.ts';
import { retrieveTurnPassages } from '../conversation/turn-passages.ts';
import { MAX_TOP_K, type SearchRequest } from '../model.ts';
import type { TimeWindow } from '../retrieval/query-analysis.ts';
import { resolveInner } from './inner-answer.ts';
import type { Gathered } from './reasoning.ts';
import type { SearchTarget, TypeDependencies } from './target.ts';

/** Candidates for the ranking by time, as a multiple of the results. */
const CANDIDATES = 4;
const MIN_CANDIDATES = 40;

/**
 * Retrieves passages and puts those first that tell of the time that the question names (search-recall.md §3.10), if only as
 * that of an event: `after I moved to Berlin`.
 */
export async function temporalPassages(
  deps: TypeDependencies,
  request: SearchRequest,
  target: Omit<SearchTarget, 'type'> & { readonly limit: number },
): Promise<Gathered> {
  const limit = Math.min(Math.max(CANDIDATES * target.limit, MIN_CANDIDATES), MAX_TOP_K);
  const wide = { ...target, limit };
  const material = await resolveInner(deps, request, wide, await retrieveTurnPassages(deps, request, wide));
  const { retrieval } = material;
  const window = retrieval.analysis.timeWindow;
  const ranked =
    window === null ? { passages: retrieval.passages, anchored: 0 } : rankByTime(retrieval.passages, window);
  const passages = ranked.passages.slice(0, target.limit);
  const found = passages.slice(0, ranked.anchored).map(({ id }) => id);
  const steps =
    window === null ? [] : [{ kind: 'time_window' as const, query: windowText(window), found, answer: null }];
  return { material: { ...material, retrieval: { ...retrieval, passages } }, steps };
}

/** `2019-01-01/2020-01-01`; an open end is `..`. */
function windowText({ from, until }: TimeWindow): string {
  return [from, until].map((date) => date?.toISOString().replace(/T00:00:00\.000Z$/u, '') ?? '..').join('/');
}
