import { lineBreaks } from './line-breaks.ts';

/** A sentence, heading, list item or table row; `text` is exactly `source.slice(start, end)`. */
export interface Sentence {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** Text without punctuation (minified code, logs, tables) is cut at a blank near this many characters. */
export const MAX_SENTENCE_LENGTH = 1500;

/** Abbreviations that never end a sentence: titles, references, months. */
const LEADING_ABBREVIATIONS = new Set(
  `mr mrs ms dr prof st ste rev fr sr sra hon gen col maj capt cpt lt sgt cmdr adm gov sen rep pres supt mt ft no nos
  vol vols fig figs eq eqs ch chap sec art p pp ed eds cf ca viz vs v eg ie al jan feb mar apr jun jul aug sep sept oct
  nov dec approx dept univ assn bros messrs mme mlle`.split(/\s+/u),
);
/** May end a sentence too: they do when a usual opening word follows. */
const TRAILING_ABBREVIATIONS = new Set(
  'inc ltd co corp jr esq phd md ba ma bsc msc llc plc etc am pm bc ad bce ce usa us uk un eu dc no ave blvd rd est'.split(
    ' ',
  ),
);
const OPENING_WORDS = new Set(
  `the a an this that these those it its he she they we i you his her their our my in on at by for from to as after
  before during while when where who what why how if although though because since but and so however there here then
  one some many most all both each no not with without under according since until once`.split(/\s+/u),
);

/** A run of marks is read from its first one only: read from each of them, a long run would cost its square. */
const BOUNDARY = /(?<![.!?…])[.!?…]+["'”’»)\]]*(?=\s|$)|[。！？｡]+["”’»」』）)]*|\n/gu;
const LIST_MARKER = /^[ \t]*(?:[-*•‣◦–—]|\d{1,3}[.)]|[a-z][.)]|#{1,6}|>|\|)[ \t]/iu;
const STRUCTURED_LINE = /^[ \t]*(?:#{1,6} |\|)/u;
/** `Anna: `, `Anna (10:42): `, `10:42 Anna: `, `[12 May 2026, 10:42] Anna: `, `12/05/2026, 10:42 - Anna: ` */
const SPEAKER =
  /^[ \t]*(?:\[[^\]\n]{1,40}\][ \t]{0,4}|(?:\d{1,4}[./-]\d{1,2}[./-]\d{1,4},?[ \t]{1,4})?\d{1,2}:\d\d(?::\d\d)?(?: ?[aApP][mM])?[ \t]{1,4}(?:[-–][ \t]{1,4})?)?[\p{Lu}[][\p{L}\p{N} _.'\]-]{0,30}(?:\([^)\n]{1,30}\))?: /u;
/** Columns of a printed page: `Deductible      250.00 EUR` */
const WIDE_GAP = /\S(?: {3,}|\t+)\S/u;
/** A line this much shorter than the usual wrapping width was ended on purpose when a capital follows. */
const SHORT_LINE_LENGTH = 45;

/**
 * Splits a text into sentences, fast (tens of MB per second) and without a model. Knows abbreviations, initials,
 * decimals, URLs, quotes and brackets after the full stop, ellipses, CJK punctuation, list items, table rows, headings,
 * hard-wrapped lines and speaker lines. Every non-blank character belongs to exactly one sentence.
 */
export function sentences(text: string): Sentence[] {
  const found: Sentence[] = [];
  const lines = lineBreaks(text);
  let start = 0;
  for (const match of text.matchAll(BOUNDARY)) {
    const end = match.index + match[0].length;
    if (end <= start) continue;
    const isBoundary =
      match[0] === '\n'
        ? endsLine(text, start, match.index) || lines.endsLine(match.index)
        : endsSentence(text, match.index, end) || (lines.isOfNotes(match.index) && endsNote(text, match.index, end));
    if (!isBoundary) continue;
    addSentence(text, start, end, found);
    start = end;
  }
  addSentence(text, start, text.length, found);
  return found;
}

function addSentence(text: string, from: number, until: number, found: Sentence[]): void {
  let start = from;
  let end = until;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  while (end - start > MAX_SENTENCE_LENGTH) {
    const cut = cutBefore(text, start, start + MAX_SENTENCE_LENGTH);
    let last = cut;
    while (last > start && isBlank(text.charCodeAt(last - 1))) last--;
    if (last > start) found.push({ text: text.slice(start, last), start, end: last });
    start = cut;
    while (start < end && isBlank(text.charCodeAt(start))) start++;
  }
  if (start < end) found.push({ text: text.slice(start, end), start, end });
}

/** The last place after `;`, else after a blank, in the second half of the window; never inside a surrogate pair. */
function cutBefore(text: string, start: number, limit: number): number {
  const middle = start + MAX_SENTENCE_LENGTH / 2;
  for (const isCut of [(code: number) => code === 0x3b, isBlank]) {
    for (let at = limit - 1; at >= middle; at--) if (isCut(text.charCodeAt(at))) return at + 1;
  }
  const unit = text.charCodeAt(limit);
  return unit >= 0xdc00 && unit <= 0xdfff ? limit - 1 : limit;
}

function isBlank(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13) || code === 0xa0 || code === 0x3000 || code === 0xfeff;
}

function endsLine(text: string, start: number, at: number): boolean {
  const nextEnd = text.indexOf('\n', at + 1);
  const next = text.slice(at + 1, Math.min(nextEnd === -1 ? text.length : nextEnd, at + 120));
  if (next.trim() === '') return true;
  const lineStart = text.lastIndexOf('\n', at - 1) + 1;
  const line = text.slice(Math.max(lineStart, start), at).trimEnd();
  if (line.trim() === '') return true;
  if (STRUCTURED_LINE.test(line) || LIST_MARKER.test(next) || SPEAKER.test(next)) return true;
  if (WIDE_GAP.test(line) || isNestedKey(line, next)) return true;
  if (/[:;]$/u.test(line) && line.length < SHORT_LINE_LENGTH) return true;
  return at - lineStart < SHORT_LINE_LENGTH && isShortTitle(line, next);
}

/** A key of YAML and the like. */
const KEY = /^([ \t]*)(?:- )?[\p{L}_][\w.-]{0,40}:(?:[ \t]|$)/u;

/** Whether a line with a key stands before one that is nested more or less, or that only names what is below it. */
function isNestedKey(line: string, next: string): boolean {
  const key = KEY.exec(line);
  const [following = ''] = next.split('\n', 1);
  const other = key === null ? null : KEY.exec(following);
  return other !== null && (key?.[1] !== other[1] || other[0].length === following.trimEnd().length);
}

/** Whether a short line before a capital is a title, a verse, a field of a form. */
function isShortTitle(line: string, next: string): boolean {
  return !line.endsWith(',') && /^[ \t]*["“'‘(]?[\p{Lu}\p{Lo}\p{N}]/u.test(next);
}

function endsSentence(text: string, at: number, end: number): boolean {
  const mark = text[at] as string;
  if ('。！？｡'.includes(mark)) return true;
  let next = end;
  while (next < text.length && isBlank(text.charCodeAt(next))) {
    if (text.charCodeAt(next) === 10 && text.charCodeAt(next + 1) === 10) return true;
    next++;
  }
  if (next >= text.length) return true;
  const following = text.slice(next, next + 24);
  if (/^["'“‘(«[]*\p{Ll}/u.test(following)) return isLowerCaseOpening(text, at, following);
  if (mark !== '.' || text[at + 1] === '.') return true;
  return !isAbbreviation(text, at, following);
}

/** Texts without capitals (chats) still end a sentence at a full stop; an abbreviation or a quote's inner mark does not. */
function isLowerCaseOpening(text: string, at: number, following: string): boolean {
  if (text[at] !== '.' || text[at + 1] === '.') return false;
  const word = wordBefore(text, at);
  const firstWord = /\p{Ll}+/u.exec(following)?.[0] ?? '';
  return (
    word.length > 3 &&
    !LEADING_ABBREVIATIONS.has(word) &&
    !TRAILING_ABBREVIATIONS.has(word) &&
    OPENING_WORDS.has(firstWord)
  );
}

/** Common in notes, and before words in lower case. */
const ABBREVIATIONS_OF_NOTES = new Set(
  'min max incl excl appt appts esp tel resp ref temp avg est orig req pls tbd abt bday'.split(' '),
);

/** Whether a full stop before a word in lower case ends what notes say: `Ghent. rain all day. bought a raincoat` */
function endsNote(text: string, at: number, end: number): boolean {
  if (text[at] !== '.' || text[at + 1] === '.' || !/^ \p{Ll}/u.test(text.slice(end, end + 3))) return false;
  const word = wordBefore(text, at);
  const isKnown = [LEADING_ABBREVIATIONS, TRAILING_ABBREVIATIONS, ABBREVIATIONS_OF_NOTES].some((set) => set.has(word));
  return word.length > 2 && !word.includes('.') && !isKnown && /^\p{L}+$/u.test(word);
}

function isAbbreviation(text: string, at: number, following: string): boolean {
  const word = wordBefore(text, at);
  if (word === '') return false;
  const opening = /^["'“‘(«[]*(\p{Lu}?[\p{L}]*)/u.exec(following)?.[1] ?? '';
  const opensSentence = OPENING_WORDS.has(opening.toLowerCase());
  if (/^\d{1,2}$/u.test(word) && GERMAN_MONTH.test(opening)) return true;
  if (/^\d{1,3}$/u.test(word)) return isListNumber(text, at, word.length);
  // `160 °C. Rub a dish`
  if (word.length === 1) {
    const isInitial =
      /\p{L}/u.test(word) && text[at - 2] !== '°' && !LABELLED.test(text.slice(Math.max(0, at - 16), at));
    return isInitial && !(opensSentence && opening.length > 1);
  }
  const before = text[at - word.length - 1] ?? '';
  // `z.B.` and `U.S.`, and neither `example.com.` nor `notes.md.`
  const isDotted = word.split('.').every((part) => part.length <= 2);
  if (word.includes('.') || before === '.') return isDotted && !opensSentence;
  if (LEADING_ABBREVIATIONS.has(word)) return word !== 'no' || /^\d/u.test(following);
  return TRAILING_ABBREVIATIONS.has(word) && !opensSentence;
}

/** A letter that is no initial: `Leave through exit B. New students …` */
const LABELLED =
  /(?<!\p{L})(?:exit|room|building|gate|hall|platform|terminal|class|type|group|section|block|wing|plan|option|vitamin|table|zone|area|door|team|version|variant|appendix|entrance|line|bus|lot|ward|unit|category|grade|point) \p{Lu}$/iu;

/** `14. Juli` */
const GERMAN_MONTH = /^(?:Januar|Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember)$/u;

/** `3.` at the start of a line or of a heading numbers what follows. */
function isListNumber(text: string, at: number, length: number): boolean {
  const before = text.slice(Math.max(0, at - length - 12), at - length);
  return /(?:^|\n)[ \t]*(?:#{1,6}[ \t]{1,3})?$/u.test(before);
}

/** The run of letters, digits and inner dots in front of a full stop, lower-cased. */
function wordBefore(text: string, at: number): string {
  return (/[\p{L}\p{N}]+(?:\.[\p{L}\p{N}]+)*$/u.exec(text.slice(Math.max(0, at - 24), at))?.[0] ?? '').toLowerCase();
}
