import { wordTable } from '../words/word-table.ts';
import { compareValues, valueKey } from './compare-values.ts';
import type { Statement, StatementValue } from './statement.ts';

/** A statement that a newer one of the same subject and predicate replaces. */
export interface Judgement<Of extends Statement = Statement> {
  readonly older: Of;
  readonly newer: Of;
  readonly reason: 'newer_value' | 'ended';
  /** Items that say the same as each, itself included. */
  readonly olderSupport: number;
  readonly newerSupport: number;
}

/** Predicates whose change must be stated: otherwise two things may have the same name. */
const CHANGE_ONLY = new Set(['located_in', 'location', 'capital', 'prefers']);
/** Two things of one kind: tea replaces coffee, and not dark mode. */
const MIN_LIKENESS = 0.45;

/**
 * Returns the supersessions among all statements of one key: each older statement is superseded by the next one in time with
 * another value. A statement with its own date (`as of 2019`) stays true and is never superseded. Of statements of the same time
 * only one that states a change supersedes another: an earlier one of its item, and one of another item that states none;
 * of two that say since when they hold, the later one.
 */
export function judge<Of extends Statement>(statements: readonly Of[]): readonly Judgement<Of>[] {
  const ordered = statements.toSorted(byTime);
  const supportOf = supportAmong(ordered);
  const judgements: Judgement<Of>[] = [];
  const later = createSuccessors<Of>();
  // From the newest to the oldest, so that each statement meets those that come after it.
  for (let end = ordered.length; end > 0; ) {
    const { at } = ordered[end - 1] as Of;
    let start = end - 1;
    while (start > 0 && ordered[start - 1]?.at === at) start--;
    const moment = ordered.slice(start, end).toReversed();
    const sameMoment = new Map<string, Successors<Of>>();
    const changes = createSuccessors<Of>();
    for (const one of moment) if (one.isChange) changes.addBefore(one);
    for (const older of moment) {
      const own = sameMoment.get(older.item) ?? createSuccessors<Of>();
      const newer =
        older.isDated || older.isEnd
          ? null
          : (own.firstAgainst(older, isNoEarlier) ??
            changes.firstAgainst(older, isNewerChange) ??
            later.firstAgainst(older));
      if (newer !== null) {
        const reason = newer.isEnd ? 'ended' : 'newer_value';
        judgements.push({ older, newer, reason, olderSupport: supportOf(older), newerSupport: supportOf(newer) });
      }
      sameMoment.set(older.item, own);
      if (older.isChange || older.isEnd) own.addBefore(older);
    }
    for (const one of moment) later.addBefore(one);
    end = start;
  }
  return judgements.toReversed();
}

/** Values that a statement is compared with: with so many different ones behind it, none of which replaces it, none does. */
const MAX_COMPARED = 256;

/** Statements that may replace an older one, each value once, at its first place. */
interface Successors<Of extends Statement> {
  /** Enters one that stands before all entered so far. */
  addBefore(statement: Of): void;
  /** The first that replaces the older one. */
  firstAgainst(older: Of, isEligible?: (one: Of, older: Of) => boolean): Of | null;
}

function createSuccessors<Of extends Statement>(): Successors<Of> {
  interface Entry {
    readonly statement: Of;
    next: Entry | null;
    before: Entry | null;
  }
  const entries = new Map<string, Entry>();
  let first: Entry | null = null;
  return {
    addBefore(statement) {
      const key = `${kindOf(statement)} ${JSON.stringify(statement.value)}`;
      const known = entries.get(key);
      if (known !== undefined) {
        if (known.before !== null) known.before.next = known.next;
        else first = known.next;
        if (known.next !== null) known.next.before = known.before;
      }
      const entry: Entry = { statement, next: first, before: null };
      if (first !== null) first.before = entry;
      first = entry;
      entries.set(key, entry);
    },
    firstAgainst(older, isEligible = () => true) {
      let compared = 0;
      for (let entry = first; entry !== null && compared < MAX_COMPARED; entry = entry.next, compared++) {
        if (isEligible(entry.statement, older) && replaces(entry.statement, older)) return entry.statement;
      }
      return null;
    },
  };
}

/** Compares two statements of the same time that say since when they hold: the later one is newer. */
const startsBetween = (one: Statement, other: Statement): number =>
  one.from < one.at && other.from < other.at ? Math.sign(Date.parse(one.from) - Date.parse(other.from)) : 0;
const isNoEarlier = (newer: Statement, older: Statement): boolean => startsBetween(newer, older) >= 0;
const isNewerChange = (newer: Statement, older: Statement): boolean =>
  startsBetween(newer, older) > 0 || (newer.item !== older.item && !older.isChange);

function replaces(newer: Statement, older: Statement): boolean {
  if (CHANGE_ONLY.has(newer.predicate) && !newer.isChange && !newer.isEnd) return false;
  if (newer.predicate === 'prefers' && !areAlike(newer.value, older.value)) return false;
  return compareValues(older.value, newer.value) === (newer.isEnd ? 'same' : 'different');
}

function areAlike(one: StatementValue, other: StatementValue): boolean {
  if (one.kind !== 'words' || other.kind !== 'words') return false;
  return wordTable().similarity(one.words.at(-1) ?? '', other.words.at(-1) ?? '') >= MIN_LIKENESS;
}

/** Properties beside the value that decide whether a statement supersedes another. */
function kindOf({ isEnd, isChange }: Statement): string {
  return isEnd ? 'end' : isChange ? 'change' : 'value';
}

function byTime(one: Statement, other: Statement): number {
  if (one.at !== other.at) return one.at < other.at ? -1 : 1;
  return one.ordinal - other.ordinal || (one.id < other.id ? -1 : 1);
}

/** Counts the items that say the same as a statement, itself included. */
function supportAmong(statements: readonly Statement[]): (statement: Statement) => number {
  const keyOf = ({ isEnd, value }: Statement): string => `${isEnd} ${valueKey(value)}`;
  const items = new Map<string, Set<string>>();
  for (const statement of statements) {
    const key = keyOf(statement);
    items.set(key, (items.get(key) ?? new Set()).add(statement.item));
  }
  return (statement) => items.get(keyOf(statement))?.size ?? 0;
}
