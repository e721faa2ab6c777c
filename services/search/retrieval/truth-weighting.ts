import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { truthCoordinates, truthFactor, truthScore } from '../../common/ranking/truth.ts';
import { createTruthState, isOfSpace, TRUTH_SLOTS } from '../../common/records/improve/truth-state.ts';
import type { DocumentStore } from '../../common/storage/ports/document-store.ts';
import type { RankedPassage, SearchRequest } from '../model.ts';
import type { CompletionType } from '../search-types.ts';
import type { QueryVector } from './retrieve-passages.ts';

export interface WeightingTarget {
  readonly type: CompletionType;
  readonly dataset: DatasetRef;
  readonly vector: QueryVector;
  readonly limit: number;
}

/** Whether passages are weighted by the truth subspace. */
export function usesTruthWeights(
  request: Pick<SearchRequest, 'structure'>,
  { type, vector }: WeightingTarget,
): boolean {
  return request.structure?.truth === true && type === 'HYBRID_COMPLETION' && vector !== null;
}

/** Passages retrieved for each one requested. */
export const TRUTH_OVERFETCH = 2;

/**
 * Reorders passages by the score of their rank times the factor of cognify-improve.md §3.12 (0.75 to 1.25; 1 without
 * coordinates of the current epoch), and returns `limit`. Without a subspace the order stays.
 */
export async function weightByTruth(
  { store }: { readonly store: DocumentStore },
  { dataset, vector, limit }: WeightingTarget,
  passages: readonly RankedPassage[],
): Promise<readonly RankedPassage[]> {
  const scope = scopeOf(dataset);
  const truth = createTruthState(store);
  const { epoch, slots, model } = await truth.subspace(scope);
  if (vector === null || slots.length === 0) return passages.slice(0, limit);
  // The subspace belongs to another embedding model until improve has rebuilt it.
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
