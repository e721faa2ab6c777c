import { logistic, softmax } from '../../common/kernel/probability.ts';
import { STOP_WORDS } from '../../common/text/language/stop-words.ts';
import { stemOf } from '../../common/text/language/tokenize.ts';
import { turnsOf } from '../../common/text/language/turns.ts';
import { wordSenses } from '../../common/text/words/word-senses.ts';
import { wordTable } from '../../common/text/words/word-table.ts';
import { mostOfKind } from '../retrieval/word-likeness.ts';
import { doerIn, objectIn, oppositeOf } from './agreement.ts';
import { ANSWER_WEIGHTS, type AnswerWeights } from './answer-weights.ts';
import { PUT_OFF } from './decisions.ts';
import { canAct } from './doers.ts';
import { countedIn } from './quantities.ts';
import { type Question, withoutStopWords, wordsOf } from './question.ts';
import { type RankedSentence, weigh } from './rank-sentences.ts';
import { isSaid } from './slots.ts';
import {
  CALENDAR_NAMES,
  CURRENCIES,
  deadlinesIn,
  frequenciesIn,
  isOrdinary,
  KINDS_OF,
  LENGTH_UNITS,
  MEASURED,
  type Span,
  spansBy,
  spansOf,
  spansOfKind,
  TIME_UNITS,
  WEEKDAYS,
  type WrittenKind,
} from './spans.ts';
import { formOf, TIME_NOUN } from './stated-parts.ts';
import { isNoun, likenessToKinds, likenessToRoles, NO_KIND } from './word-kinds.ts';

/** A part of a sentence that answers a question by itself. */
export interface ShortAnswer {
  readonly text: string;
  readonly sentence: RankedSentence;
  /** That it is the answer, 0 to 1. */
  readonly confidence: number;
  /** It names the kind of thing that is asked for: `University of Oslo` for `Which university?` */
  readonly isOfKind: boolean;
  /** It stands behind the verb of the question. */
  readonly isObject: boolean;
  /** It stands behind `by`, with the verb of the question before it. */
  readonly isDoer: boolean;
  readonly features: Readonly<Record<string, number>>;
}

const SENTENCES_READ = 6;
/** Below it a short answer is not shown. */
export const MIN_SHORT_CONFIDENCE = 0.5;
/** Of what is not shown, and all the same tells how well a question is met. */
const BELOW_SHORT_CONFIDENCE = MIN_SHORT_CONFIDENCE - 0.01;

/** Returns the best short answer in the best sentences; null when they have no span. */
export function shortAnswer(
  question: Question,
  ranked: readonly RankedSentence[],
  weights: Pick<AnswerWeights, 'span' | 'spanConfidence'> = ANSWER_WEIGHTS,
): ShortAnswer | null {
  const candidates = spanCandidates(question, ranked);
  const scores = candidates.map(({ features }) => weigh(features, weights.span));
  const likely = candidates[scores.indexOf(Math.max(...scores))];
  if (likely === undefined) return null;
  const named =
    ofAskedKind(question, candidates) ?? besideExcluded(question, candidates) ?? beforeRole(question, candidates);
  const doer = named === null ? doerOf(question, ranked, likely) : null;
  const object = named === null ? objectIn(question, likely.sentence.statement.text) : null;
  const phrase = object === null ? null : { ...likely, span: { ...object, kind: 'phrase' as const } };
  const found =
    named ??
    doer ??
    phrase ??
    ofChange(question, likely, candidates) ??
    ofClause(question, likely, candidates) ??
    ofAskedVerb(question, likely, candidates) ??
    likely;
  const thing = found === likely ? besideTimeAndPlace(question, likely, candidates, scores) : found;
  const chosen = thing ?? likely;
  const best = { ...chosen, span: withOthers(question, { ...chosen, span: withName(chosen) }) };
  const features = certaintyFeatures(question, Math.max(...softmax(scores)), best);
  const confidence = logistic(weigh(features, weights.spanConfidence));
  return {
    text: best.span.text,
    sentence: best.sentence,
    features,
    isOfKind: named !== null,
    isObject: object !== null && doer === null,
    isDoer: doer !== null,
    confidence:
      thing === null
        ? Math.min(BELOW_SHORT_CONFIDENCE, confidence)
        : named === null && doer === null && object === null
          ? confidence
          : Math.max(MIN_SHORT_CONFIDENCE, confidence),
  };
}

/** Returns the likeliest span, or the next one of its sentence where it only tells when or where something was; null without one. */
function besideTimeAndPlace(
  question: Question,
  likely: Candidate,
  candidates: readonly Candidate[],
  scores: readonly number[],
): Candidate | null {
  const isBeside = ({ span, sentence }: Candidate) =>
    isOnlyWhen(question, span) || isOnlyWhere(question, sentence.statement.text, span);
  if (!isBeside(likely)) return likely;
  const others = candidates.filter((one) => one.sentence === likely.sentence && !isBeside(one));
  const scoreOf = (one: Candidate) => scores[candidates.indexOf(one)] ?? Number.NEGATIVE_INFINITY;
  return others.toSorted((one, other) => scoreOf(other) - scoreOf(one))[0] ?? null;
}

/** How much more of the question's information a sentence with the doer may miss than the best one. */
const MISSES_MORE = 0.15;

/** Returns who did it, in the best sentence or beside it in its passage: `It is owned by …`; null when none says so. */
function doerOf(question: Question, ranked: readonly RankedSentence[], likely: Candidate): Candidate | null {
  const [best] = ranked;
  const isNear = ({ passage, features }: RankedSentence) =>
    passage.id === best?.passage.id && features.missing <= best.features.missing + MISSES_MORE;
  for (const sentence of ranked.slice(0, SENTENCES_READ)) {
    const name = sentence === best || isNear(sentence) ? doerIn(question, sentence.statement.text) : null;
    if (name !== null) return { ...likely, sentence, span: { ...name, kind: 'name' } };
  }
  return null;
}

const ASKS_WHICH = /\b(?:which|what) (?!(?:is|are|was|were)\b)\p{L}/iu;
/** Minimum probability of the sentence with such a name as a share of that of the best one. */
const MIN_SHARE_OF_KIND = 0.1;

/** Returns the first name or number that has the kind of thing that is asked for in it; null when there is none. */
function ofAskedKind(question: Question, candidates: readonly Candidate[]): Candidate | null {
  const { type, text, focus } = question;
  const counted = countedIn(question);
  const isAsked = counted !== null || ((type === 'thing' || type === 'place') && ASKS_WHICH.test(text));
  const kind = stemOf((counted ?? focus ?? '').toLowerCase());
  if (!isAsked || kind === '') return null;
  const isOfKind = ({ text: said, start }: Span, { statement }: RankedSentence) => {
    // `St Mary hospital` names a hospital, too.
    const [next = ''] = /^ \p{Ll}+/u.exec(statement.text.slice(start + said.length)) ?? [];
    return [...wordsOf(said), next.trim()].some((word) => stemOf(word) === kind);
  };
  const isNamed = ({ span, sentence, features }: Candidate) =>
    span.kind === (counted === null ? 'name' : 'number') &&
    features.lead >= Math.log(MIN_SHARE_OF_KIND) &&
    isOfKind(span, sentence);
  return candidates.find(isNamed) ?? null;
}

/** Returns the name that stands nearest to what a question excludes: Oslo in `in Bergen and in Oslo` for "besides Bergen". */
function besideExcluded({ excluded }: Question, candidates: readonly Candidate[]): Candidate | null {
  const names = candidates.filter(({ span }) => span.kind === 'name' || span.kind === 'kind');
  const distances = names.map(({ span, sentence: { statement } }) =>
    Math.min(...placesOf(statement.text, excluded).map((at) => Math.abs(at - span.start))),
  );
  const nearest = Math.min(...distances);
  return Number.isFinite(nearest) ? (names[distances.indexOf(nearest)] ?? null) : null;
}

/** Returns the person whose role in brackets is asked for: `Jonas Ekelund (SDKs)`, no initials such as `(IRS)`; null without one. */
function beforeRole({ type, text }: Question, candidates: readonly Candidate[]): Candidate | null {
  if (type !== 'person') return null;
  const asked = new Set(wordsOf(text).map(stemOf));
  const isOfRole = ({ span, sentence: { statement } }: Candidate) => {
    const role = wordsOf(
      /^ \((?!\p{Lu}+\))([^),]+)/u.exec(statement.text.slice(span.start + span.text.length))?.[1] ?? '',
    );
    return role.length > 0 && role.every((word) => !STOP_WORDS.has(word) && asked.has(stemOf(word)));
  };
  return candidates.find((one) => one.span.kind === 'name' && isOfRole(one)) ?? null;
}

/** Gives a kind or a role the name behind it: `Gangway` of `the old system Gangway`, `my uncle Tom`, Thiessen of `the landlord, Thiessen,`. */
function withName({ span, sentence }: Pick<Candidate, 'span' | 'sentence'>): Span {
  if (span.kind !== 'kind' && span.kind !== 'role') return span;
  const said = sentence.statement.text;
  const end = span.start + span.text.length;
  const gap = /^,? /u.exec(said.slice(end))?.[0] ?? '';
  const name = spansOf(said, ['name']).find(({ start }) => gap !== '' && start === end + gap.length);
  if (name === undefined || CALENDAR.test(name.text)) return span;
  if (gap === ' ') return span.kind === 'kind' ? name : { ...span, text: `${span.text} ${name.text}` };
  // `my landlord, Ada Thiessen, lets`, and no list of persons
  const isBeside = span.kind === 'role' && /^[,.]/u.test(said.slice(name.start + name.text.length));
  return isBeside ? name : span;
}

/** `Who is the captain?`, and no `Who are they?` */
const ASKS_FOR_ONE = /\b(?:who|what|which|whose)(?: \p{L}+)? (?:is|was)\b|\bwho['’]s\b|\b(?:first|last|one)\b/iu;
const LISTED = /^(?:,|,? (?:and|&|und|y|e|et)) $/u;
const MAX_LIST_LENGTH = 80;

/** Gives a name those that are listed with it: `Ada, Ben and Cleo`, and all behind a key: `Attendees: Ada, Ben`. */
function withOthers({ type, text }: Question, { span, sentence }: Pick<Candidate, 'span' | 'sentence'>): Span {
  if (span.kind !== 'name' || (type !== 'person' && type !== 'thing') || ASKS_FOR_ONE.test(text)) return span;
  const said = sentence.statement.text;
  const names = spansOf(said, ['name']).toSorted((a, b) => a.start - b.start);
  const endOf = (name: Span) => name.start + name.text.length;
  let run: Span[] = [];
  for (const name of names) {
    const before = run.at(-1);
    const isNext = before !== undefined && LISTED.test(said.slice(endOf(before), name.start));
    if (!isNext && run.some(({ start }) => start === span.start)) break;
    run = isNext ? [...run, name] : [name];
  }
  const [first, last] = [run[0], run.at(-1)];
  if (first === undefined || last === undefined || run.length < 2 || !run.some(({ start }) => start === span.start))
    return span;
  const isOfKey = /:\s*$/u.test(said.slice(0, first.start)) && /^[.\s]*$/u.test(said.slice(endOf(last)));
  const list = said.slice(first.start, endOf(last));
  const isList = isOfKey || / (?:and|&|und|y|e|et) /u.test(list);
  return isList && list.length <= MAX_LIST_LENGTH ? { ...span, start: first.start, text: list } : span;
}

const CHANGE = new RegExp(
  `\\b(?:${PUT_OFF}|raised|increased|rose|grew|went up|reduced|lowered|fell|dropped|went down|verschoben|erhöht|gesenkt)\\b.* from (?:the )?$`,
  'iu',
);
const ASKS_FOR_FORMER = /\b(?:from|original(?:ly)?|before|first|old|former(?:ly)?|previous(?:ly)?|used to)\b/iu;

/** `5.8 kg in January 2026, 5.1 kg`: up to the value of a later time. */
const UNTIL_NEXT = /^ (?:in|on|until|till) (?:\p{Lu}|\d)[\p{L}\d ]*[,;] (?:(?:and|now|then|since then) )?/u;
const ASKS_FOR_END = /\b(?:ends?|finish(?:es)?|expires?|close[sd]?|until when|how long)\b/iu;

/** Returns what something changed to or where it ends: the second date of `moved from 4 July to 18 July`; null when nothing did. */
function ofChange(
  { text }: Question,
  { sentence, span }: Candidate,
  candidates: readonly Candidate[],
): Candidate | null {
  const said = sentence.statement.text;
  const before = said.slice(0, span.start);
  const isEnd = span.kind === 'date' && ASKS_FOR_END.test(text) && /\bfrom (?:the )?$/u.test(before);
  const end = span.start + span.text.length;
  const isOfTime =
    span.kind === 'number' && /\b(?:do|does|is|are|have|has)\b/iu.test(text) && UNTIL_NEXT.test(said.slice(end));
  if (!isEnd && (ASKS_FOR_FORMER.test(text) || !(isOfTime || CHANGE.test(before)))) return null;
  const gap = isOfTime ? UNTIL_NEXT : /^ (?:to|until) (?:the )?$/u;
  const unit = span.text.split(' ').at(-1) ?? '';
  const isNew = (one: Candidate) =>
    one.sentence === sentence &&
    one.span.start > end &&
    gap.exec(said.slice(end, one.span.start))?.[0] === said.slice(end, one.span.start) &&
    (!isOfTime || one.span.text.endsWith(unit));
  return candidates.find(isNew) ?? null;
}

const CLOCK = '\\d{1,2}(?::\\d\\d)? ?[ap]\\.?m\\.?|\\d{1,2}:\\d\\d';
/** `Saturdays at 10 am` */
const HOUR = new RegExp(`(?:${CLOCK})$`, 'iu');
const PREPOSITIONAL = /\b(?:in|for|with|without|on|at|from|to|by) (?:the |my |our )?\p{L}+/giu;

/**
 * Returns the number or the time in the clause that has a phrase of the question, or a word of it that no other clause has: 310 in
 * `in oak for 480, in pine for 310`, 180 in `120 a night; in London, Paris and Zurich 180` for "in Paris", 60 in `The fee is 180
 * euros, for pupils 60 euros.` for "What do pupils pay?"; null without.
 */
function ofClause(
  question: Question,
  { sentence, span }: Candidate,
  candidates: readonly Candidate[],
): Candidate | null {
  if (span.kind !== 'number' && !HOUR.test(span.text)) return null;
  const said = sentence.statement.text;
  const between = said.includes('; ') ? /; /gu : /, /gu;
  const clauseAt = (at: number) => said.slice(0, at).match(between)?.length ?? 0;
  const beside = (clause: number) =>
    candidates.find(
      (one) =>
        one.sentence === sentence &&
        (span.kind === 'number' ? one.span.kind === 'number' : HOUR.test(one.span.text)) &&
        clauseAt(one.span.start) === clause,
    ) ?? null;
  for (const [phrase] of question.text.matchAll(PREPOSITIONAL)) {
    const name = / (\p{Lu}[\p{L}'’-]+)$/u.exec(phrase)?.[1];
    const whole = said.toLowerCase().indexOf(phrase.toLowerCase());
    const at = whole < 0 && name !== undefined ? said.indexOf(name) : whole;
    if (at < 0 || clauseAt(at) === clauseAt(span.start)) continue;
    return beside(clauseAt(at));
  }
  const own = candidates.find((one) => one.sentence === sentence && isForAsked(question, one));
  if (own !== undefined && own.span.kind === 'number') return own.span.start === span.start ? null : own;
  const asked = new Set(withoutStopWords(question.text).map(stemOf));
  const named = new Set(placesOf(said, asked).map(clauseAt));
  const [only] = named;
  return named.size !== 1 || only === undefined || only === clauseAt(span.start) ? null : beside(only);
}

/** Whether a number is for what a question asks about: the second of `85 euros for adults and 40 euros for children`. */
function isForAsked(question: Question, { sentence, span }: Candidate): boolean {
  const behind = sentence.statement.text.slice(span.start + span.text.length);
  const word = /^ (?:for|per) (?:an? |the |each )?(\p{Ll}+)/u.exec(behind)?.[1];
  return word !== undefined && isSaid(word, withoutStopWords(question.text));
}

const TITLED = /^(?:Mr|Mrs|Ms|Miss|Dr|Prof|Professor)\b/u;
const PLACED = /\b(?:in|at|near|behind|under|to) (?:the )?$/iu;
const VERB_BEHIND = /^ \p{Ll}{2,}(?:ed|s)\b/u;

/** `Where does Ada work?`, `What was prescribed?` */
const ASKED_VERB =
  /^(?:where|what|who|when|which .+?) (?:(?:did|does|do) .*?(\p{Ll}+)(?: (?:in|at|to|for|with|on))?|(?:was|were) (\p{Ll}+ed)\b.*)\?*$/iu;

/**
 * Returns the span that stands behind the verb of the question, Equinor in `lives in Bergen and works at Equinor`, or where
 * something moved to, Oslo in `moved from Bergen to Oslo`; null when there is none.
 */
function ofAskedVerb({ text, type }: Question, likely: Candidate, candidates: readonly Candidate[]): Candidate | null {
  if (!/^(?:place|thing|person|date)$/u.test(type) || /\bfrom\b/iu.test(text)) return null;
  const said = likely.sentence.statement.text;
  const behind = (end: number, gap: RegExp) =>
    candidates.find(
      ({ sentence, span: { start } }) =>
        sentence === likely.sentence && start > end && gap.test(said.slice(end, start)),
    ) ?? null;
  const { start, text: found } = likely.span;
  const isPlaced = ({ sentence, span }: Candidate) =>
    sentence === likely.sentence &&
    PLACED.test(said.slice(0, span.start + (/^(?:the|The) /u.exec(span.text)?.[0].length ?? 0)));
  // `At the Crown, Pete booked a room.`
  // `Cataract operation, Mr Sengupta`
  if (type === 'person' && !TITLED.test(found) && isNoun(found.toLowerCase()))
    return candidates.find(({ sentence, span }) => sentence === likely.sentence && TITLED.test(span.text)) ?? null;
  if (type === 'place' && !isPlaced(likely) && VERB_BEHIND.test(said.slice(start + found.length)))
    return candidates.find((one) => one !== likely && isPlaced(one)) ?? null;
  if (type === 'place' && /\bfrom (?:the )?$/u.test(said.slice(0, start)))
    return behind(start + found.length, /^ to (?:the )?$/u);
  const verb = ASKED_VERB.exec(text.trim())?.slice(1).find(Boolean);
  if (verb === undefined) return null;
  const stem = stemOf(verb.toLowerCase());
  const gap =
    type === 'date' ? /^ [^.,;]{0,40}$/u : /^ (?:(?:in|at|to|for|with|on) )?(?:(?:an?|the|my|our|his|her|their) )?$/u;
  for (const { 0: word, index } of said.matchAll(/\p{L}+/gu)) {
    const object = stemOf(word.toLowerCase()) === stem ? behind(index + word.length, gap) : null;
    if (object !== null) return object;
  }
  return null;
}

function certaintyFeatures({ type }: Question, share: number, { sentence, features }: Candidate) {
  const { confidence, probability } = sentence;
  const { ofKind } = features;
  return {
    share,
    confidence,
    probability,
    both: share * confidence,
    ofKind,
    sureKind: ofKind * probability,
    [type]: 1,
  };
}

type Candidate = ReturnType<typeof spanCandidates>[number];

/** `User asked for help`: who asks is no answer. */
const USER = /^(?:the )?user$/iu;

/** Returns the spans of the best sentences with their features. */
export function spanCandidates(question: Question, ranked: readonly RankedSentence[]) {
  const kinds = KINDS_OF[question.type] ?? [];
  const named = new Set([...question.excluded, ...withoutStopWords(question.text).map(stemOf)]);
  const said = oppositeOf(question);
  const designated = designationsOf(question);
  const top = Math.log(Math.max(Number.MIN_VALUE, ranked[0]?.probability ?? 1));
  return ranked.slice(0, SENTENCES_READ).flatMap((sentence) => {
    const places = placesOf(sentence.statement.text, named);
    const lead = Math.log(Math.max(Number.MIN_VALUE, sentence.probability)) - top;
    const { text } = sentence.statement;
    const whole = ASKS_OFTEN.test(question.text)
      ? frequenciesIn(text)
      : [
          ...(question.type === 'date' && ASKS_DEADLINE.test(question.text) ? deadlinesIn(text) : []),
          ...(pricesIn(question, text) ?? spansIn(text, question.type, kinds)),
        ];
    const written = question.excluded.size === 0 ? whole : whole.flatMap(joinedNames);
    const designations = designated(text);
    const opposite = said(text);
    const from = typeof opposite === 'object' ? (opposite?.converse ?? 0) : 0;
    const ofKind = question.type === 'thing' && question.focus !== null ? spansOfKind(text, question.focus) : [];
    const proper = designations.length > 0 ? designations : written;
    return [...proper, ...ofKind.filter(({ start }) => proper.every((span) => span.start !== start))]
      .filter(
        (span) =>
          span.start >= from &&
          saysMore(span, question, named) &&
          !isOfName(span, text) &&
          !USER.test(span.text) &&
          !isOfOtherQuantity(question.text, span),
      )
      .filter(
        ({ start, text: found }) => question.type !== 'place' || !IS_PERSON.test(text.slice(start + found.length)),
      )
      .filter((span) => question.type !== 'person' || span.kind !== 'name' || canAct(text, span))
      .map((span) => ({
        span,
        sentence,
        features: { ...spanFeatures(question, text, span, { named, places }), lead },
      }));
  });
}

/** No `marathon in`, when a marathon is asked for. */
const isIn = (before: string, focus: string | null): boolean =>
  /\bin $/iu.test(before) && !(focus !== null && before.toLowerCase().endsWith(`${focus} in `));
const ASKS_PLACE =
  /\b(?:in|where|cit(?:y|ies)|towns?|villages?|countr(?:y|ies)|places?|states?|regions?|languages?)\b/iu;

/** Whether a name tells where the thing was that is asked for: Leiden in `My phone fell into a canal in Leiden.` */
function isOnlyWhere({ text, type, focus }: Question, sentence: string, { start, text: name, kind }: Span): boolean {
  if (type !== 'thing' || kind !== 'name' || ASKS_PLACE.test(text) || !isIn(sentence.slice(0, start), focus))
    return false;
  const { person, place, group } = likenessToKinds(withoutStopWords(name));
  return place > Math.max(person, group);
}

const ASKS_TIME = /^(?:day|month|weekday|date|time|season|year)$/u;

/** Whether a span is a month or a day, for a question for a thing. */
const isOnlyWhen = ({ type, focus }: Question, { text }: Span): boolean =>
  type === 'thing' && CALENDAR.test(text) && !ASKS_TIME.test(focus ?? '');

const UNIT_BEHIND = `[.,:]\\d| ?[%°€$£]| (?:${CURRENCIES}|${TIME_UNITS}|${LENGTH_UNITS}|kg|square|people)\\b`;

/** Returns what finds letters and numbers behind the kind that is asked for: `exit B` for "Which exit …?" */
function designationsOf({ text, focus }: Question): (sentence: string) => readonly Span[] {
  if (focus === null || !/^\p{Ll}+$/u.test(focus) || !/\b(?:which|what)\b/iu.test(text)) return () => [];
  const kind = `[${focus[0]}${focus[0]?.toUpperCase()}]${focus.slice(1)}`;
  const form = new RegExp(`(?<!\\p{L})${kind} (?:\\p{Lu}|\\d{1,4}\\p{Lu}?)(?![\\p{L}\\d]|${UNIT_BEHIND})`, 'gu');
  return spansBy(form, 'name');
}

const ASKS_OFTEN = /\bhow often\b(?! (?:did|have|has|had)\b)/iu;
const ASKS_DEADLINE = /\b(?:by|until) when\b|\bwhen (?:must|do|does|should|have|has|may)\b|\bdeadline\b|\bdue\b/iu;
const ASKS_LONG = /\bhow (?:long|soon|early|late)\b/iu;
const MONEY = new RegExp(`^[$€£¥]|[$€£¥]$|(?:${CURRENCIES})$`, 'iu');
const ASKS_DAY = /\b(?:which|what) (?:day|date|weekday)\b/iu;
const CLOCK_ALONE = new RegExp(`^(?:${CLOCK})$`, 'iu');

const ASKS_PRICE =
  /\b(?:what|how much) (?:does|do|did|will|would) .*\b(?:costs?|pay|spend)\b|\bhow much (?:is|are|was|were) (?:an?|one|each) \p{L}/iu;
/** The money in a sentence, where a price is asked for; null without. */
function pricesIn({ text }: Question, sentence: string): readonly Span[] | null {
  const prices = ASKS_PRICE.test(text) ? spansOf(sentence, ['number']).filter((span) => MONEY.test(span.text)) : [];
  return prices.length === 0 ? null : prices;
}

const TIME_ALONE = new RegExp(` (?:${TIME_UNITS})$`, 'iu');
const WEEKDAYS_ALONE = new RegExp(`^${WEEKDAYS.replace('?', '')}$`, 'u');

/**
 * Whether a span is money for a question for a time, a time for one for a price, an hour for one for a day, or `Sundays` for one for
 * another time.
 */
function isOfOtherQuantity(question: string, { text, kind }: Span): boolean {
  if (kind === 'number')
    return MONEY.test(text) ? ASKS_LONG.test(question) : ASKS_PRICE.test(question) && TIME_ALONE.test(text);
  return kind === 'date' && (ASKS_DAY.test(question) ? CLOCK_ALONE : WEEKDAYS_ALONE).test(text);
}

/** `They’re` and `We’ve` at the beginning of a sentence. */
const CONTRACTION = /^(?:I|We|You|They|He|She|It|That|There|What|Who|Here)['’]\p{Ll}{1,2}$/u;

/** The spans of what a speaker says; one who says what "I" does is an answer, too. */
function spansIn(text: string, type: Question['type'], kinds: readonly WrittenKind[]): readonly Span[] {
  const [turn] = turnsOf(text);
  if (turn?.start !== 0) return spansOf(text, kinds).filter((span) => !CONTRACTION.test(span.text));
  const said = text.slice(turn.saidAt);
  const spans = spansOf(said, kinds).map((span) => ({ ...span, start: span.start + turn.saidAt }));
  if (type !== 'person' || !/\bI\b/u.test(said)) return spans;
  return [...spans, { text: turn.speaker, start: text.indexOf(turn.speaker), kind: 'name' }];
}

/** `Nezu Museum and the Miho Museum` are two names. */
function joinedNames(span: Span): readonly Span[] {
  return [...span.text.matchAll(/(?:^|, | and | & )(?:the )?(.+?)(?=, | and | & |$)/gu)].map(
    ({ 0: all, 1: text = '', index }) => ({ ...span, text, start: span.start + index + all.length - text.length }),
  );
}

/** Stands behind the name of a person. */
const IS_PERSON = /^,? (?:who|whose|whom)\b/u;

const CALENDAR = new RegExp(`^(?:${CALENDAR_NAMES})(?: \\d{1,4})?$`, 'iu');
const UNIT = /^(?:EUR|USD|GBP|CHF|JPY|km|kg|GB|MB|AM|PM|%|[$€£¥])$/u;

const NO_NAME =
  /^(?:none|nobody|nothing|someone|something|some|both|many|most|all|each|others?|everyone|everything)$/iu;

/** `long time`, `week in the library` */
const TIME_PHRASE = new RegExp(`(?:${TIME_NOUN.source})(?:$| (?:in|at|on|near) )`, 'u');

/** Whether a span says more than the question does: no words of the question, no unit alone, no pronoun, no verb, no day for a person. */
function saysMore({ text, kind }: Span, question: Question, named: ReadonlySet<string>): boolean {
  const { type } = question;
  if (NO_NAME.test(text) || ((kind === 'kind' || kind === 'phrase') && endsInVerb(text))) return false;
  if (kind === 'phrase' && type === 'place' && TIME_PHRASE.test(text)) return false;
  if (UNIT.test(text) || ((type === 'person' || type === 'place') && CALENDAR.test(text))) return false;
  const words = withoutStopWords(text);
  const isNamed = (word: string) => named.has(stemOf(word));
  // `Ada Lovelace` is who `What did Ada write?` asks about.
  if (kind === 'name' && formOf(question) === 'object' && words.some(isNamed)) return false;
  return words.length === 0 ? /\d/u.test(text) : !words.every(isNamed);
}

/** Whether a number belongs to the name before it: `MySQL 8`. */
function isOfName({ kind, start, text }: Span, sentence: string): boolean {
  if (MEASURED.test(text)) return false;
  const before = kind === 'number' ? /(?:^|\s)(\p{Lu}[\p{L}]+) $/u.exec(sentence.slice(0, start))?.[1] : undefined;
  // `Planted 24 leeks`
  const isDeed = before?.endsWith('ed') === true && start === before.length + 1;
  return before !== undefined && !isDeed && !isOrdinary(before) && !CALENDAR.test(before) && !UNIT.test(before);
}

/** `sleeps`, which is a form of a verb more often than a noun. */
function endsInVerb(text: string): boolean {
  const last = text.toLowerCase().split(/\s+/u).at(-1) ?? '';
  if (!/(?:s|ed)$/u.test(last)) return false;
  const { noun, verb } = wordSenses().partsOf(wordSenses().row(last));
  return verb > noun;
}

/** Places of the question's words in a sentence. */
function placesOf(text: string, named: ReadonlySet<string>): readonly number[] {
  return [...text.matchAll(/[\p{L}\p{N}]+/gu)]
    .filter(([word]) => named.has(stemOf(word.toLowerCase())))
    .map(({ index }) => index);
}

const NEAR = 60;
const PLACE_PREPOSITIONS = new Set(['in', 'at', 'near', 'from', 'to', 'of']);
const TIME_PREPOSITIONS = new Set(['in', 'on', 'since', 'until', 'from', 'by', 'during']);
const COPULAS = new Set(['called', 'named', 'as', 'is', 'was', 'are', 'were']);

function spanFeatures(
  { type, focus }: Question,
  text: string,
  span: Span,
  found: { readonly named: ReadonlySet<string>; readonly places: readonly number[] },
) {
  const words = withoutStopWords(span.text);
  const shared = words.length === 0 ? 1 : words.filter((word) => found.named.has(stemOf(word))).length / words.length;
  const end = span.start + span.text.length;
  const distance = Math.min(
    NEAR,
    ...found.places.map((at) => (at < span.start ? span.start - at : Math.max(0, at - end))),
  );
  const before = text.slice(0, span.start).trim().split(/\s+/u).at(-1)?.toLowerCase() ?? '';
  const is = (condition: boolean) => Number(condition);
  const isName = span.kind === 'name';
  const like = isName ? likenessToKinds(words) : NO_KIND;
  return {
    [`${type} ${span.kind}`]: 1,
    [`${type} like person`]: like.person,
    [`${type} like place`]: like.place,
    [`${type} like group`]: like.group,
    likeRole: span.kind === 'role' && type === 'person' ? likenessToRoles(words.at(-1) ?? '') : 0,
    shared,
    allShared: is(shared === 1),
    distance: distance / NEAR,
    afterBy: is(type === 'person' && before === 'by'),
    afterPlacePreposition: is(type === 'place' && PLACE_PREPOSITIONS.has(before)),
    afterTimePreposition: is(type === 'date' && TIME_PREPOSITIONS.has(before)),
    [`${type} after be`]: is(COPULAS.has(before)),
    length: Math.min(1, span.text.length / 30),
    severalWords: is(type === 'person' && words.length > 1),
    startsSentence: is(span.start < 3),
    likeFocus:
      focus === null || words.length === 0 ? 0 : Math.max(...words.map((word) => wordTable().similarity(focus, word))),
    ofKind: focus === null ? 0 : mostOfKind(focus, words),
    fullDate: is(type === 'date' && /\d{4}/u.test(span.text) && span.text.length > 4),
    unit: is(type === 'number' && /\d/u.test(span.text) && /\p{L}/u.test(span.text)),
    focusUnit: is(type === 'number' && words.some((word) => found.named.has(stemOf(word)))),
  };
}
