import type { DatasetScope } from '../../common/kernel/scope.ts';
import type { Supersession, Supersessions } from '../../common/records/cognify/supersessions.ts';
import { sentences } from '../../common/text/language/sentences.ts';
import type { Visibility } from '../retrieval/visibility.ts';
import type { TimeView } from './time-view.ts';

/** A statement of a passage that is part of a supersession. */
export interface StatementMark {
  readonly supersession: Supersession;
  /** The sentence, verbatim. */
  readonly text: string;
  /** `superseded`: by a newer one; `not_yet`: it came after the time that is asked for; `current`: it has replaced another. */
  readonly state: 'superseded' | 'not_yet' | 'current';
  /** It is left out of what is told. */
  readonly isLeftOut: boolean;
}

/** What of the passages asked for is not to be told, and why. */
export interface RetiredStatements {
  readonly isEmpty: boolean;
  /** Every statement of the passage that is part of a supersession, left out or not. */
  marksOf(chunk: string): readonly StatementMark[];
  /** The text without the sentences that are left out; the same string when there are none. */
  textOf(chunk: string, text: string): string;
  /** Whether the sentence, or evidence that stands in it, is left out. */
  isRetired(chunk: string, text: string): boolean;
}

/** Looks the passages up, in a few reads for all of them. Supersessions of what is not visible (any more) do not count. */
export async function retiredAmong(
  {
    supersessions,
    visibility,
  }: { readonly supersessions: Pick<Supersessions, 'ofChunks'>; readonly visibility: Visibility },
  scope: DatasetScope,
  chunks: readonly string[],
  view: TimeView,
): Promise<RetiredStatements> {
  const distinct = [...new Set(chunks)];
  const found = distinct.length === 0 ? [] : await supersessions.ofChunks(scope, distinct);
  const marks = marksByChunk(await visibleOnly(found, visibility), view);
  const left = (chunk: string) => (marks.get(chunk) ?? []).filter(({ isLeftOut }) => isLeftOut);
  return {
    isEmpty: marks.size === 0,
    marksOf: (chunk) => marks.get(chunk) ?? [],
    textOf(chunk, text) {
      const gone = new Set(left(chunk).map((mark) => mark.text));
      return gone.size === 0 ? text : without(text, gone);
    },
    isRetired(chunk, text) {
      const evidence = text.trim();
      return evidence !== '' && left(chunk).some((mark) => mark.text.includes(evidence));
    },
  };
}

/** Both sides must be there: what a forgotten statement had replaced stands again. */
export async function visibleOnly(
  found: readonly Supersession[],
  visibility: Visibility,
): Promise<readonly Supersession[]> {
  const shown = new Set(await visibility.filter(found.flatMap(({ older, newer }) => [older, newer])));
  return found.filter(({ older, newer, reverted }) => reverted === null && shown.has(older) && shown.has(newer));
}

function marksByChunk(
  found: readonly Supersession[],
  { currentOnly, asOf }: TimeView,
): ReadonlyMap<string, readonly StatementMark[]> {
  const marks = new Map<string, StatementMark[]>();
  const add = (chunk: string, mark: StatementMark) => marks.set(chunk, [...(marks.get(chunk) ?? []), mark]);
  for (const supersession of found) {
    const { older, newer } = supersession;
    const isYet = asOf === null || newer.from <= asOf;
    if (isYet) {
      const isLeftOut = currentOnly || asOf !== null;
      add(older.chunk, { supersession, text: older.text, state: 'superseded', isLeftOut });
      add(newer.chunk, { supersession, text: newer.text, state: 'current', isLeftOut: false });
    } else {
      add(newer.chunk, { supersession, text: newer.text, state: 'not_yet', isLeftOut: true });
    }
  }
  return marks;
}

function without(text: string, gone: ReadonlySet<string>): string {
  let kept = '';
  let end = 0;
  let isCut = false;
  for (const sentence of sentences(text)) {
    if (!gone.has(sentence.text)) continue;
    kept += text.slice(end, sentence.start);
    end = sentence.end;
    isCut = true;
  }
  return isCut
    ? `${kept}${text.slice(end)}`
        .replaceAll(/[ \t]{2,}/gu, ' ')
        .replaceAll(/\n{3,}/gu, '\n\n')
        .trim()
    : text;
}

/** Whether a text still tells anything. */
export function tellsAnything(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}
