import { dates } from '../../common/text/language/dates.ts';
import { type NameMention, names } from '../../common/text/language/names.ts';
import { REQUEST_STOP_WORDS, STOP_WORDS } from '../../common/text/language/stop-words.ts';
import type { DateMention } from '../../common/text/language/time-span.ts';
import { tokenizeQuery } from '../../common/text/language/tokenize.ts';

export type QueryIntent = 'count' | 'latest' | 'list' | 'why' | 'global' | 'fact';

export interface TimeWindow {
  /** Null: open at this side (`before 1990`, `since March`). */
  readonly from: Date | null;
  /** Exclusive. */
  readonly until: Date | null;
}

export interface QueryAnalysis {
  readonly text: string;
  /** `tokenizeQuery(text)`. */
  readonly terms: readonly string[];
  /** Names, quoted titles, identifiers, in order, each once. */
  readonly entities: readonly string[];
  /** Runs of 1 to 4 content words in lower case: candidates for linking when the query has no capitals. */
  readonly phrases: readonly string[];
  readonly timeWindow: TimeWindow | null;
  readonly intent: QueryIntent;
  /** Parts that can be searched on their own; empty when the query has only one. */
  readonly subQuestions: readonly string[];
}

const GLOBAL =
  /\b(?:(?:main|major|key|central|overall|common|recurring) (?:themes?|topics?|ideas?|points?|subjects?)|themes?\b.*\b(?:of|in|across)|summari[sz]e|summary|overview|in general|overall|everything (?:about|you know)|what (?:is|are) (?:this|these|the) (?:documents?|texts?|dataset|corpus|collection|notes|files) about)\b/iu;
const COUNT = /\b(?:how many|how often|number of|count (?:the|of|all)|how much)\b/iu;
const LATEST =
  /\b(?:latest|most recent(?:ly)?|newest|current(?:ly)?|last time|up[- ]to[- ]date|right now|at present|nowadays|so far)\b/iu;
const WHY =
  /^\s*(?:why|how come)\b|\b(?:what (?:caused|led to|is the (?:reason|cause))|reasons? (?:for|why|behind)|because of what)\b/iu;
const LIST =
  /^\s*(?:list|enumerate|name (?:all|the)|show (?:me )?(?:all|every))\b|\b(?:which|what) (?:\w+ )?(?:are|were) (?:all|the)\b|\ball (?:the|of the|my)\b|\bevery\b/iu;

/** More is a pasted text, not a question: its beginning is analysed. */
const MAX_ANALYSED_LENGTH = 4000;

/** What a question asks for, without a model. `now` anchors relative dates; without it only absolute ones count. */
export function analyseQuery(query: string, options: { readonly now?: Date } = {}): QueryAnalysis {
  const text = query.slice(0, MAX_ANALYSED_LENGTH).replace(/\s+/gu, ' ').trim();
  const mentions = names(text);
  return {
    text,
    terms: tokenizeQuery(text),
    entities: entitiesOf(mentions),
    phrases: phrasesOf(text),
    timeWindow: windowOf(text, dates(text, options.now)),
    intent: intentOf(text),
    subQuestions: subQuestionsOf(text, mentions),
  };
}

function entitiesOf(mentions: readonly NameMention[]): string[] {
  return [...new Set(mentions.filter((mention) => mention.kind !== 'quantity').map((mention) => mention.text))];
}

function intentOf(text: string): QueryIntent {
  if (GLOBAL.test(text)) return 'global';
  if (COUNT.test(text)) return 'count';
  if (WHY.test(text)) return 'why';
  if (LATEST.test(text)) return 'latest';
  if (LIST.test(text)) return 'list';
  return 'fact';
}

const MAX_PHRASE_WORDS = 4;

function phrasesOf(text: string): string[] {
  const phrases = new Set<string>();
  for (const clause of text.split(/[.,;:!?()[\]"“”«»\n]+/u)) {
    let run: string[] = [];
    for (const word of [...(clause.match(/[\p{L}\p{N}][\p{L}\p{N}\p{M}'’_-]*/gu) ?? []), '']) {
      const lower = word.toLowerCase().replace(/['’]s$/u, '');
      if (word !== '' && !STOP_WORDS.has(lower) && !REQUEST_STOP_WORDS.has(lower)) {
        run.push(lower);
        continue;
      }
      addSubruns(run, phrases);
      run = [];
    }
  }
  return [...phrases];
}

/** Longest first, so that the first phrase that links is the best. */
function addSubruns(run: readonly string[], phrases: Set<string>): void {
  for (let length = Math.min(run.length, MAX_PHRASE_WORDS); length > 0; length--) {
    for (let at = 0; at + length <= run.length; at++) phrases.add(run.slice(at, at + length).join(' '));
  }
}

function windowOf(text: string, mentions: readonly DateMention[]): TimeWindow | null {
  let from: Date | null = null;
  let until: Date | null = null;
  let isBounded = false;
  for (const mention of mentions) {
    const before = text.slice(Math.max(0, mention.start - 16), mention.start);
    const bound = boundOf(before);
    if (bound.from !== undefined) from = earliest(from, bound.from === 'from' ? mention.from : mention.until);
    if (bound.until !== undefined) until = latest(until, bound.until === 'from' ? mention.from : mention.until);
    isBounded = true;
  }
  if (!isBounded) return null;
  return from !== null && until !== null && from > until ? { from: until, until: from } : { from, until };
}

interface Bound {
  readonly from?: 'from' | 'until';
  readonly until?: 'from' | 'until';
}

function boundOf(before: string): Bound {
  if (/\b(?:before|prior to|earlier than|until|till|up to)\s+(?:the\s+)?$/iu.test(before)) return { until: 'from' };
  if (/\b(?:after|later than)\s+(?:the\s+)?$/iu.test(before)) return { from: 'until' };
  if (/\b(?:since|from|starting)\s+(?:the\s+)?$/iu.test(before)) return { from: 'from' };
  if (/\b(?:by)\s+(?:the\s+)?$/iu.test(before)) return { until: 'until' };
  return { from: 'from', until: 'until' };
}

function earliest(left: Date | null, right: Date): Date {
  return left !== null && left < right ? left : right;
}

function latest(left: Date | null, right: Date): Date {
  return left !== null && left > right ? left : right;
}

const MIN_PART_TERMS = 2;

/**
 * Splits a compound question: at sentence ends, semicolons, `and` before a new question word or verb phrase, and each
 * side of a comparison of names (`X or Y`). A part that would lose its subject keeps the names of the whole.
 */
function subQuestionsOf(text: string, mentions: readonly NameMention[]): string[] {
  const parts = text
    .split(
      /(?<=[?.!;])\s+|;\s*|,?\s+(?:and|but|then)\s+(?=(?:who|what|when|where|why|how|which|whose|did|does|do|is|are|was|were|has|have|can)\b)/iu,
    )
    .map((part) => part.trim())
    .filter((part) => /[\p{L}\p{N}]/u.test(part));
  const questions = parts.length > 1 ? parts : clausesOf(text, mentions);
  return questions.length > 1 ? questions : [];
}

/** Relative clauses and lists of names: each clause is searchable, because it describes one hop of the question. */
function clausesOf(text: string, mentions: readonly NameMention[]): string[] {
  const cuts = [
    ...text.matchAll(/,\s+|\s+(?=(?:that|which|who|whose|where|when|in which|of which)\s)|\s+(?:and|or)\s+/giu),
  ]
    .map((match) => ({ start: match.index, end: match.index + match[0].length }))
    .filter((cut) => !mentions.some((mention) => mention.start < cut.end && cut.start < mention.end));
  const clauses: string[] = [];
  let from = 0;
  for (const cut of [...cuts, { start: text.length, end: text.length }]) {
    const clause = text.slice(from, cut.start).trim();
    from = cut.end;
    if (tokenizeQuery(clause).length >= MIN_PART_TERMS) clauses.push(clause);
  }
  return clauses;
}
