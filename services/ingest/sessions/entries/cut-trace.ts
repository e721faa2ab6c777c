import type { Json, JsonObject } from '../../../common/kernel/json.ts';

/** In characters, the dots with which a cut text ends among them (ingest.md §3.2). */
const MAX_TEXT_LENGTH = 1000;
const DOTS = '...';
const MAX_ITEMS = 20;

/** At most 1000 characters. */
export function cutText(text: string): string {
  if (text.length <= MAX_TEXT_LENGTH) return text;
  // A character is at most two units: what lies beyond cannot be among the first thousand.
  const characters = [...text.slice(0, 2 * MAX_TEXT_LENGTH + 2)];
  if (characters.length <= MAX_TEXT_LENGTH) return text;
  return characters.slice(0, MAX_TEXT_LENGTH - DOTS.length).join('') + DOTS;
}

/** Texts cut wherever they stand, lists and objects to their first 20 entries. Names are kept whole. */
export function cutValue(value: Json): Json {
  if (typeof value === 'string') return cutText(value);
  if (value === null || typeof value !== 'object') return value;
  if (isList(value)) return value.slice(0, MAX_ITEMS).map(cutValue);
  return cutObject(value);
}

export function cutObject(value: JsonObject): JsonObject {
  const kept = Object.entries(value).slice(0, MAX_ITEMS);
  return Object.fromEntries(kept.map(([name, item]) => [name, cutValue(item ?? null)]));
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
