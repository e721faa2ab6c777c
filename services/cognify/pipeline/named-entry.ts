import { majorityType } from '../../common/domain/graph/entity-type.ts';
import type { KnownName } from '../../common/ports/extractor.ts';

/** How often a thing was spelled and typed in each way. */
export interface NamedEntry {
  readonly spellings: Map<string, number>;
  readonly types: Map<string, number>;
}

export function countIn(counts: Map<string, number>, key: string, count: number): void {
  counts.set(key, (counts.get(key) ?? 0) + count);
}

/** Highest count, then longest, then first in the alphabet. */
export function commonest(counts: ReadonlyMap<string, number>): string {
  let best = '';
  let bestCount = -1;
  for (const [value, count] of counts) {
    const isBetter =
      count > bestCount ||
      (count === bestCount && (value.length > best.length || (value.length === best.length && value < best)));
    if (isBetter) [best, bestCount] = [value, count];
  }
  return best;
}

export function nameAndType({ spellings, types }: NamedEntry): KnownName {
  const name = commonest(spellings);
  return { name, type: majorityType(name, types) };
}
