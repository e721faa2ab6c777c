import { readFileSync } from 'node:fs';
import { keptByText } from '../../kernel/recently-used.ts';
import { translations } from './translations.ts';
import { indexWords, wordTable } from './word-table.ts';

/** A meaning that words share, of WordNet. */
export interface SynsetRow {
  /** The more general one, of a lower number; `NO_SYNSET` at the root. */
  readonly parent: number;
  /** A second more general one, or `NO_SYNSET`. */
  readonly second: number;
  /** Synsets of words derived from its words, and the other way round: `donate` and `donation`. */
  readonly related: readonly number[];
}

interface Sense {
  readonly synset: number;
  /** Share of the uses of the word that have this meaning. */
  readonly share: number;
}

/** Meanings of words, by their rows: those of the table of word vectors, and behind them the rare words of this table. */
interface WordSenses {
  /** Number of rows. */
  readonly size: number;
  /** Share of the senses of a word (0 to 1) that are those of a noun and of a verb. */
  partsOf(row: number): { readonly noun: number; readonly verb: number };
  /** Row of a lower-case word, for one of another language that of its English word; -1 for an unknown one. */
  row(word: string): number;
  /**
   * Returns how far other words say what a word asks for, 0 to 1: the most when they are synonyms, less when they are of its
   * kind (`guitar` for `instrument`), least when they are more general. `cosine`: of the word vectors; which of its meanings
   * a word has is surer when they are alike.
   */
  likenessTo(wanted: number): (row: number, cosine: number) => number;
  /** Returns how sure other words are synonyms of a word or of its kind, 0 to 1. */
  kindOf(wanted: number): (row: number, cosine: number) => number;
}

export const NO_SYNSET = 0xffff;
const MAGIC = 0x534e5745;
const HEADER_BYTES = 36;
const SHARE_STEPS = 255;

/**
 * Layout, little endian: magic, number of words, senses, synsets, related pairs, rare words and their bytes, the first synset
 * that is no noun and the first behind that which is no verb (u32 each);
 * synsets of the senses, parents, second parents, related synsets (u16); numbers of senses of the words, shares of the senses,
 * numbers of related synsets, lengths of the rare words (u8), and these in alphabetical order.
 */
export function encodeSenses(
  words: readonly (readonly Sense[])[],
  synsets: readonly SynsetRow[],
  rare: readonly string[],
  ends: { readonly nouns: number; readonly verbs: number },
): Buffer {
  const senses = words.flat();
  const related = synsets.flatMap((synset) => synset.related);
  const text = Buffer.from(rare.join(''), 'latin1');
  const header = Buffer.alloc(HEADER_BYTES);
  const counts = [words, senses, synsets, related, rare, text].map(({ length }) => length);
  for (const [at, value] of [MAGIC, ...counts, ends.nouns, ends.verbs].entries()) header.writeUInt32LE(value, 4 * at);
  const pairs = (values: readonly number[]) => {
    const content = Buffer.alloc(2 * values.length);
    for (const [at, value] of values.entries()) content.writeUInt16LE(value, 2 * at);
    return content;
  };
  return Buffer.concat([
    header,
    pairs(senses.map(({ synset }) => synset)),
    pairs(synsets.map(({ parent }) => parent)),
    pairs(synsets.map(({ second }) => second)),
    pairs(related),
    Buffer.from(words.map((word) => word.length)),
    Buffer.from(senses.map(({ share }) => Math.max(1, Math.round(SHARE_STEPS * share)))),
    Buffer.from(synsets.map((synset) => synset.related.length)),
    Buffer.from(rare.map((word) => word.length)),
    text,
  ]);
}

let shared: WordSenses | undefined;

/** The table that comes with the program, read on first use outside the heap. */
export function wordSenses(): WordSenses {
  shared ??= readWordSenses();
  return shared;
}

/** Likeness of a synonym, of a derived word, of a word of the kind and of a more general word. */
const SYNONYM = 0.9;
const DERIVED = 0.7;
/** Derived and broader words whose vectors are less alike belong to other meanings. */
const MIN_COSINE = 0.35;
const NARROWER = 0.9;
const BROADER = 0.5;
/** Factors for each step between two meanings, down and up. */
const STEP_DOWN = 0.97;
const STEP_UP = 0.75;
const MAX_STEPS_UP = 3;
/** A word of a kind counts less when there are many of that kind: the least factor, of the most general kinds. */
const LEAST_SPECIFIC = 0.5;
/** Exponent of the share of a sense: rare senses count more than their share. */
const RARE_SENSES = 0.35;

/** How sure a meaning is: of its shares of the uses of both words, and of the cosine of their vectors. */
const SURE_BY_COSINE = 0.9;

/** Throws when the file is damaged. */
export function readWordSenses(file: string | URL = new URL('senses.bin', import.meta.url)): WordSenses {
  const content = readFileSync(file);
  if (content.length < HEADER_BYTES || content.readUInt32LE(0) !== MAGIC) {
    throw new Error(`The word senses in ${String(file)} are damaged: install the program again.`);
  }
  const table = wordTable();
  const count = (place: number) => content.readUInt32LE(4 * place);
  const [wordCount, senseCount, synsetCount, relatedCount] = [count(1), count(2), count(3), count(4)];
  const [rareCount, rareBytes, nounsEnd, verbsEnd] = [count(5), count(6), count(7), count(8)];
  let start = content.byteOffset + HEADER_BYTES;
  const bytes = (length: number) => {
    start += length;
    return new Uint8Array(content.buffer, start - length, length);
  };
  const pairs = (length: number) => new Uint16Array(bytes(2 * length).slice().buffer);
  const synsets = pairs(senseCount);
  const parents = pairs(synsetCount);
  const seconds = pairs(synsetCount);
  const related = pairs(relatedCount);
  const senseEnds = endsOf(bytes(wordCount));
  const shares = bytes(senseCount);
  const relatedEnds = endsOf(bytes(synsetCount));
  const rareEnds = endsOf(bytes(rareCount));
  const rareWords = Buffer.from(content.buffer, start, rareBytes);
  /** Number of synsets below each. */
  const below = new Uint16Array(synsetCount);
  for (let synset = synsetCount - 1; synset >= 0; synset--) {
    const parent = at(parents, synset);
    if (parent !== NO_SYNSET) below[parent] = at(below, parent) + at(below, synset) + 1;
  }
  const depths = new Uint8Array(synsetCount);
  const withSecond: number[] = [];
  for (let synset = 0; synset < synsetCount; synset++) {
    const parent = at(parents, synset);
    if (parent !== NO_SYNSET) depths[synset] = at(depths, parent) + 1;
    if (at(seconds, synset) !== NO_SYNSET) withSecond.push(synset);
  }
  withSecond.sort((one, other) => at(seconds, one) - at(seconds, other) || one - other);
  const secondsInOrder = Uint16Array.from(withSecond, (synset) => at(seconds, synset));
  /** Returns the synsets whose second parent is one of these, in order. */
  const withSecondAmong = (from: number, last: number): readonly number[] => {
    let place = firstFrom(secondsInOrder, from);
    const found: number[] = [];
    for (; place < withSecond.length && at(secondsInOrder, place) <= last; place++)
      found.push(withSecond[place] as number);
    return found.sort((one, other) => one - other);
  };
  const stepsDown = Float32Array.from({ length: 2 * MAX_DEPTH }, (_, steps) => STEP_DOWN ** steps);
  const weights = Float32Array.from({ length: SHARE_STEPS + 1 }, (_, step) => (step / SHARE_STEPS) ** RARE_SENSES);
  const largest = Math.log(below.reduce((most, count) => Math.max(most, count), 1) + 1);
  const specific = (synset: number) =>
    LEAST_SPECIFIC + (1 - LEAST_SPECIFIC) * (1 - Math.log(at(below, synset) + 1) / largest);

  /** Calls with the synsets of a word and their weights. */
  const eachSense = (row: number, call: (synset: number, weight: number) => void): void => {
    if (row < 0 || row >= wordCount) return;
    for (let sense = startOf(senseEnds, row); sense < (senseEnds[row] as number); sense++)
      call(synsets[sense] as number, at(weights, shares[sense] as number));
  };
  /** Calls with the synset and the next more general ones, and their distances. */
  const eachAbove = (synset: number, call: (synset: number, steps: number) => void, steps = 0): void => {
    let [above, distance] = [synset, steps];
    for (; above !== NO_SYNSET && distance <= MAX_STEPS_UP; above = at(parents, above), distance++) {
      call(above, distance);
      if (at(seconds, above) !== NO_SYNSET) eachAbove(at(seconds, above), call, distance + 1);
    }
  };
  const offer = ({ worth, marks }: Wanted, synset: number, value: number, weight: number): void => {
    const valueSteps = Math.round(SHARE_STEPS * value);
    const weightSteps = Math.round(SHARE_STEPS * weight);
    const known = worth.get(synset) ?? 0;
    if (valueSteps * weightSteps <= (known >> 8) * (known & 255)) return;
    worth.set(synset, (valueSteps << 8) | weightSteps);
    mark(marks, synset);
  };
  /** Offers a value to a synset and those below it: they follow it. */
  const offerBelow = (by: Wanted, synset: number, value: number, weight: number): void => {
    const last = synset + (below[synset] as number);
    for (let other = synset; other <= last; other++)
      offer(by, other, value * at(stepsDown, (depths[other] as number) - (depths[synset] as number)), weight);
  };
  /** `same` and `narrower`: what the meanings of a word are worth, and those below them. */
  const wantedBy = (wanted: number, same: number, narrower: (synset: number) => number): Wanted => {
    const by: Wanted = { loose: new Map(), worth: new Map(), marks: new Uint8Array((synsetCount >> 3) + 1) };
    eachSense(wanted, (synset, weight) => {
      const value = narrower(synset);
      const last = synset + (below[synset] as number);
      for (let other = synset + 1; other <= last; other++)
        offer(by, other, value * at(stepsDown, (depths[other] as number) - (depths[synset] as number)), weight);
      for (const other of withSecondAmong(synset, last)) {
        const steps = at(depths, at(seconds, other)) - at(depths, synset) + 1;
        offerBelow(by, other, value * at(stepsDown, steps), weight);
      }
    });
    eachSense(wanted, (synset, weight) => offer(by, synset, same, weight));
    return by;
  };
  const addLoose = ({ loose, marks }: Wanted, wanted: number): void => {
    eachSense(wanted, (synset, weight) => {
      for (let pair = startOf(relatedEnds, synset); pair < (relatedEnds[synset] as number); pair++)
        raise(loose, related[pair] as number, { value: DERIVED, weight });
      eachAbove(synset, (above, steps) => {
        if (steps === 0 || steps > MAX_STEPS_UP) return;
        raise(loose, above, { value: BROADER * specific(above) * STEP_UP ** (steps - 1), weight });
      });
    });
    for (const synset of loose.keys()) mark(marks, synset);
  };
  const likest = (by: Wanted, row: number, cosine: number): number => {
    if (row < 0 || row >= wordCount) return 0;
    const sure = SURE_BY_COSINE * Math.max(0, cosine);
    let most = 0;
    for (let sense = startOf(senseEnds, row); sense < (senseEnds[row] as number); sense++) {
      const synset = synsets[sense] as number;
      if (!isMarked(by.marks, synset)) continue;
      const weight = weights[shares[sense] as number] as number;
      const worth = by.worth.get(synset) ?? 0;
      const value = (worth >> 8) / SHARE_STEPS;
      const wanted = (worth & 255) / SHARE_STEPS;
      if (value > most) most = Math.max(most, value * Math.min(1, wanted * weight + sure));
      const loose = cosine < MIN_COSINE ? undefined : by.loose.get(synset);
      if (loose !== undefined) most = Math.max(most, loose.value * Math.min(1, loose.weight * weight + sure));
    }
    return most;
  };
  const rarePlaceOf = indexWords(rareWords, rareEnds);
  return {
    size: wordCount,
    row: keptByText(CACHED_WORDS, (word) => {
      if (translations().isForeign(word)) return table.row(translations().english(word)?.split(' ').at(-1) ?? '');
      const row = table.row(word);
      if (row >= 0) return row;
      const place = lemmasOf(word).reduce((found, lemma) => (found < 0 ? rarePlaceOf(lemma) : found), -1);
      return place < 0 ? -1 : table.size + place;
    }),
    partsOf(row) {
      let [noun, verb, all] = [0, 0, 0];
      eachSense(row, (synset, weight) => {
        const share = weight ** (1 / RARE_SENSES);
        all += share;
        if (synset < nounsEnd) noun += share;
        else if (synset < verbsEnd) verb += share;
      });
      return all === 0 ? { noun: 0, verb: 0 } : { noun: noun / all, verb: verb / all };
    },
    likenessTo(wanted) {
      const by = wantedBy(wanted, SYNONYM, (synset) => NARROWER * specific(synset));
      addLoose(by, wanted);
      return (row, cosine) => likest(by, row, cosine);
    },
    kindOf(wanted) {
      const by = wantedBy(wanted, 1, () => 1);
      return (row, cosine) => likest(by, row, cosine);
    },
  };
}

/** Words of which the rows are kept: those of texts and questions are asked for again and again. */
const CACHED_WORDS = 16_000;

/** Value of a meaning, and its weight among those of its word. */
interface Found {
  readonly value: number;
  readonly weight: number;
}

/** By synset. */
interface Wanted {
  /** Derived and broader ones. */
  readonly loose: Map<number, Found>;
  /** `value << 8 | weight` of each as the same or a narrower one, and of the meaning wanted, of `SHARE_STEPS`. */
  readonly worth: Map<number, number>;
  /** A bit for each synset, set for those of the maps: most words have none of them, and a look-up in a map takes longer. */
  readonly marks: Uint8Array;
}

function mark(marks: Uint8Array, synset: number): void {
  marks[synset >> 3] = (marks[synset >> 3] as number) | (1 << (synset & 7));
}

const isMarked = (marks: Uint8Array, synset: number) => ((marks[synset >> 3] as number) & (1 << (synset & 7))) !== 0;

function raise(map: Map<number, Found>, synset: number, found: Found): void {
  const known = map.get(synset);
  if (known === undefined || found.value * found.weight > known.value * known.weight) map.set(synset, found);
}

const MAX_DEPTH = 20;

const at = (values: Uint8Array | Uint16Array | Uint32Array | Float32Array, place: number) => values[place] as number;
const startOf = (ends: Uint32Array, place: number) => (place === 0 ? 0 : (ends[place - 1] as number));

function endsOf(counts: Uint8Array | Uint32Array): Uint32Array {
  const ends = new Uint32Array(counts.length);
  let end = 0;
  for (let place = 0; place < counts.length; place++) {
    end += at(counts, place);
    ends[place] = end;
  }
  return ends;
}

/** Returns the place of the first of sorted numbers that is at least `least`. */
function firstFrom(numbers: Uint16Array, least: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] as number) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A word and what it may be a regular form of. */
function lemmasOf(word: string): readonly string[] {
  const stem = /^(.{3,}?)(?:s|d|ing)$/u.exec(word)?.[1];
  if (stem === undefined) return [word];
  const bare = stem.replace(/(?<=.{3})e$/u, '');
  return [word, stem, `${stem}e`, bare, bare.replace(/i$/u, 'y'), bare.replace(/(.)\1$/u, '$1')];
}
