import { engramError } from '../../../kernel/errors.ts';
import type { Json, JsonObject } from '../../../kernel/json.ts';
import type { Write } from '../../ports/document-store.ts';

/** More writes than this belong into several commits: a commit is held in memory and blocks other writers. */
export const MAX_WRITES_PER_COMMIT = 10_000;

/** A document as stored: JSON text. Strings are kept as they are; NUL and lone surrogates become escapes in the text. */
export function encodeDocument(value: JsonObject): string {
  return JSON.stringify(value);
}

export function decodeDocument(body: string): JsonObject {
  return JSON.parse(body) as JsonObject;
}

/** The document after an `update` whose condition holds. */
export function applyUpdate(
  current: JsonObject,
  change: Pick<Extract<Write, { kind: 'update' }>, 'set' | 'increment'>,
): JsonObject {
  const next: Record<string, Json | undefined> = { ...current };
  for (const [field, value] of Object.entries(change.set)) {
    if (value !== undefined) define(next, field, value);
  }
  for (const [field, amount] of Object.entries(change.increment ?? {})) {
    const before = (Object.hasOwn(next, field) ? next[field] : undefined) ?? 0;
    if (typeof before !== 'number') throw new Error(`increment of ${field}: the stored value is not a number`);
    define(next, field, before + amount);
  }
  return next;
}

/** Plain assignment would lose a key named `__proto__`. */
function define(target: Record<string, Json | undefined>, field: string, value: Json): void {
  Object.defineProperty(target, field, { value, enumerable: true, configurable: true, writable: true });
}

export function requireCommitSize(writes: readonly Write[]): void {
  if (writes.length <= MAX_WRITES_PER_COMMIT) return;
  throw engramError('InvalidRequestError', `A commit holds at most ${MAX_WRITES_PER_COMMIT} writes`);
}

/** One id, several documents: a wide scope must say which of them a change is meant for. */
export function ambiguousId(collection: string, id: string): Error {
  return engramError('ConflictError', `${collection}/${id} exists in several datasets or tenants of the scope`);
}

/** Limits of `Query`; a wrong one is a fault of the caller's code. */
export function requirePaging(limit: number, offset: number): void {
  if (!Number.isInteger(limit) || limit < 1 || limit > 1000) throw new Error(`limit ${limit} is not within 1 to 1000`);
  if (!Number.isInteger(offset) || offset < 0) throw new Error(`offset ${offset} is not a whole number from 0`);
}
