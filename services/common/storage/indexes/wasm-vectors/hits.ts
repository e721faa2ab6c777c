import type { VectorHit } from '../../ports/vector-index.ts';
import type { VectorSource } from './vector-source.ts';

export interface ScoredRow {
  readonly id: string;
  readonly origin: number;
  readonly row: number;
  readonly score: number;
}

/** Rows of the first refinement beyond the limit. */
const REFINED_BEYOND = 32;

/** The `limit` best as hits: by similarity, then id, item, generation. Rows that have gone meanwhile are left out. */
export function bestHits(rows: readonly ScoredRow[], limit: number, source: VectorSource): readonly VectorHit[] {
  return rows
    .flatMap(({ id, origin, score }) => {
      const provenance = source.provenance(origin);
      return provenance === null ? [] : [{ id, ...provenance, similarity: Math.max(-1, Math.min(1, score)) }];
    })
    .sort(compareHits)
    .slice(0, limit);
}

/**
 * Turns approximate scores into exact ones. It reads the best rows at full precision, learns from them how far off the
 * approximation is, and goes on to deeper rows until none of the rest can reach the answer even if it were off by
 * twice the worst error seen.
 */
export function refineHits(
  best: (limit: number) => readonly ScoredRow[],
  query: { readonly vector: Float32Array; readonly limit: number },
  source: VectorSource,
  slotCount: number,
): readonly VectorHit[] {
  const exact = new Map<number, ScoredRow | null>();
  let worstError = 0;
  for (let depth = query.limit + REFINED_BEYOND; ; depth *= 2) {
    const rows = best(depth);
    const floor = rows.reduce((least, { score }) => Math.min(least, score), Infinity);
    const unread = rows.filter(({ row }) => !exact.has(row));
    const vectors = source.vectors(unread.map(({ row }) => row));
    for (const row of unread) {
      const vector = vectors.get(row.row);
      const score = vector === undefined ? 0 : dotProduct(query.vector, vector);
      if (vector !== undefined) worstError = Math.max(worstError, Math.abs(score - row.score));
      exact.set(row.row, vector === undefined ? null : { ...row, score });
    }
    const refined = [...exact.values()].filter((row) => row !== null).sort((a, b) => b.score - a.score);
    const needed = refined[query.limit - 1]?.score ?? -Infinity;
    if (depth >= slotCount || rows.length < depth || floor + 2 * worstError < needed) {
      return bestHits(
        refined.filter(({ score }) => score >= needed),
        query.limit,
        source,
      );
    }
  }
}

export function dotProduct(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < a.length; index++) sum += (a[index] as number) * (b[index] as number);
  return Math.fround(sum);
}

function compareHits(a: VectorHit, b: VectorHit): number {
  if (a.similarity !== b.similarity) return b.similarity - a.similarity;
  if (a.id !== b.id) return a.id < b.id ? -1 : 1;
  if (a.item !== b.item) return a.item < b.item ? -1 : 1;
  return a.generation - b.generation;
}
