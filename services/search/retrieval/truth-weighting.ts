import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { truthCoordinates, truthFactor, truthScore } from '../../common/ranking/truth.ts';
import { createTruthState, isOfSpace, TRUTH_SLOTS } from '../../common/records/improve/truth-state.ts';
import type { DocumentStore } from '../../common/storage/ports/document-store.ts';
import type { RankedPassage, SearchRequest } from '../model.ts';
import type { CompletionType } from '../search-types.ts';
import type { QueryVector } from './gather-passages.ts';

export interface InfluenceTarget {
  readonly type: CompletionType;
  readonly dataset: DatasetRef;
  readonly vector: QueryVector;
  readonly limit: number;
}

/** Whether passages are weighed by the truth subspace: only then are more of them looked at than are wanted. */
export function isWeighedByTruth(
  request: Pick<SearchRequest, 'structure'>,
  { type, vector }: InfluenceTarget,
): boolean {
  return request.structure?.truth === true && type === 'HYBRID_COMPLETION' && vector !== null;
}

/** How many places are looked at for one that is wanted. */
export const TRUTH_REACH = 2;

/**
 * Orders passages by their place times the factor of cognify-improve.md §3.12: 0.75 to 1.25, 1 for those without coordinates
 * of the epoch in force. Keeps `limit` of them. Without a subspace the order stays.
 */
export async function weighedByTruth(
  { store }: { readonly store: DocumentStore },
  { dataset, vector, limit }: InfluenceTarget,
  passages: readonly RankedPassage[],
): Promise<readonly RankedPassage[]> {
  const scope = scopeOf(dataset);
  const truth = createTruthState(store);
  const { epoch, slots, model } = await truth.subspace(scope);
  if (vector === null || slots.length === 0) return passages.slice(0, limit);
  // After a move to another embedding model, until improve has built it anew.
  if (!isOfSpace({ slots, model }, vector.space)) return passages.slice(0, limit);
  const chunks = passages.map(({ id, row, payload }) => ({ id, item: row.item, number: payload.chunkIndex }));
  const known = await truth.coordinates(scope, epoch, chunks);
  const query = truthCoordinates(vector.values, slots, TRUTH_SLOTS);
  const offset = Math.max(30, Math.min(60, 20 + 2 * limit));
  return passages
    .map((passage, place) => {
      const base = 1 / (offset + place + 1);
      const coordinates = known.get(passage.id);
      if (coordinates === undefined) return { passage, base, final: base };
      const score = truthScore(coordinates, query);
      const factor = truthFactor(score);
      const explanation = { ...passage.explanation, truth: { score, factor } };
      return { passage: { ...passage, explanation }, base, final: base * factor };
    })
    .sort((left, right) => right.final - left.final || right.base - left.base)
    .slice(0, limit)
    .map(({ passage }) => passage);
}
