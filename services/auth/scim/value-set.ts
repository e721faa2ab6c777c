import type { Json } from '../../common/kernel/json.ts';
import { isRecord } from '../../common/kernel/objects.ts';

/** Values of an attribute, to be found at once: a patch brings ten thousand to ten thousand others. */
export interface ValueSet {
  /** The same to the letter, whatever the order of the names. */
  hasEqual(value: Json): boolean;
  /**
   * Stands for the same thing: values with a `value` do when that is the same, and the `type` too unless one of them has
   * none.
   */
  hasSame(value: Json): boolean;
}

export function createValueSet(values: readonly Json[]): ValueSet {
  const spellings = new Set(values.map(spellingOf));
  const typesOf = new Map<unknown, Set<unknown>>();
  for (const each of values) {
    if (!isRecord(each) || each['value'] === undefined) continue;
    typesOf.set(each['value'], (typesOf.get(each['value']) ?? new Set()).add(each['type']));
  }
  return {
    hasEqual: (value) => spellings.has(spellingOf(value)),
    hasSame(value) {
      if (!isRecord(value) || value['value'] === undefined) return spellings.has(spellingOf(value));
      const types = typesOf.get(value['value']);
      if (types === undefined) return false;
      return value['type'] === undefined || types.has(undefined) || types.has(value['type']);
    },
  };
}

/** Attributes of values are plain: nothing is nested deeper (RFC 7643 §2.3.8). */
function spellingOf(value: Json): string {
  if (!isRecord(value)) return JSON.stringify(value);
  return JSON.stringify(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
