import { isDeepStrictEqual } from 'node:util';

/**
 * The merge patch (RFC 7386) that turns `previous` into `next`, or null when there is nothing to say: also when nothing but
 * `volatile` fields differs (times of looking, which would make a write of every look). What `next` lacks is removed.
 */
export function statusPatch(
  previous: Readonly<Record<string, unknown>>,
  next: Readonly<Record<string, unknown>>,
  volatile: readonly string[] = [],
): Record<string, unknown> | null {
  const patch: Record<string, unknown> = {};
  let worthWriting = false;
  for (const field of new Set([...Object.keys(previous), ...Object.keys(next)])) {
    const before = previous[field];
    const after = next[field];
    if (isDeepStrictEqual(plain(before), plain(after))) continue;
    patch[field] = after === undefined ? null : replaced(before, after);
    worthWriting ||= !volatile.includes(field);
  }
  return worthWriting ? patch : null;
}

/** Inside objects a merge patch only adds: what went is named null. */
function replaced(before: unknown, after: unknown): unknown {
  if (!isRecord(before) || !isRecord(after)) return after;
  const gone = Object.keys(before).filter((key) => after[key] === undefined);
  return {
    ...Object.fromEntries(gone.map((key) => [key, null])),
    ...Object.fromEntries(Object.entries(after).map(([key, value]) => [key, replaced(before[key], value)])),
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Without `undefined`, as it would travel. */
function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}
