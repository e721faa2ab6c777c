import { stemmer } from 'stemmer';
import { fold } from './fold.ts';
import { type OtherLanguage, otherLanguageOf, REQUEST_STOP_WORDS, SPANISH, STOP_WORDS } from './stop-words.ts';

/** Longer runs (base64, hashes, minified code) are cut here, in texts and queries alike, so that they still match. */
export const MAX_TOKEN_LENGTH = 64;

export const MAX_QUERY_TERMS = 64;

/** A run of letters, digits and underscores with single inner connectors; `c++`, `c#` and `f#` keep their signs. */
const COMPOUND = /[\p{L}\p{N}\p{M}_]+(?:[.'’‘,@-][\p{L}\p{N}\p{M}_]+)*(?:\+\+|#(?![\p{L}\p{N}]))?/gu;
const PLAIN = /^[A-Z]?[a-z]+$/;
const STEMMABLE = /^[a-z]{3,}$/;
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー々〇]+/gu;
const GROUPED_NUMBER = /^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/;
const DOTTED_ACRONYM = /^(?:\p{L}\.)+\p{L}$/u;
const DOTTED_NUMBER = /^v?\d+(?:\.\d+)+$/i;
const DECADE = /^(\d{2,4})s$/;
const CAMEL_PARTS = /\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{M}]+|\p{N}+|\p{Lo}+/gu;
const HAS_CAMEL = /\p{Ll}\p{Lu}|\p{Lu}{2}\p{Ll}/u;

/** `index`: all forms of a word. `stem`: the default form of queries. `exact`: as written, for quoted words and acronyms. */
type Form = 'index' | 'stem' | 'exact';

/**
 * Returns the index tokens of a text, in order and with repetition. Every word has its folded form and, when it differs, its
 * Porter stem; compounds have the whole and their parts (`getUserById` → `getuserbyid get user by id`). README.md has the
 * reasons.
 */
export function tokenize(text: string): string[] {
  const tokens: string[] = [];
  for (const compound of text.match(COMPOUND) ?? []) addCompound(compound, tokens, 'index');
  return tokens;
}

/**
 * Returns the first 64 distinct terms of a query. One form per word, since an inflected word would otherwise count twice as
 * much as a name: the stem, or the exact form of acronyms and of words in double quotes. Stop words are removed unless nothing
 * else is left; `US` and `IT` in capitals are not stop words unless the whole query is in capitals.
 */
export function tokenizeQuery(text: string): string[] {
  const terms = queryTerms(text, true);
  return (terms.size > 0 ? [...terms] : [...queryTerms(text, false)]).slice(0, MAX_QUERY_TERMS);
}

/** Returns the stems of a text's content words, in order and with repetition; of all words when it has no content word. */
export function contentStems(text: string): string[] {
  const stems: string[] = [];
  const compounds = text.match(COMPOUND) ?? [];
  for (const compound of compounds) {
    if (!STOP_WORDS.has(PLAIN.test(compound) ? compound.toLowerCase() : foldWord(compound).replace(/['’‘]/gu, ''))) {
      addCompound(compound, stems, 'stem');
    }
  }
  if (stems.length > 0) return stems;
  for (const compound of compounds) addCompound(compound, stems, 'stem');
  return stems;
}

function queryTerms(text: string, isFiltered: boolean): Set<string> {
  const terms: string[] = [];
  const isShouting = text === text.toUpperCase();
  const isStopWord = isFiltered ? stopWordsOfQuery(text) : () => false;
  const quoted = quotedRanges(text);
  // Both are in order: one pass for whatever a client sends.
  let range = 0;
  for (const match of text.matchAll(COMPOUND)) {
    while ((quoted[range]?.[1] ?? Number.POSITIVE_INFINITY) <= match.index) range += 1;
    const compound = match[0];
    const isAcronym = !isShouting && compound.length > 1 && compound === compound.toUpperCase();
    const isQuoted = (quoted[range]?.[0] ?? Number.POSITIVE_INFINITY) <= match.index;
    if (!isAcronym && !isQuoted && isStopWord(compound)) continue;
    addCompound(compound, terms, isAcronym || isQuoted ? 'exact' : 'stem');
  }
  return new Set(terms);
}

/** Tells the words of a query that say nothing about its subject, in the language of the query. */
export function stopWordsOfQuery(query: string): (word: string) => boolean {
  const language = languageOfQuery(query);
  return (word) => {
    const form = withoutApostrophes(word);
    return STOP_WORDS.has(form) || REQUEST_STOP_WORDS.has(form) || language?.all.has(form) === true;
  };
}

/** Returns the language of a query; null for English, and for one whose function words are not known. */
export function languageOfQuery(query: string): OtherLanguage | null {
  if (query.includes('¿')) return SPANISH;
  // A capitalised word after the first is a name: `Las Vegas and Los Angeles`.
  const words = (query.match(COMPOUND) ?? []).filter((word, at) => at === 0 || !/^\p{Lu}/u.test(word));
  return otherLanguageOf(words.map(withoutApostrophes));
}

const withoutApostrophes = (word: string) => foldWord(word).replace(/['’‘]/gu, '');

function quotedRanges(text: string): [number, number][] {
  return [...text.matchAll(/"[^"]{1,200}"|“[^“”]{1,200}”|«[^«»]{1,200}»/gu)].map((match) => [
    match.index,
    match.index + match[0].length,
  ]);
}

function addCompound(compound: string, tokens: string[], form: Form): void {
  if (PLAIN.test(compound)) {
    addWord(compound.toLowerCase(), tokens, form);
    return;
  }
  const unspaced = compound.match(UNSPACED);
  if (unspaced === null) {
    addMixed(compound, tokens, form);
    return;
  }
  for (const run of unspaced) addBigrams(run.normalize('NFKC'), tokens, form);
  for (const rest of compound.split(UNSPACED)) {
    for (const part of rest.match(COMPOUND) ?? []) addMixed(part, tokens, form);
  }
}

/** Scripts without blanks: overlapping pairs, and single characters in the index so that one-character queries match. */
function addBigrams(run: string, tokens: string[], form: Form): void {
  const characters = [...run];
  if (form === 'index' || characters.length === 1) for (const character of characters) tokens.push(character);
  for (let at = 1; at < characters.length; at++) tokens.push(`${characters[at - 1]}${characters[at]}`);
}

function addMixed(raw: string, tokens: string[], form: Form): void {
  let compound = raw.replace(/['’‘]s$/iu, '');
  if (GROUPED_NUMBER.test(compound)) {
    tokens.push(compound.replaceAll(',', ''));
    return;
  }
  if (compound.includes(',')) {
    for (const part of compound.split(',')) addMixed(part, tokens, form);
    return;
  }
  const sign = /(?:\+\+|#)$/.exec(compound)?.[0] ?? '';
  if (sign !== '') {
    compound = compound.slice(0, -sign.length);
    tokens.push(foldWord(compound) + sign);
    if (compound.length === 1) return;
  }
  if (DOTTED_ACRONYM.test(compound)) {
    addWord(foldWord(compound).replaceAll('.', ''), tokens, form);
    return;
  }
  if (DOTTED_NUMBER.test(compound)) {
    addDottedNumber(foldWord(compound), tokens);
    return;
  }
  addParts(compound, tokens, form);
}

/** `v1.6.5` → `1.6.5` and `1.6`: a version is found by its exact name and by its minor line. */
function addDottedNumber(number: string, tokens: string[]): void {
  const bare = number.startsWith('v') ? number.slice(1) : number;
  addToken(bare, tokens);
  const parts = bare.split('.');
  if (parts.length > 2) addToken(`${parts[0]}.${parts[1]}`, tokens);
}

/** Identifiers, hyphenated words, file and host names: the whole, then what it is made of. */
function addParts(compound: string, tokens: string[], form: Form): void {
  const pieces = compound.split(/[.'’‘@_-]+/u).filter((piece) => piece !== '');
  if (pieces.length === 1) {
    addSimple(pieces[0] as string, tokens, form);
    return;
  }
  addToken(wholeOf(compound), tokens);
  const hasApostrophe = /['’‘]/u.test(compound);
  for (const piece of pieces) {
    if (hasApostrophe && piece.length < 3) continue;
    addSimple(piece, tokens, form);
  }
}

/** Hyphens and apostrophes join (`e-mail` is found as `email`), dots, underscores and at-signs stay. Dates stay whole. */
function wholeOf(compound: string): string {
  const folded = foldWord(compound).replace(/['’‘]/gu, '');
  return /^[\d-]+$/.test(folded) ? folded : folded.replaceAll('-', '');
}

function addSimple(piece: string, tokens: string[], form: Form): void {
  const word = foldWord(piece);
  addWord(word, tokens, form);
  if (!HAS_CAMEL.test(piece)) return;
  for (const part of piece.match(CAMEL_PARTS) ?? []) {
    if (part.length > 1 && part.length < piece.length) addWord(foldWord(part), tokens, form);
  }
}

function addWord(word: string, tokens: string[], form: Form): void {
  if (word === '') return;
  const other = form === 'exact' ? word : stemOf(word);
  if (form !== 'stem') addToken(word, tokens);
  if (other !== word || form === 'stem') addToken(other, tokens);
}

/** The form that inflections share: the Porter stem of an English-looking word, `1990` of `1990s`, else itself. */
export function stemOf(word: string): string {
  if (STEMMABLE.test(word)) return STOP_WORDS.has(word) ? word : porterStem(word);
  return DECADE.exec(word)?.[1] ?? word;
}

function addToken(token: string, tokens: string[]): void {
  tokens.push(token.length > MAX_TOKEN_LENGTH ? token.slice(0, MAX_TOKEN_LENGTH) : token);
}

/** Compatibility forms may unfold to a blank and a mark; a token has no blanks. */
function foldWord(word: string): string {
  const folded = fold(word);
  return folded.includes(' ') ? folded.replaceAll(' ', '') : folded;
}

/** Size of the cache: the words of a few long books, about 2 MB. */
const REMEMBERED_WORDS = 20_000;

/**
 * Cache of stems: the stemmer takes 2 µs a word, a third of the time of tokenising, and texts repeat a few thousand words. It
 * memoizes a pure function, so instances can share it.
 */
const stems = new Map<string, string>();

/** Returns the Porter stem of an English word in lower case. */
export function porterStem(word: string): string {
  const known = stems.get(word);
  if (known !== undefined) return known;
  if (stems.size >= REMEMBERED_WORDS) stems.clear();
  const stem = stemmer(word);
  stems.set(word, stem);
  return stem;
}
