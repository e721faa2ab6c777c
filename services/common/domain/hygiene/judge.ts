import { compareValues } from './compare-values.ts';
import type { Statement } from './statement.ts';

/** A statement that a newer one of the same subject and predicate replaces. */
export interface Judgement<Of extends Statement = Statement> {
  readonly older: Of;
  readonly newer: Of;
  readonly reason: 'newer_value' | 'ended';
  /** Items that say the same as each, itself included. */
  readonly olderSupport: number;
  readonly newerSupport: number;
}

/** Things do not move by themselves: two of them may have one name, unless a statement says that something changed. */
const CHANGE_ONLY = new Set(['located_in', 'location', 'capital']);

/**
 * What replaces what, among all statements of one key: each older statement by the next one in time that says something
 * else. What tells its own date (`as of 2019`) stays true and is replaced by nothing. Statements of the same moment replace
 * nothing, except that a later sentence of one item, which says that something changed, replaces an earlier one.
 */
export function judge<Of extends Statement>(statements: readonly Of[]): readonly Judgement<Of>[] {
  const ordered = statements.toSorted(byTime);
  return ordered.flatMap((older, place): readonly Judgement<Of>[] => {
    if (older.isDated || older.isEnd) return [];
    for (const newer of ordered.slice(place + 1)) {
      if (!isLater(newer, older)) continue;
      if (CHANGE_ONLY.has(newer.predicate) && !newer.isChange && !newer.isEnd) continue;
      const comparison = compareValues(older.value, newer.value);
      const reason = newer.isEnd ? 'ended' : 'newer_value';
      if (comparison !== (newer.isEnd ? 'same' : 'different')) continue;
      const support = { olderSupport: supportOf(older, ordered), newerSupport: supportOf(newer, ordered) };
      return [{ older, newer, reason, ...support }];
    }
    return [];
  });
}

function byTime(one: Statement, other: Statement): number {
  if (one.at !== other.at) return one.at < other.at ? -1 : 1;
  return one.ordinal - other.ordinal || (one.id < other.id ? -1 : 1);
}

function isLater(newer: Statement, older: Statement): boolean {
  if (newer.at !== older.at) return newer.at > older.at;
  return newer.item === older.item && (newer.isChange || newer.isEnd) && newer.ordinal > older.ordinal;
}

function supportOf({ value, isEnd }: Statement, all: readonly Statement[]): number {
  const alike = all.filter((other) => other.isEnd === isEnd && compareValues(value, other.value) === 'same');
  return new Set(alike.map(({ item }) => item)).size;
}
