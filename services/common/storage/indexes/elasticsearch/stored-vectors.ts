import { compareText } from '../../../kernel/compare-text.ts';
import type { EntryKey } from '../../ports/index-entry.ts';
import type { VectorHit } from '../../ports/vector-index.ts';

export type Fields = Readonly<Record<string, readonly unknown[] | undefined>>;
export type StoredVector = EntryKey & { readonly vector: Float32Array };

export const KEY_FIELDS = ['id', 'item', 'generation'];

export function isZero(vector: Float32Array): boolean {
  return vector.every((component) => component === 0);
}

/** Nine decimals: finer than single precision for all but tiny components, and half the text of all digits. */
export function toNumbers(unit: Float32Array): number[] {
  return Array.from(unit, (value) => Math.round(value * 1e9) / 1e9);
}

export function nearestFirst(a: VectorHit, b: VectorHit): number {
  return (
    b.similarity - a.similarity || compareText(a.id, b.id) || compareText(a.item, b.item) || a.generation - b.generation
  );
}

export function entryKey(fields: Fields | undefined): EntryKey {
  const { id, item, generation } = fields ?? {};
  return { id: id?.[0], item: item?.[0], generation: generation?.[0] } as EntryKey;
}

export function storedVector(fields: Fields | undefined, dimensions: number): Float32Array {
  const numbers = fields?.['vector'] as readonly number[] | undefined;
  return numbers === undefined ? new Float32Array(dimensions) : Float32Array.from(numbers);
}

/** The server gives (1 + cosine) / 2. */
export function similarityOf(score: number): number {
  return Math.max(-1, Math.min(1, 2 * score - 1));
}
