import { answerInner, type InnerAnswer } from '../answers/inner-question.ts';
import type { TurnPassages } from '../conversation/turn-passages.ts';
import type { SearchRequest } from '../model.ts';
import type { KnowledgeLimits } from '../retrieval/retrieval.ts';
import { embedQuery, retrievePassages } from '../retrieval/retrieve-passages.ts';
import type { SearchTarget, TypeDependencies } from './target.ts';

export interface ResolvedPassages extends TurnPassages {
  /** The answer of an inner question; null without one. */
  readonly inner: InnerAnswer | null;
}

/**
 * Answers the inner question of a question (`in the year I moved to Berlin`) from the passages found for the whole, and
 * retrieves once more for the question that is left. With a model nothing is done: it combines passages by itself.
 */
export async function resolveInner(
  deps: TypeDependencies,
  request: SearchRequest,
  target: Pick<SearchTarget, 'dataset' | 'influence'> & {
    readonly limit: number;
    readonly knowledge?: KnowledgeLimits;
  },
  material: TurnPassages,
): Promise<ResolvedPassages> {
  const { passages } = material.retrieval;
  const inner = deps.languageModel === null ? answerInner(material.query, passages) : null;
  if (inner === null) return { ...material, inner };
  const outer = { ...request, query: inner.outer };
  const vector = await embedQuery(deps, outer).of(target.dataset);
  const retrieval = await retrievePassages(deps, outer, { ...target, vector });
  const known = new Set(retrieval.passages.map(({ id }) => id));
  const proof = passages.filter(({ id }) => id === inner.sentence.passage.id && !known.has(id));
  const kept = retrieval.passages.slice(0, Math.max(1, target.limit - proof.length));
  return { ...material, query: inner.outer, retrieval: { ...retrieval, passages: [...kept, ...proof] }, inner };
}
