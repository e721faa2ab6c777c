import { STOP_WORDS } from '../../common/text/language/stop-words.ts';
import { tokenize } from '../../common/text/language/tokenize.ts';
import { everydayWords } from '../../common/text/words/everyday-words.ts';
import { wordSenses } from '../../common/text/words/word-senses.ts';
import { placeOf } from './word-likeness.ts';
import { WordNumbers } from './word-numbers.ts';

/** The words of a text. */
export interface TextWords {
  readonly vocabulary: Vocabulary;
  /** Numbers of its index tokens in the vocabulary, in order and with repetition. */
  readonly tokens: readonly number[];
  /** `placeOf` its words in the table of word senses, each once. */
  readonly places: readonly number[];
}

/** At most about 8 MB: the words of a hundred books. */
const MAX_WORDS = 65_536;
/** Longer ones are seldom seen again. */
const LONGEST_KEPT_WORD = 40;

let current: Vocabulary | undefined;

/** Reads the words of a text, or of a part of it. */
export function readWords(text: string, start = 0, end = text.length): TextWords {
  if (current === undefined || current.isFull) current = new Vocabulary();
  return current.read(text, start, end);
}

/**
 * Words as texts write them, and what was read of each. All of it is numbers: as strings, objects and lists, words take longer
 * to find, and the collector looks at each of them again and again.
 */
export class Vocabulary {
  private readonly words = new WordNumbers();
  private readonly tokens = new WordNumbers();
  /** For each word, from its start on: the number of its tokens, that of its places, then these. */
  private entries = new Int32Array(8192);
  private starts = new Int32Array(1024);
  private entriesEnd = 0;
  /** Whether a phrase may begin with a word; see `starts`. */
  private beginsPhrase = new Int32Array(1024);
  /** The last reading that had each place. */
  private readings = new Int32Array(4096);
  private reading = 0;

  get isFull(): boolean {
    return this.words.size >= MAX_WORDS || this.tokens.size >= 2 * MAX_WORDS;
  }

  /** Number of an index token. */
  numberOf(token: string): number {
    return this.tokens.of(token);
  }

  read(text: string, start: number, end: number): TextWords {
    const tokens: number[] = [];
    const places: number[] = [];
    this.reading += 1;
    let at = start;
    while (at < end) {
      if (isBlank(text.charCodeAt(at))) {
        at += 1;
        continue;
      }
      const begin = at;
      while (at < end && !isBlank(text.charCodeAt(at))) at += 1;
      let first = begin;
      let last = at;
      while (first < last && MARKS_BEFORE[text.charCodeAt(first)] === 1) first += 1;
      while (first < last && MARKS_BEHIND[text.charCodeAt(last - 1)] === 1) last -= 1;
      if (first === last) continue;
      if (last - first > LONGEST_KEPT_WORD) {
        this.addLong(text.slice(first, last), tokens, places);
        continue;
      }
      const known = this.words.find(text, first, last);
      const word = known < 0 ? this.keep(text.slice(first, last)) : known;
      this.add(word, tokens, places);
      if (this.beginsPhrase[word] === 1 && first === begin && last === at) {
        const words = text.slice(first, end).split(BLANKS, everydayWords().longestPhrase);
        for (const row of rowsOf(everydayWords().phrasesAt(words, 0))) this.addPlace(placeOf(row), places);
      }
    }
    return { vocabulary: this, tokens, places };
  }

  private add(word: number, tokens: number[], places: number[]): void {
    const { entries } = this;
    const start = this.starts[word] as number;
    const middle = start + 2 + (entries[start] as number);
    const end = middle + (entries[start + 1] as number);
    for (let at = start + 2; at < middle; at++) tokens.push(entries[at] as number);
    for (let at = middle; at < end; at++) this.addPlace(entries[at] as number, places);
  }

  private addPlace(place: number, places: number[]): void {
    if (place >= this.readings.length) this.readings = withRoom(this.readings, place);
    if (this.readings[place] === this.reading) return;
    this.readings[place] = this.reading;
    places.push(place);
  }

  private addLong(word: string, tokens: number[], places: number[]): void {
    const read = tokenize(word);
    for (const token of read) tokens.push(this.numberOf(token));
    for (const row of rowsOf(read)) this.addPlace(placeOf(row), places);
  }

  private keep(text: string): number {
    const word = this.words.of(text);
    const tokens = tokenize(text);
    const rows = rowsOf(tokens);
    const entry = [tokens.length, rows.length, ...tokens.map((token) => this.numberOf(token)), ...rows.map(placeOf)];
    if (word >= this.starts.length) {
      this.starts = withRoom(this.starts, word);
      this.beginsPhrase = withRoom(this.beginsPhrase, word);
    }
    if (this.entriesEnd + entry.length > this.entries.length) {
      this.entries = withRoom(this.entries, this.entriesEnd + entry.length);
    }
    this.starts[word] = this.entriesEnd;
    this.beginsPhrase[word] = Number(everydayWords().beginsPhrase(text));
    this.entries.set(entry, this.entriesEnd);
    this.entriesEnd += entry.length;
    return word;
  }
}

function withRoom(numbers: Int32Array, place: number): Int32Array<ArrayBuffer> {
  const room = new Int32Array(Math.max(place + 1, 2 * numbers.length));
  room.set(numbers);
  return room;
}

const BLANKS = /\s+/u;
const BLANK = /\s/u;

function isBlank(code: number): boolean {
  if (code < 128) return code === 32 || (code >= 9 && code <= 13);
  return code >= 160 && BLANK.test(String.fromCharCode(code));
}

/** Marks around a word, which are no part of its tokens: there are as many forms of it with them as without. */
const MARKS_BEFORE = codesOf(`"'“‘(`);
const MARKS_BEHIND = codesOf(`.,;:!?"'”’)`);

/** 1 for the code of each of the characters. */
function codesOf(characters: string): Uint8Array {
  const codes = new Uint8Array(0x2020);
  for (let at = 0; at < characters.length; at++) codes[characters.charCodeAt(at)] = 1;
  return codes;
}

/** The rows of tokens, without stop words and unknown words. */
function rowsOf(tokens: readonly string[]): readonly number[] {
  const senses = wordSenses();
  return tokens.flatMap((token) => {
    const row = STOP_WORDS.has(token) ? -1 : senses.row(token);
    return row < 0 ? [] : [row];
  });
}
