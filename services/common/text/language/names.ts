import { isCommonWord } from './common-words.ts';
import {
  ABBREVIATED_NAME_PARTS,
  ARTICLES,
  CALENDAR_WORDS,
  EVENT_HEADS,
  FORMS_OF_ADDRESS,
  HEADS_BEFORE_OF,
  NEVER_NAMES,
  NUMBER_UNITS,
  PLACE_HEADS,
  SENTENCE_OPENERS,
} from './name-words.ts';
import { type Sentence, sentences } from './sentences.ts';
import { STOP_WORDS } from './stop-words.ts';

export type NameKind = 'name' | 'acronym' | 'work' | 'identifier' | 'quantity';

/** `text` has its blanks unified and the possessive ending removed; `start` and `end` are offsets in the source. */
export interface NameMention {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly kind: NameKind;
  /** The capital may be due to the position only: a single word that opens a sentence, a heading or a quotation. */
  readonly isUncertain: boolean;
}

/** Initials, abbreviations with their full stop, acronyms, and words that start with (or hide) a capital. */
const CAPITALISED =
  /(?<![\p{L}\p{N}_@/.\\°])(?:(?:\p{Lu}\.){2,}|\p{Lu}\.(?=[ \n]\p{Lu})|(?:\p{Lu}|\p{Ll}(?=\p{Lu}\p{Ll})|[OdlL]['’](?=\p{Lu}))[\p{L}\p{M}\p{N}]*(?:(?:['’-]|\.(?=\p{L}))[\p{L}\p{N}][\p{L}\p{M}\p{N}]*)*\.?)/gu;
/** Words that may stand between two words of one name. */
const JOIN =
  /^(?:[ \n]|\+|[ \n](?:of|de|del|della|van|von|der|den|ter|la|le|les|du|da|dos|das|do|di|y|e|bin|ibn|al|el|af|av|zu|zur|of the|of a|de la|de los|de las|van der|van den|von der|in the|on the|and the|to the|for the|at the)[ \n]|[ \n]&[ \n]|, )$/u;
/** Parts of a name that follow a comma: `Acme, Inc.`, `King, Jr.`. */
const COMMA_SUFFIX = /^(?:[JS]r|Inc|Ltd|LLC|Co)\.?$/u;
/** Text in front of a word that is capitalised because of its position. Full stops inside a sentence are abbreviations. */
const OPENING_CONTEXT = /(?:^|[!?;:—–|>#*•-][ \t\n]*|(?:\.\.|…)[ \t]|[“"‘'(«[`_*]|^\d{1,3}[.)] |^\d{1,2}:\d\d )$/u;
/** Bodies that are called after what they are for: `Institute for Advanced Study`, `Council on Foreign Relations`. */
const BODIES =
  /^(?:Institute|Cent(?:er|re)|Council|Committee|Commission|Society|Foundation|Academy|Campaign|Authority|Office|Agency|Partnership|Initiative|Coalition)$/u;
const SPEECH_VERB =
  /^\s*(?:\p{L}+ )?(?:said|says|cried|asked|answered|replied|exclaimed|shouted|roared|whispered|muttered|murmured|added|began|continued|interrupted|thought|observed|returned|called)\b/u;
const OF_JOIN = /^[ \n](?:of|of the)[ \n]$/u;
const OF_THE_JOIN = /^[ \n]of the[ \n]$/u;
const THE_JOIN = /^[ \n](?:(?:in|on|and|to|for|at) the)[ \n]$/u;
const TRAILING_NUMBER =
  /[ \n](?!\d{1,2}[–-]\d)(\d{1,4}\p{L}?|[IVX]{2,5}|[VX]|I(?=[,.)]| (?:of|was|and|in)\b)|#\d+)(?![\p{L}\p{N}%]|[.,:]\d)/uy;
const LEADING_YEAR = /(?<!\p{N})((?:1[5-9]|20)\d\d(?:[–-]\d{2,4})?)[ \n]$/u;
/** Single marks hold two words or more: `'Tom'` may be anything, and the mark ends owners in plural, too. */
const QUOTED =
  /"([^"\n]{2,80})"|“([^”]{2,80})”|``([^'\n]{2,80})''|«([^»\n]{2,80})»|(?<=^|[\s([–—])(?:'(\p{Lu}[^'’\s]* [^'’\n]{1,60})'|‘(\p{Lu}[^‘’\s]* [^‘’\n]{1,60})’)(?![\p{L}\p{N}])/gu;
const IDENTIFIER =
  /`([^`\n]{2,64})`|(?<![\p{L}\p{N}_])(?:[\p{L}_][\p{L}\p{N}]*_[\p{L}\p{N}_]+|[a-z]{2,}(?:[A-Z][a-z0-9]+)+)(?![\p{L}\p{N}_])|[\w.+-]+@[\w-]+\.[\w.-]*\w|https?:\/\/[^\s<>"')\]]*[^\s<>"')\].,;:!?]/gu;
const QUANTITY = new RegExp(
  `(?<![\\p{L}\\p{N}.,])(?:[$€£¥]\\s?\\d[\\d,.]*(?:\\s(?:thousand|million|billion|trillion))?|\\d[\\d,.]*\\s?(?:%|(?:(?:thousand|million|billion|trillion)\\s)?(?:${NUMBER_UNITS})(?![\\p{L}])|-?(?:kilomet(?:er|re)|mile|year|day|foot|met(?:er|re))(?![\\p{L}])|(?:thousand|million|billion|trillion)))`,
  'gu',
);

/** Returns the names of a text: proper nouns with particles and numbers, acronyms, quoted titles, identifiers, quantities. */
export function names(text: string): NameMention[] {
  return namesOf(sentences(text));
}

/** Returns the names of sentences; offsets are those of their source. */
function namesOf(source: readonly Sentence[]): NameMention[] {
  const mentions = source.flatMap((sentence) => namesInSentence(sentence));
  const certain = new Set(mentions.filter((mention) => !mention.isUncertain).map((mention) => mention.text));
  return mentions.map((mention) =>
    mention.isUncertain && certain.has(mention.text) ? { ...mention, isUncertain: false } : mention,
  );
}

export function namesInSentence(sentence: Sentence): NameMention[] {
  const mentions: NameMention[] = [];
  addQuoted(sentence, mentions);
  if (/[_`@]|:\/\/|[a-z][A-Z]/u.test(sentence.text)) addMatches(sentence, IDENTIFIER, 'identifier', mentions);
  if (!isAllCapitals(sentence.text)) addRuns(sentence, mentions);
  if (/\d/u.test(sentence.text)) addMatches(sentence, QUANTITY, 'quantity', mentions);
  return withoutCovered(mentions);
}

function addMatches(sentence: Sentence, pattern: RegExp, kind: NameKind, mentions: NameMention[]): void {
  for (const match of sentence.text.matchAll(pattern)) {
    const start = sentence.start + match.index;
    const text = (match[1] ?? match[0]).trim().replace(/[.,]+$/u, '');
    mentions.push({ text, start, end: start + match[0].length, kind, isUncertain: false });
  }
}

/** A quotation is a title when its words are written like one; speech is not. */
function addQuoted(sentence: Sentence, mentions: NameMention[]): void {
  if (!/["“«`'‘]/u.test(sentence.text)) return;
  for (const match of sentence.text.matchAll(QUOTED)) {
    const inner = (match.slice(1).find((part) => part !== undefined) ?? '').trim();
    const text = inner.replace(/[,.]$/u, '');
    if (!isTitle(text) || isSpeech(sentence.text, match) || isNameOrMessage(sentence.text, match)) continue;
    const start = sentence.start + match.index;
    mentions.push({ text: unify(text), start, end: start + match[0].length, kind: 'work', isUncertain: false });
  }
}

/** `“Yes, Sir,” said I`. */
function isSpeech(text: string, match: RegExpMatchArray): boolean {
  const end = (match.index ?? 0) + match[0].length;
  return /,[”"]?$/u.test(match[0].slice(0, -1)) && SPEECH_VERB.test(text.slice(end, end + 24));
}

const NAMING =
  /\b(?:(?:nick)?nam|dubb|christen|call)(?:e|ed|es|s|ing)?(?: (?:it|him|her|them|(?:my|our|his|their|the|a) \p{L}{1,20}))? $/u;

/** What single marks hold beside titles: `I named my starter 'Clint Yeastwood'`, `it printed 'Too high'`. */
function isNameOrMessage(text: string, { 0: quoted, index }: RegExpMatchArray): boolean {
  if (!/^['‘]/u.test(quoted)) return false;
  const words = quoted.slice(1, -1).split(/\s+/u);
  const isWrittenAsTitle = words.every((word) => /^[^\p{Ll}]/u.test(word) || word.length < 4);
  const isNamed = words.filter((word) => /^\p{Lu}/u.test(word)).length > 1;
  return !isWrittenAsTitle || !isNamed || NAMING.test(text.slice(Math.max(0, (index ?? 0) - 60), index));
}

function isTitle(text: string): boolean {
  if (/[;?!,]$/u.test(text)) return false;
  const parts = text.split(/\s+/u);
  if (parts.length > 9 || !/^[\p{Lu}\p{N}]/u.test(text)) return false;
  const long = parts.filter((part) => part.length > 4);
  if (!long.every((part) => /^[^\p{L}]*\p{Lu}|^\d/u.test(part))) return false;
  return parts.length > 1
    ? parts.filter((part) => /^\p{Lu}/u.test(part)).length * 2 >= parts.length
    : !isCommonWord(text.toLowerCase()) && !STOP_WORDS.has(text.toLowerCase());
}

interface Word {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

function addRuns(sentence: Sentence, mentions: NameMention[]): void {
  let run: Word[] = [];
  for (const match of sentence.text.matchAll(CAPITALISED)) {
    const word = toWord(sentence.text, match);
    if (word === null) continue;
    if (run.length > 0 && !isJoined(sentence.text, run, word)) {
      addRun(sentence, run, mentions);
      run = [];
    }
    run.push(word);
  }
  addRun(sentence, run, mentions);
}

/** A full stop belongs to initials and known abbreviations only. */
function toWord(text: string, match: RegExpMatchArray): Word | null {
  let word = match[0];
  const start = match.index ?? 0;
  if (word.endsWith('.') && !/^(?:\p{Lu}\.)+$/u.test(word)) {
    const bare = word.slice(0, -1);
    if (!ABBREVIATED_NAME_PARTS.has(bare.toLowerCase())) word = bare;
  }
  const bare = word.replace(/['’]s$/u, '').toLowerCase();
  if (NEVER_NAMES.has(bare) || /^i['’]|n['’]t$|^\p{L}['’](?:ll|re|ve|d|m)$/u.test(bare)) return null;
  return text[start + word.length] === '@' ? null : { text: word, start, end: start + word.length };
}

function isJoined(text: string, run: readonly Word[], right: Word): boolean {
  const left = run.at(-1) as Word;
  const gap = right.start - left.end;
  if (gap < 1 || gap > 10) return false;
  if (/['’]s$/u.test(left.text)) {
    const owner = left.text.slice(0, -2).toLowerCase();
    const isPatron = run.length > 1 && /^(?:St\.?|Saint)$/u.test((run[0] as Word).text);
    return (
      text.slice(left.end, right.start) === ' ' &&
      (isPatron ||
        isCommonWord(owner) ||
        HEADS_BEFORE_OF.has(owner) ||
        /^(?:saint|john|children|women|men)$/u.test(owner))
    );
  }
  const between = text.slice(left.end, right.start);
  // `Fire Under the Hills`
  if (between === ' the ' && run.length > 1 && STOP_WORDS.has(left.text.toLowerCase())) return true;
  if (between === ', ') return COMMA_SUFFIX.test(right.text);
  if (/^ (?:for|on) (?:the )?$/u.test(between) && BODIES.test(right.text)) return false;
  if (between === ' for ' || between === ' on ')
    return BODIES.test(left.text) && !CALENDAR_WORDS.has(right.text.toLowerCase());
  if (between === ' and ') return isTwofold(text.slice((run[0] as Word).start, left.end), right);
  if (!JOIN.test(between)) return /^['’] $/u.test(between) && left.text.endsWith('s');
  if (OF_JOIN.test(between) && ((run.length > 1 && PLACE_HEADS.has(left.text.toLowerCase())) || right.text === 'The'))
    return false;
  const head = left.text.toLowerCase();
  const isHead = isCommonWord(head) || HEADS_BEFORE_OF.has(head);
  if (/^ at the $/u.test(between) && run.length > 1) return false;
  // `Kansas City Chiefs of the National Football League`, `Wall Street in the Financial District`
  if (OF_THE_JOIN.test(between)) return run.length === 1 || isHead;
  return !THE_JOIN.test(between) || (isHead && !(run.length > 1 && PLACE_HEADS.has(head)));
}

/** `Norwegian University of Science and Technology`; `University of Oxford and Cambridge` are two. */
function isTwofold(left: string, right: Word): boolean {
  const subject =
    /(?:University|Institute|Department|Ministry|Minister|Secretary|College|Faculty|School|Museum|Academy|Cent(?:re|er)|Bureau|Office) (?:of|for) (?:\p{Lu}\p{Ll}+ )?(\p{Lu}\p{Ll}+)$/u.exec(
      left,
    )?.[1];
  return subject !== undefined && [subject, right.text].every((word) => isCommonWord(word.toLowerCase()));
}

function addRun(sentence: Sentence, words: readonly Word[], mentions: NameMention[]): void {
  const run = trimOpening(sentence.text, words);
  const first = run[0];
  const last = run.at(-1);
  if (first === undefined || last === undefined) return;
  if (run.every((word) => CALENDAR_WORDS.has(word.text.toLowerCase()))) return;
  const start = leadingYear(sentence.text, first, last);
  const end = trailingNumber(sentence.text, last);
  const text = unify(sentence.text.slice(start, end)).replace(/['’]s?$/u, '');
  if (text.length < 2 || (/^[IVXLC]+$/u.test(text) && run.length === 1)) return;
  const isSingle = run.length === 1 && start === first.start && end === last.end;
  mentions.push({
    text,
    start: sentence.start + start,
    end: sentence.start + end - (last.end === end && /['’]s$/u.test(last.text) ? 2 : 0),
    kind: isSingle && /^(?:\p{Lu}{2,6}\d{0,2}s?|(?:\p{Lu}\.){2,})$/u.test(text) ? 'acronym' : 'name',
    isUncertain: isSingle && isOpening(sentence.text, first.start) && !/\p{Lu}.*\p{Lu}|\d/u.test(text),
  });
  addTail(sentence, run, mentions);
}

/** `President of France` and `University of Belgrade` name the place too. */
function addTail(sentence: Sentence, run: readonly Word[], mentions: NameMention[]): void {
  for (let at = 0; at + 1 < run.length; at++) {
    const head = run[at] as Word;
    const next = run[at + 1] as Word;
    if (!OF_JOIN.test(sentence.text.slice(head.end, next.start))) continue;
    if (!HEADS_BEFORE_OF.has(head.text.toLowerCase()) || isCommonWord(next.text.toLowerCase())) continue;
    const end = (run.at(-1) as Word).end;
    const text = unify(sentence.text.slice(next.start, end)).replace(/['’]s?$/u, '');
    mentions.push({
      text,
      start: sentence.start + next.start,
      end: sentence.start + end,
      kind: 'name',
      isUncertain: false,
    });
    return;
  }
}

/**
 * Drops articles and forms of address, and at the start of a sentence everything that may be capitalised only because
 * it opens: prepositions, adverbs, question words. A title in mid-sentence keeps its first word (`No Country`).
 */
function trimOpening(text: string, words: readonly Word[]): readonly Word[] {
  let from = 0;
  while (from < words.length && isOpeningWord(text, words, from)) from++;
  const run = words.slice(from);
  const only = run.length === 1 ? (run[0] as Word) : null;
  if (only === null) return run;
  const lower = bareWord(only.text);
  if (/^\p{Lu}\.$/u.test(only.text) || STOP_WORDS.has(lower)) return /^\p{Lu}{2,}$/u.test(only.text) ? run : [];
  return isOpening(text, only.start) && isCommonWord(lower) ? [] : run;
}

/** `J'habite`, `C'est`: French pronouns and articles that are joined to the next word. */
const ELIDED = /^(?:[CDJLMNST]|Qu)['’]\p{Ll}/u;

function isOpeningWord(text: string, words: readonly Word[], index: number): boolean {
  const word = words[index] as Word;
  const lower = bareWord(word.text);
  if (FORMS_OF_ADDRESS.has(lower) || ARTICLES.has(lower)) return true;
  if (/^\p{Lu}{2,}$/u.test(word.text) || !isOpening(text, (words[0] as Word).start)) return false;
  if (STOP_WORDS.has(lower) || SENTENCE_OPENERS.has(lower) || ELIDED.test(word.text)) return true;
  return lower.length > 4 && lower.endsWith('ly') && isCommonWord(lower);
}

function bareWord(text: string): string {
  return text.toLowerCase().replace(/['’]s$|\.$/gu, '');
}

/** At the start of the sentence, after an opening quote or bracket, or after a colon or dash. */
function isOpening(text: string, at: number): boolean {
  return OPENING_CONTEXT.test(text.slice(Math.max(0, at - 6), at));
}

function leadingYear(text: string, first: Word, last: Word): number {
  if (!EVENT_HEADS.has(last.text.toLowerCase().replace(/['’]s$/u, ''))) return first.start;
  const year = LEADING_YEAR.exec(text.slice(Math.max(0, first.start - 10), first.start));
  return year === null ? first.start : first.start - year[0].length;
}

function trailingNumber(text: string, last: Word): number {
  if (/['’]s$/u.test(last.text) || CALENDAR_WORDS.has(last.text.toLowerCase())) return last.end;
  TRAILING_NUMBER.lastIndex = last.end;
  const number = TRAILING_NUMBER.exec(text);
  if (number === null) return last.end;
  const end = last.end + number[0].length;
  const unit = new RegExp(`^[ -](?:${NUMBER_UNITS}|percent|other|more|times)(?!\\p{L})`, 'u');
  return unit.test(text.slice(end, end + 16)) ? last.end : end;
}

function isAllCapitals(text: string): boolean {
  return text.length > 8 && !/\p{Ll}/u.test(text);
}

function unify(text: string): string {
  return text.replace(/\s+/gu, ' ').trim();
}

/** Equal spans once; names inside a quoted title or an identifier give way to it. */
function withoutCovered(mentions: readonly NameMention[]): NameMention[] {
  const covers = mentions.filter((mention) => mention.kind === 'work' || mention.kind === 'identifier');
  return mentions
    .filter(
      (mention) =>
        !covers.some((cover) => cover !== mention && cover.start <= mention.start && mention.end <= cover.end),
    )
    .sort((left, right) => left.start - right.start || right.end - left.end);
}
