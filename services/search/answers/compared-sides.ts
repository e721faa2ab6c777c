import { STOP_WORDS } from '../../common/text/language/stop-words.ts';
import { stemOf } from '../../common/text/language/tokenize.ts';
import { wordsOf } from './question.ts';
import { type ReadPassage, refersBack } from './rank-sentences.ts';
import { type Statement, statementsOf } from './statements.ts';
import { isPerson } from './word-kinds.ts';

/** What a sentence says of one of two compared things. */
export interface SaidOfSide {
  readonly passage: ReadPassage;
  readonly statement: Statement;
  /** The part of the sentence about this side: all of it when it names no other. */
  readonly part: string;
  /** The part of the sentence before it. */
  readonly before: string;
  /** How surely it is about the side: it names it (2), refers back to one that does (1), or stands in a text about it (0). */
  readonly sureness: 0 | 1 | 2;
}

export type Side = 0 | 1;

/** Returns the stems of the words by which each of two sides is known: those that the other one lacks, and names where there are some. */
function sideWords(sides: readonly [string, string]): readonly [readonly string[], readonly string[]] {
  const all = sides.map((side) => new Set(wordsOf(side).map(stemOf)));
  const [first, second] = sides.map((side, at) => {
    const other = all[1 - at] ?? new Set();
    const named = side
      .split(/[^\p{L}\p{N}'’.-]+/u)
      .filter((word) => /^[\p{Lu}\p{N}]/u.test(word) && !/^I$/u.test(word))
      .flatMap(wordsOf);
    const words = named.length > 0 ? named : wordsOf(side);
    const stems = [...new Set(words.filter((word) => !STOP_WORDS.has(word) || named.length > 0).map(stemOf))];
    const own = stems.filter((stem) => !other.has(stem));
    // `the red bike` and `the blue bike` are told apart by what is not `bike`, which says what is red.
    return named.length > 0 && own.length > 0 ? own : stems;
  });
  return [first ?? [], second ?? []];
}

const MAX_BACK = 3;

/** Returns what passages say of each side, by sureness and in the order of the passages. */
export function saidOfSides(
  sides: readonly [string, string],
  passages: readonly ReadPassage[],
): readonly [readonly SaidOfSide[], readonly SaidOfSide[]] {
  const words = sideWords(sides);
  const found: [SaidOfSide[], SaidOfSide[]] = [[], []];
  for (const passage of passages) {
    const subject = subjectOf(passage, words);
    let owner = subject;
    let distance = 0;
    for (const statement of statementsOf(passage)) {
      const named = placesOf(statement, words);
      if (named.length > 0) {
        addNamed(found, passage, statement, named);
        owner = named.length === 1 ? (named[0]?.side ?? null) : null;
        distance = 0;
        continue;
      }
      distance += 1;
      if (owner === null) {
        owner = subject;
        if (owner === null) continue;
      }
      const isBack = refersBack(statement) || REFERS_BACK.test(statement.text);
      // `Her husband Jonas is 40.` is of somebody else, and so is what refers back to him.
      if (isOfRelative(statement.text)) owner = null;
      else if (isBack && distance <= MAX_BACK) found[owner].push(saidOf(passage, statement, 1));
      else if (owner === subject) found[owner].push(saidOf(passage, statement, 0));
      else owner = null;
    }
  }
  for (const said of found) said.sort((one, other) => other.sureness - one.sureness);
  return found;
}

/** `The head of the company`, `I know him since 2020`. */
const REFERS_BACK = /^(?:the|this) \p{Ll}|^\p{L}+ (?:\p{L}+ ){0,2}(?:him|her|it|them)\b/iu;
const POSSESSED = /^(?:Her|His|Their|Its|My|Our) (\p{Ll}+)(?: (\p{Ll}+))?/u;

/** Whether a sentence is about a person who is somebody's: `Her husband`, `Their eldest son`. */
function isOfRelative(text: string): boolean {
  return (POSSESSED.exec(text)?.slice(1) ?? []).some((word) => word !== undefined && isPerson(word));
}

const saidOf = (passage: ReadPassage, statement: Statement, sureness: 0 | 1 | 2): SaidOfSide => ({
  passage,
  statement,
  part: statement.text,
  before: '',
  sureness,
});

/** The side that the title of a passage names alone, or its first sentence at the start; null without one. */
function subjectOf(passage: ReadPassage, words: readonly [readonly string[], readonly string[]]): Side | null {
  const { documentName, headings } = passage.payload;
  const titles = [documentName, ...headings].map((title) => new Set(wordsOf(title).map(stemOf)));
  const isTitled = words.map((own) => own.length > 0 && titles.some((title) => own.every((stem) => title.has(stem))));
  if (isTitled[0] === isTitled[1]) return null;
  return isTitled[0] === true ? 0 : 1;
}

interface Place {
  readonly side: Side;
  readonly start: number;
}

/** Where a sentence names the sides, in order. */
function placesOf(
  { text, label }: Statement,
  words: readonly [readonly string[], readonly string[]],
): readonly Place[] {
  const places = [...text.matchAll(/[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*/gu)].flatMap((match) =>
    wordsOf(match[0]).map((word) => ({ stem: stemOf(word), start: match.index })),
  );
  const ofText = placesAmong(words, (stem) => places.find((place) => place.stem === stem)?.start);
  if (ofText.length > 0) return ofText;
  const labelled = new Set(wordsOf(label).map(stemOf));
  const starts = new Map(places.map(({ stem, start }) => [stem, start]));
  const ofBoth = placesAmong(words, (stem) => starts.get(stem) ?? (labelled.has(stem) ? 0 : undefined));
  return ofBoth.length === 1 ? ofBoth : [];
}

/** A side begins with the last of its words: `course` stands first in `the first aid course and the sailing course`. */
function placesAmong(
  words: readonly [readonly string[], readonly string[]],
  placeOf: (stem: string) => number | undefined,
): readonly Place[] {
  return ([0, 1] as const)
    .flatMap((side) => {
      const starts = words[side].map(placeOf);
      const isNamed = starts.length > 0 && starts.every((start) => start !== undefined);
      return isNamed ? [{ side, start: Math.max(...starts.map((start) => start ?? 0)) }] : [];
    })
    .sort((one, other) => one.start - other.start);
}

function addNamed(
  found: readonly [SaidOfSide[], SaidOfSide[]],
  passage: ReadPassage,
  statement: Statement,
  named: readonly Place[],
): void {
  const { text } = statement;
  const [first, second] = named;
  if (first === undefined) return;
  if (second === undefined) {
    found[first.side].push(saidOf(passage, statement, 2));
    return;
  }
  const base = { passage, statement, sureness: 2 as const };
  found[first.side].push({ ...base, part: text.slice(first.start, second.start), before: text.slice(0, first.start) });
  found[second.side].push({ ...base, part: text.slice(second.start), before: text.slice(first.start, second.start) });
}

/** What is said of each side. */
export type Said = readonly [readonly SaidOfSide[], readonly SaidOfSide[]];

/** What decides a comparison: the answer, and a sentence about each side. */
export interface Compared {
  /** Null when the value of a side is not told. */
  readonly answer: string | null;
  readonly proofs: readonly Pick<SaidOfSide, 'passage' | 'statement'>[];
}
