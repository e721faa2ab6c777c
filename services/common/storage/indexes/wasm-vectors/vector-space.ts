import { engramError } from '../../../kernel/errors.ts';
import { isSameSpace, type VectorSpace } from '../../ports/vector-index.ts';

/** Throws when `wanted` is not the space the dataset's vectors live in, naming both. */
export function assertSameSpace(settled: VectorSpace | null, wanted: VectorSpace): void {
  if (settled === null || isSameSpace(settled, wanted)) return;
  throw engramError(
    'EmbeddingDimensionMismatchError',
    `The dataset's vectors were made by ${describe(settled)}, these by ${describe(wanted)}. ` +
      'Use the embedder the dataset was built with, or rebuild the dataset.',
  );
}

/** Throws when a query vector cannot be compared with the dataset's vectors. */
export function assertQueryDimensions(settled: VectorSpace, dimensions: number): void {
  if (settled.dimensions === dimensions) return;
  throw engramError(
    'EmbeddingDimensionMismatchError',
    `The dataset's vectors were made by ${describe(settled)}, the query has ${dimensions} dimensions.`,
  );
}

/**
 * Writes `vector` at unit length into `target` (at least as long). A zero vector stays zero.
 * Throws `EmbeddingException` when a component is not finite.
 */
export function normaliseInto(vector: Float32Array, target: Float32Array, label: string): void {
  let squares = 0;
  for (let index = 0; index < vector.length; index++) squares += (vector[index] as number) ** 2;
  if (!Number.isFinite(squares)) {
    throw engramError('EmbeddingException', `The vector of ${label} has a component that is not a finite number.`);
  }
  const scale = squares > 0 ? 1 / Math.sqrt(squares) : 0;
  for (let index = 0; index < vector.length; index++) target[index] = (vector[index] as number) * scale;
}

function describe(space: VectorSpace): string {
  return `${space.model} (${space.dimensions} dimensions)`;
}
