import type { JsonObject } from '../kernel/json.ts';

/** Metadata fields that may give the time of an item, as ISO times; the first one wins. */
const TIME_FIELDS = [
  'effective_date',
  'asserted_at',
  'occurred_at',
  'date',
  'timestamp',
  'published_at',
  'created_at',
] as const;

/** Key in the metadata of what came from another memory: `system:id there`. An import that finds it does not bring it again. */
export const IMPORTED_FROM = 'imported_from';

/** Metadata of what another memory wrote at a time: relative dates in it ("yesterday") count from then. */
export function importedMetadata(
  own: JsonObject,
  { origin, writtenAt }: { readonly origin: string; readonly writtenAt: string | null },
): JsonObject {
  const written = writtenAt !== null && timeOfMetadata(own) === null ? { date: writtenAt } : {};
  return { ...own, ...written, [IMPORTED_FROM]: origin };
}

/** Returns when the content of an item was said, by its metadata, ISO; null when they do not say. */
export function timeOfMetadata(metadata: JsonObject | null): string | null {
  for (const field of TIME_FIELDS) {
    const value = metadata?.[field];
    if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\d/u.test(value)) continue;
    const time = Date.parse(value);
    if (!Number.isNaN(time)) return new Date(time).toISOString();
  }
  return null;
}
