import { keptByText } from '../../common/kernel/recently-used.ts';
import { STOP_WORDS } from '../../common/text/language/stop-words.ts';
import { stemOf } from '../../common/text/language/tokenize.ts';
import { wordSenses } from '../../common/text/words/word-senses.ts';
import { wordTable } from '../../common/text/words/word-table.ts';
import { likenessTo } from '../retrieval/word-likeness.ts';
import { contentWords, type Question, wordsOf } from './question.ts';

/** Minimum likeness of a word of the question and one of a passage that says the same. */
const MIN_LIKENESS = 0.4;

/** Scores what a passage has in the places where an answer would stand: 1 an answer, -1 nothing, 0 when it is not known. */
export function slotFeatures({ text, type, focus }: Question, sentences: readonly string[]) {
  const words = [...new Set(sentences.flatMap(contentWords))];
  const asked = contentWords(text).filter((word) => !NAME_WORD.test(word));
  const lost = asked.filter((word) => !isSaid(word, words)).length;
  return {
    nameSlot: NAME_ASKED.test(text) ? nameSlot(text, sentences) : 0,
    focusSlot: focus !== null && (type === 'thing' || type === 'place') ? focusSlot(focus, text, sentences) : 0,
    lostWords: Math.min(3, lost) / 3,
    isAllHeld: Number(asked.length > 0 && lost === 0),
  };
}

/** Whether a word or one of like meaning is among others. */
export function isSaid(word: string, others: readonly string[]): boolean {
  const likeness = likenessTo(word);
  return (
    others.includes(word) ||
    others.some((other) => isSameStem(word, other)) ||
    others.some((other) => (likeness?.(wordSenses().row(other)) ?? 0) >= MIN_LIKENESS)
  );
}

/** Stems keep the first two letters. */
export function isSameStem(one: string, other: string): boolean {
  return one.startsWith(other.slice(0, 2)) && stemOf(one) === stemOf(other);
}

const NAME_ASKED = /\b(?:names?|surname|called)\b/iu;
const NAME_WORD = /^(?:name|called|first|last|surname)$/u;
const NAME = "(?:(?:Mr|Mrs|Ms|Dr|Prof)\\. )?\\p{Lu}[\\p{L}'’-]+";
const NAME_BEHIND = new RegExp(
  `^(?:,? (?:(?:is|was|are|were) )?(?:(?:called|named) )?["“]?${NAME}|[^.]{0,40}\\b(?:called|named)\\b)`,
  'u',
);
const NAME_BEFORE = new RegExp(
  `(?:${NAME}(?:,| (?:is|was)) (?:my|our|the|an?|his|her) (?:[\\p{Ll}-]+ )?|(?:called|named) )$`,
  'u',
);
/** Minimum likeness of a word and what it calls another: `doctor` for `surgeon`. */
const MIN_SAME = 0.7;

/** `My sister Niamh`, `a dog called Rex`, `Niamh, my sister`: whether what has a name stands beside one. */
function nameSlot(question: string, sentences: readonly string[]): number {
  const owner =
    /(?:names?|surname) (?:of|for) (.+?)(?: (?:who|that|which|in|on|at|from|with|we|I) .*)?\??$/iu.exec(
      question,
    )?.[1] ??
    /([\p{L}'’ -]+?)['’]s? (?:\p{Ll}+ )?(?:name|surname)/u.exec(question)?.[1] ??
    /\b(?:is|are|was|were) (.+?) called/u.exec(question)?.[1];
  const head = contentWords(owner ?? '').at(-1);
  if (head === undefined) return 0;
  let found = 0;
  for (const sentence of sentences) {
    for (const match of sentence.matchAll(/[\p{L}\p{N}'’-]+/gu)) {
      const word = match[0].toLowerCase().replace(/['’]s$/u, '');
      if (!isSameStem(head, word) && wordTable().similarity(head, word) < MIN_SAME) continue;
      const end = match.index + match[0].length;
      if (NAME_BEHIND.test(sentence.slice(end)) || NAME_BEFORE.test(sentence.slice(0, match.index))) return 1;
      found = -1;
    }
  }
  return found;
}

/** The patterns of a question are tried on many sentences. */
const pattern = keptByText(64, (source) => new RegExp(source, 'iu'));

const DETERMINER =
  /^(?:the|an?|my|our|this|that|his|her|their|its|your|some|any|no|one|two|three|four|every|each|other|another|same|first|last|second|few|several|many)$/u;

/** Whether the kind that is asked for stands beside a word that tells which: `the strangler pattern` of `Which pattern?`. */
function focusSlot(focus: string, question: string, sentences: readonly string[]): number {
  if (STOP_WORDS.has(focus) || !pattern(`\\b(?:which|what) (?:\\p{Ll}+ )?${focus}\\b`).test(question)) return 0;
  const own = new Set(wordsOf(question).map(stemOf));
  let found = 0;
  for (const sentence of sentences) {
    found = tellsWhich(focus, sentence, own) || found;
    if (found === 1) break;
  }
  return found;
}

/** Whether the kind that is asked for has a number in a text: `port 7070`, `PORT=7070`; a version also behind a name of the question: `Node.js 20`. */
export function isNumbered({ focus, text: asked }: Pick<Question, 'focus' | 'text'>, text: string): boolean {
  if (focus === null) return false;
  const names = /^versions?$/u.test(focus) ? (asked.slice(1).match(/\p{Lu}[\p{L}\p{N}]*/gu) ?? []) : [];
  const named = names.length === 0 ? '' : `|(?:${names.join('|')})(?:\\.\\p{L}+)?`;
  return pattern(`(?<!\\p{L})(?:${focus}s?(?: (?:is|are|was|ist|est|es))?${named})[^\\p{L}\\p{N}]{1,5}v?\\d`).test(
    text,
  );
}

/** Whether a word stands in a sentence beside one that tells which: 1, or -1 when it stands alone; 0 when it is absent. */
export function tellsWhich(focus: string, sentence: string, asked: ReadonlySet<string>): number {
  const tells = (word: string) =>
    /[\p{L}\d]/u.test(word) && !STOP_WORDS.has(word) && !DETERMINER.test(word) && !asked.has(stemOf(word));
  let found = 0;
  const tokens = sentence.match(/[\p{L}\p{N}][\p{L}\p{N}'’-]*|[",“”]/gu) ?? [];
  for (const [at, token] of tokens.entries()) {
    if (!isSameStem(focus, token.toLowerCase())) continue;
    const [before, after] = [tokens[at - 1] ?? '', tokens[at + 1] ?? ''];
    const isNamed = /^(?:["“]|(?:called|named|of|is|was|are|were)$)/u.test(after) || /^[\p{Lu}\d]/u.test(after);
    if (tells(before.toLowerCase()) || isNamed || (after === ',' && /^\p{Lu}/u.test(tokens[at + 2] ?? ''))) return 1;
    found = -1;
  }
  return found;
}
