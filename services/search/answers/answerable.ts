import { logistic } from '../../common/kernel/probability.ts';
import { keptByText } from '../../common/kernel/recently-used.ts';
import { STOP_WORDS } from '../../common/text/language/stop-words.ts';
import { stemOf } from '../../common/text/language/tokenize.ts';
import { wordSenses } from '../../common/text/words/word-senses.ts';
import { wordTable } from '../../common/text/words/word-table.ts';
import { likenessTo, mostOfKind } from '../retrieval/word-likeness.ts';
import { agreementWith } from './agreement.ts';
import { ANSWERABLE_WEIGHTS, ANSWERING_WEIGHTS } from './answerable-weights.ts';
import { CONTACTS, countedIn, likenessOfCounted, unitAsked, unitIn } from './quantities.ts';
import { contentWords, isNewTo, phraseWords, type Question, wordsOf } from './question.ts';
import { isOfReason, quotedStatements } from './quoted-text.ts';
import { PASSAGES_READ, type RankedSentence, type ReadPassage, saidBefore, weigh } from './rank-sentences.ts';
import { relativesLike } from './relatives.ts';
import type { ShortAnswer } from './short-answer.ts';
import { isNumbered, slotFeatures } from './slots.ts';
import { CALENDAR_NAMES, KINDS_OF, spansOf } from './spans.ts';
import { formOf, statedParts } from './stated-parts.ts';
import { type Statement, statementsOf } from './statements.ts';
import { saidOf, unmetCondition } from './unmet-condition.ts';

const SENTENCES_READ = 3;
/** How much surer than of the best one it must be that another sentence answers the question, in log odds. */
const SURER = 0.5;

/** The passages and sentences found for a question. */
export interface Evidence {
  readonly ranked: readonly RankedSentence[];
  readonly short: ShortAnswer | null;
  readonly passages: readonly ReadPassage[];
}

interface Judgement {
  /** The probability that memory answers the question, 0 to 1. */
  readonly certainty: number;
  /** The sentence that most probably answers it. */
  readonly best: RankedSentence | null;
  /** No passage has any name of the question. */
  readonly isOfUnknown: boolean;
}

/** Judges whether memory answers a question, and by which of the best sentences. */
export function judgeEvidence(question: Question, evidence: Evidence): Judgement {
  const read = sentenceFeatures(question, evidence);
  const features = withHighest(read);
  const isUnknown = features?.['nameLostInAll'] === 1 && isOfUnknown(question, evidence);
  // A row of a table tells of its own subject alone.
  const isOfOther = features?.['isRow'] === 1 && (features['about'] ?? 1) < MIN_ABOUT_ROW;
  const isUnitMissing = SURE_UNIT.test(question.text) && read.every(({ unit }) => unit < 0);
  // `What is my phone number?` has no other words.
  const isElsewhere = (features?.['words'] ?? 0) > 0 && (features?.['highest ownSharp'] ?? 1) < SAME_WORDS;
  const first = readFirst(evidence);
  if (features === null || isUnknown || isOfOther || isUnitMissing || isElsewhere)
    return { certainty: 0, best: null, isOfUnknown: isUnknown };
  const scores = read.map((one) => weigh(one, ANSWERING_WEIGHTS));
  const most = Math.max(...scores);
  const best = first[most > (scores[0] ?? 0) + SURER ? scores.indexOf(most) : 0] ?? null;
  const quoted = best === null ? first : [best, ...first.filter((one) => one !== best)];
  // Last, as it reads the sentences again.
  if (unmetCondition(question, saidOf(quoted)) !== null) return { certainty: 0, best: null, isOfUnknown: false };
  return {
    certainty: logistic((weigh(features, ANSWERABLE_WEIGHTS) + most) / 2),
    best: evidence.short?.isOfKind === true ? evidence.short.sentence : best,
    isOfUnknown: false,
  };
}

/** What no sentence tells without its unit or the like: a colour, a weight, a telephone number. */
const SURE_UNIT =
  /\b(?:colou?r|(?:tele)?phone number|e-?mail|mileage|weigh|weight|(?:what|which) (?:is|was) the (?:final |exact )?score|how (?:heavy|long|often|tall|high|deep|wide|old)|what(?: (?:is|was|are|were)|['’]s) (?:the|my|our|his|her|their) (?:\p{Ll}+ )?(?:price|cost|fee|rent|salary|wages?|budget|deposit)s?|how much (?:money|did|do|does|will) .*(?:costs?|pay|owe|earn|spend|charge))\b/iu;

/** Below this share of a question's information, a sentence has no word of it and none of like meaning. */
const SAME_WORDS = 0.02;

/** Minimum share of the information about the subject of a question in a row of a table. */
const MIN_ABOUT_ROW = 0.5;

/** Features of which the highest of the best sentences counts, too. */
const RAISED = [
  'kind',
  'near',
  'askedInSentence',
  'kindOrAsked',
  'hasType',
  'ownSharp',
  'ownExact',
  'confidence',
  'softKind',
  'isShort',
  'verb',
  'noun',
  'person',
  'filler',
  'newName',
  'focusBeside',
  'aboutSharp',
  'aboutWithKind',
  'unit',
  'agent',
  'object',
  'deed',
  'properName',
  'weakest',
  'failures',
  'firm',
] as const;

/** Returns the best sentences, and that of the short answer. */
export function readFirst({ ranked, short }: Pick<Evidence, 'ranked' | 'short'>): readonly RankedSentence[] {
  const best = ranked.slice(0, SENTENCES_READ);
  return short === null || best.includes(short.sentence) ? best : [...best, short.sentence];
}

/** Whether no passage has any name of a question; people call places of their own notes by other names, too. */
function isOfUnknown(question: Question, { ranked, passages }: Evidence): boolean {
  const names = keyWords(question).filter(({ word, isName }) => isName && /^\p{L}|\d-\d/u.test(word));
  const isOwn = (ranked[0]?.features.ownRank ?? 0) > 0;
  if (names.length < (isOwn ? 2 : 1)) return false;
  const all = passages.slice(0, PASSAGES_READ).map(wholeText);
  return names.every(({ stem }) => all.every((text) => !wordsIn(text).stems.has(stem)));
}

/** Returns the features of the best sentence, with the highest of the best ones; null without sentences. */
export function withHighest(read: ReturnType<typeof sentenceFeatures>): Readonly<Record<string, number>> | null {
  const [best] = read;
  if (best === undefined) return null;
  const highest = RAISED.map((name) => [`highest ${name}`, Math.max(...read.map((one) => one[name]))]);
  return { ...best, ...Object.fromEntries(highest) };
}

/**
 * How well each of the best sentences, its passage and all passages cover the words of a question, and whether what it asks
 * for (`colour`, `name`, a date) is there.
 */
export function sentenceFeatures(whole: Question, { ranked, short, passages }: Evidence) {
  const best = readFirst({ ranked, short });
  const question = withoutContact(whole, best);
  const { text } = question;
  const words = keyWords(question);
  const names = words.filter(({ isName }) => isName);
  const asked = askedWords(text, question).map(keyOf);
  const unit = unitAsked(text);
  const slotWords = new Set([...asked.map(({ word }) => word), ...wordsOf(unit), question.focus]);
  /** Words for the subject of the question, without those for what is asked of it. */
  const subject = words.filter(({ word }) => !slotWords.has(word));
  const focus = question.focus === null || STOP_WORDS.has(question.focus) ? null : keyOf(question.focus);
  const inAll = bagOf(...passages.slice(0, PASSAGES_READ).map(wholeText));
  const bags = new Map<string, Bag>();
  const told = new Map<ReadPassage, readonly string[]>();
  const slots = new Map<ReadPassage, ReturnType<typeof slotFeatures>>();
  const places = { bags, told, slots };
  const readers = { partsOf: statedParts(question), agreementOf: agreementWith(question), form: formOf(question) };
  const asks: Asks = { whole, question, words, names, asked, subject, focus, ...readers };
  const allPassages = { inAll, inPassages: coverage(words, inAll) };
  return best.map((sentence) =>
    featuresOf(sentence, { asks, short, ...allPassages }, readPlace(sentence, asks, places)),
  );
}

/** What is read of a question once. */
interface Asks {
  readonly whole: Question;
  /** Without what contacts ask for. */
  readonly question: Question;
  readonly words: readonly KeyWord[];
  readonly names: readonly KeyWord[];
  readonly asked: readonly KeyWord[];
  readonly subject: readonly KeyWord[];
  readonly focus: KeyWord | null;
  readonly partsOf: ReturnType<typeof statedParts>;
  readonly agreementOf: ReturnType<typeof agreementWith>;
  readonly form: string;
}

interface Found {
  readonly asks: Asks;
  readonly short: ShortAnswer | null;
  readonly inAll: Bag;
  readonly inPassages: Coverage;
}

interface Places {
  readonly bags: Map<string, Bag>;
  readonly told: Map<ReadPassage, readonly string[]>;
  readonly slots: Map<ReadPassage, ReturnType<typeof slotFeatures>>;
}

/** Returns the words of a sentence and of its surroundings; `places` keeps what several sentences share. */
function readPlace({ statement, passage: source }: RankedSentence, { question }: Asks, { bags, told, slots }: Places) {
  const isTold = statement.verbatim !== undefined;
  const section = `${source.id} ${isTold ? statement.verbatim : statement.heading}`;
  const around = isTold ? exchangeText(source, statement) : sectionText(source, statement.heading);
  const inPassage = bags.get(section) ?? bagOf(around);
  bags.set(section, inPassage);
  const all = statementsOf(source);
  const said = told.get(source) ?? all.map((one) => one.text);
  told.set(source, said);
  const before = said[said.indexOf(statement.text) - 1] ?? '';
  const subjectBefore = saidBefore(all, statement);
  const inSentence = bagOf(`${statement.text} ${statement.heading} ${statement.label} ${subjectBefore}`);
  const slot = slots.get(source) ?? slotFeatures(question, said);
  slots.set(source, slot);
  return { inSentence, inPassage, before, slot };
}

function featuresOf(
  sentence: RankedSentence,
  { asks, short, inAll, inPassages }: Found,
  { inSentence, inPassage, before, slot }: ReturnType<typeof readPlace>,
) {
  const { whole, question, words, names, asked, subject, focus, form } = asks;
  const { statement, features, confidence, probability } = sentence;
  const lost = (bag: Bag) => Number(names.some((name) => covered(name, bag) < 1));
  const askedIn = (bag: Bag) => Math.min(...asked.map((word) => covered(word, bag)));
  const own = coverage(words, inSentence);
  const passage = coverage(words, inPassage);
  const isShort = short !== null && short.sentence === sentence;
  const [about, aboutPassage] = [coverage(subject, inSentence), coverage(subject, inPassage)];
  const isAbout = subject.length === 0 || (form === 'which' ? aboutPassage : about).exact >= MIN_ABOUT_ROW;
  const kind = kindIn(whole, statement.text, isAbout ? statement.label : null);
  const context = `${statement.heading} ${statement.label} ${before}`;
  const quoted = question.type === 'reason' ? quotedStatements(question, sentence) : [statement];
  const stated = asks.partsOf(statement.text, context);
  const parts = quoted.some(({ heading }) => isOfReason(heading)) ? { ...stated, filler: 1 } : stated;
  const agreement = asks.agreementOf(statement.text, context);
  const unitSaid = unitIn(whole, statement.text);
  const askedHere = asked.length === 0 ? 0 : askedIn(inSentence);
  const nameLostInSentence = lost(inSentence);
  const aboutSharp = subject.length === 0 ? 1 : about.sharp;
  const conditions = conditionsOf({ parts, agreement, kind, askedHere, nameLostInSentence, aboutSharp });
  const known = [agreement.agent, agreement.object, agreement.properName, slot.nameSlot, unitSaid].map(ifKnown);
  return {
    ...coverageFeatures(own, passage),
    ...aboutFeatures(subject.length > 0, { about, aboutPassage, kind }),
    lacksFiller: Number(parts.filler < 0 && (kind ?? -1) <= 0),
    lacksVerb: Number(parts.verb < 0.5 && (kind ?? -1) <= 0),
    lacksName: Number(slot.nameSlot < 0),
    lacksBeside: Number(form === 'which' && parts.focusBeside <= 0 && slot.focusSlot <= 0 && (kind ?? -1) <= 0),
    isRow: Number(/^\|/u.test(statement.text)),
    hasSubject: Number(subject.length > 0),
    allExact: inPassages.exact,
    allSharp: inPassages.sharp,
    allWorst: inPassages.worst,
    nameLost: lost(inPassage),
    nameLostInAll: lost(inAll),
    nameLostInSentence,
    namesHeld: Number(names.length > 0 && lost(inPassage) === 0),
    focusInSentence: focus === null ? 0.5 : covered(focus, inSentence),
    focusInPassage: focus === null ? 0.5 : covered(focus, inPassage),
    hasType: features.hasType,
    asked: Number(asked.length > 0),
    askedInSentence: askedHere,
    askedInPassage: asked.length === 0 ? 0 : askedIn(inPassage),
    isAskedMissing: Number(asked.length > 0 && askedIn(inPassage) < 0.5),
    kind: kind ?? 0,
    isKindMissing: Number((kind ?? 1) < 0),
    hasNoKind: Number(kind === null),
    softKind: (kind ?? 0) * own.sharp,
    kindOrAsked: Math.max(kind ?? -1, asked.length === 0 ? -1 : 2 * askedHere - 1),
    near: nearness(question, words, statement.text),
    short: short?.confidence ?? 0,
    isShort: Number(isShort),
    confidence,
    probability,
    missing: features.missing,
    pairs: features.pairs,
    ...slot,
    ...parts,
    ...agreement,
    ...together([...conditions, ...known]),
    unit: unitSaid,
    lacksUnit: Number(unitSaid < 0),
    ...lackedBy(agreement),
    fillerVerb: Math.max(0, parts.filler) * parts.verb,
    ...featuresOfForm(form, parts, kind),
    words: Math.min(1, words.length / 6),
    isOneWord: Number(words.length <= 1),
    [`type ${form}`]: 1,
    [`covered ${form}`]: passage.sharp,
  };
}

const coverageFeatures = (own: Coverage, passage: Coverage) => ({
  own: own.mean,
  ownExact: own.exact,
  ownSharp: own.sharp,
  ownWorst: own.worst,
  ownLost: own.lost,
  ownUncovered: own.uncovered,
  passage: passage.mean,
  passageExact: passage.exact,
  passageSharp: passage.sharp,
  passageWorst: passage.worst,
  passageLost: passage.lost,
  passageUncovered: passage.uncovered,
});

/** How far the subject of a question is covered; all of it where a question has none. */
function aboutFeatures(
  hasSubject: boolean,
  {
    about,
    aboutPassage,
    kind,
  }: { readonly about: Coverage; readonly aboutPassage: Coverage; readonly kind: number | null },
) {
  const [sharp, passageSharp] = hasSubject ? [about.sharp, aboutPassage.sharp] : [1, 1];
  const ofKind = ((kind ?? 0) + 1) / 2;
  return {
    about: hasSubject ? about.mean : 1,
    aboutSharp: sharp,
    aboutUncovered: about.uncovered,
    aboutPassage: hasSubject ? aboutPassage.mean : 1,
    aboutPassageSharp: passageSharp,
    aboutPassageUncovered: aboutPassage.uncovered,
    aboutWithKind: Math.min(ofKind, sharp),
    aboutPassageWithKind: Math.min(ofKind, passageSharp),
  };
}

const lackedBy = (agreement: ReturnType<Asks['agreementOf']>) => ({
  lacksProper: Number(agreement.properName < 0),
  lacksAgent: Number(agreement.agent < 0),
  lacksObject: Number(agreement.object < 0),
  lacksSubject: Number(agreement.subject < 0),
  otherSelf: Number(agreement.self === -1),
});

type Parts = ReturnType<ReturnType<typeof statedParts>>;

const featuresOfForm = (form: string, parts: Parts, kind: number | null) => ({
  [`filler ${form}`]: parts.filler,
  [`no filler ${form}`]: Number(parts.filler < 0),
  [`verb ${form}`]: parts.verb,
  [`noun ${form}`]: parts.noun,
  [`kind ${form}`]: kind ?? 0,
  [`new name ${form}`]: parts.newName,
  [`focus beside ${form}`]: parts.focusBeside,
});

/** What an answer must say, each 0 to 1. */
const conditionsOf = (said: {
  readonly parts: Parts;
  readonly agreement: ReturnType<Asks['agreementOf']>;
  readonly kind: number | null;
  readonly askedHere: number;
  readonly nameLostInSentence: number;
  readonly aboutSharp: number;
}) => [
  said.parts.verb,
  said.parts.noun,
  said.parts.person,
  Math.max(said.kind === null ? 1 : (said.kind + 1) / 2, said.askedHere),
  1 - LOST_NAME * said.nameLostInSentence,
  said.aboutSharp,
  1 - said.agreement.opposite,
];

/** What a sentence without a name of the question lacks of the condition that it has them all. */
const LOST_NAME = 0.7;
/** A condition below this is not met. */
const MET = 0.4;
const MAX_FAILURES = 4;

/** Takes a feature of -1 to 1, of which 0 is unknown, as a condition. */
const ifKnown = (value: number) => (value === 0 ? 1 : (value + 1) / 2);

/** What an answer must say, each 0 to 1, taken together: a sum of them hides the one that is missing. */
function together(conditions: readonly number[]) {
  return {
    weakest: Math.min(...conditions),
    failures: Math.min(MAX_FAILURES, conditions.filter((one) => one < MET).length) / MAX_FAILURES,
    firm: conditions.reduce((product, one) => product * (0.25 + 0.75 * one), 1),
  };
}

/** Returns a question without the words for a contact when a sentence has one, so that it only names whose it is. */
function withoutContact(question: Question, sentences: readonly RankedSentence[]): Question {
  const contact = CONTACTS.find(
    ([asks, isForm]) => asks.test(question.text) && sentences.some(({ statement }) => isForm.test(statement.text)),
  );
  return contact === undefined ? question : { ...question, text: question.text.replace(contact[0], '') };
}

/** How near to words of the question a sentence has a span of the kind that is asked for: 1 beside one, 0 none. */
function nearness({ type, text }: Question, words: readonly KeyWord[], sentence: string): number {
  const kinds = NAME_QUESTION.test(text) ? (['name', 'title'] as const) : KINDS_OF[type];
  if (kinds === undefined) return 0.5;
  const stems = new Set(words.map(({ stem }) => stem));
  const places = [...sentence.matchAll(/[\p{L}\p{N}]+/gu)]
    .filter(([word]) => stems.has(stemOf(word.toLowerCase())))
    .map((match) => match.index);
  const distances = spansOf(sentence, kinds)
    .filter((span) => wordsOf(span.text).some((word) => !STOP_WORDS.has(word) && !stems.has(stemOf(word))))
    .flatMap(({ start, text: { length } }) =>
      places.map((at) => (at < start ? start - at : Math.max(0, at - start - length))),
    );
  return distances.length === 0 ? 0 : 1 / (1 + Math.min(...distances) / 15);
}

interface KeyWord {
  readonly word: string;
  readonly stem: string;
  readonly isName: boolean;
  readonly information: number;
  /** Words that say the same as a phrase that begins with it. */
  readonly phrase?: readonly string[];
}

/** `On which day of the week …?` */
const DATE_WORD = /^(?:dates?|days?|weekdays?|weeks?|months?|years?|time|hour|century|decade|season)$/iu;

/** Returns the words that say what a question is about. */
function keyWords(question: Question): readonly KeyWord[] {
  const { text, type } = question;
  return [...text.matchAll(/[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*/gu)]
    .map(([word], at) => ({ word: word.replace(/['’]s$/u, ''), at }))
    .filter(({ word, at }) => (at > 0 && !STOP_WORDS.has(word.toLowerCase())) || /^\d/u.test(word))
    .filter(({ word }) => type !== 'date' || !DATE_WORD.test(word))
    .map(({ word }) => ({
      ...keyOf(word.toLowerCase()),
      phrase: phraseWords(question, text, word.toLowerCase()),
      isName: /^[\p{Lu}\p{N}]|-\d/u.test(word) && relativesLike(word.toLowerCase()).length === 0,
    }));
}

const UNKNOWN_RANK = 40_000;
const COMMON_RANK = 20;

function keyOf(word: string): KeyWord {
  const rank = Math.min(UNKNOWN_RANK, wordTable().find(word)?.rank ?? UNKNOWN_RANK);
  const information = Math.log((rank + COMMON_RANK) / COMMON_RANK) / Math.log(UNKNOWN_RANK / COMMON_RANK);
  return { word, stem: stemOf(word), isName: false, information };
}

interface WordsIn {
  /** Rows of the words in the table of word senses. */
  readonly rows: readonly number[];
  readonly stems: ReadonlySet<string>;
}

/** Words of the sentences and passages that answer many questions. */
const wordsIn = keptByText(3000, readWords, 8000);

function readWords(text: string): WordsIn {
  const words = [...new Set(contentWords(text))];
  return { rows: words.map(wordSenses().row), stems: new Set(words.map(stemOf)) };
}

interface Bag {
  readonly texts: readonly WordsIn[];
  /** Likeness of words that were looked for to the most like one of these. */
  readonly likeness: Map<string, number>;
}

function bagOf(...texts: readonly string[]): Bag {
  return { texts: texts.map(wordsIn), likeness: new Map() };
}

/** Statements before and after one of a conversation that may speak of the same. */
const EXCHANGE = { before: 4, after: 2 } as const;

/** What is said around a sentence of a conversation, which goes from one thing to another. */
function exchangeText(passage: ReadPassage, statement: Statement): string {
  const all = statementsOf(passage);
  const at = all.indexOf(statement);
  const near = all.slice(Math.max(0, at - EXCHANGE.before), at + EXCHANGE.after + 1);
  return [statement.label, ...near.map(({ text }) => text)].join(' ');
}

/** What a passage says below a heading: a day of a diary, a topic of minutes. */
function sectionText(passage: ReadPassage, heading: string): string {
  const all = statementsOf(passage);
  const own = all.filter((one) => one.heading === heading);
  if (own.length === all.length) return wholeText(passage);
  const { documentName, headings } = passage.payload;
  return [
    documentName,
    ...headings,
    ...(own[0]?.above ?? []),
    heading,
    ...own.flatMap(({ label, text }) => [label, text]),
  ].join(' ');
}

function wholeText({ payload }: ReadPassage): string {
  return `${payload.documentName} ${payload.headings.join(' ')} ${payload.text}`;
}

/** 1 for the word itself, less for words of like meaning; a name has none. */
function covered({ word, stem, isName, phrase = [] }: KeyWord, { texts, likeness }: Bag): number {
  if (texts.some(({ stems }) => stems.has(stem))) return 1;
  if (isName) return 0;
  let most = likeness.get(word);
  if (most === undefined) {
    most = 0;
    for (const one of [word, ...phrase]) {
      const likenessOf = likenessTo(one);
      if (likenessOf === null) continue;
      for (const { rows } of texts) for (const row of rows) most = Math.max(most, likenessOf(row));
    }
    most = Math.sqrt(most);
    likeness.set(word, most);
  }
  return most;
}

type Coverage = ReturnType<typeof coverage>;

function coverage(words: readonly KeyWord[], bag: Bag) {
  let [mean, exact, sharp, total, worst, uncovered] = [0, 0, 0, 0, 0, 0];
  for (const word of words) {
    const share = covered(word, bag);
    total += word.information;
    mean += word.information * share;
    sharp += word.information * share ** 3;
    if (share === 1) exact += word.information;
    if (share < 0.5) uncovered += 1 / words.length;
    worst = Math.max(worst, word.information * (1 - share));
  }
  const lost = Math.min(MAX_LOST, total - mean);
  const by = total || 1;
  return { mean: mean / by, exact: exact / by, sharp: sharp / by, worst, lost, uncovered };
}

const MAX_LOST = 3;
const NAME_WORDS = /^(?:name|surname|first|last|called)$/u;

/** Returns the words for what is asked of something: `breed` of "What breed is Luna?", `mileage` of "the mileage of the van". */
function askedWords(text: string, question: Question): readonly string[] {
  const phrase =
    /['’]s ((?:\p{Ll}+ ){0,3}\p{Ll}+)\??$/u.exec(text)?.[1] ??
    /\b(?:what|when|where|who)(?: is|'s| was| are) (?:the|my|our) ((?:\p{Ll}+ ){0,3}?\p{Ll}+) (?:of|for|in|at)\b/iu.exec(
      text,
    )?.[1] ??
    /\b(?:what|when|who) (?:is|was|are) (?:my|our) (?:\p{Ll}+ ){0,3}?(\p{Ll}+)\?/iu.exec(text)?.[1] ??
    (question.type === 'thing' ? question.focus : null);
  return wordsOf(phrase ?? '').filter((word) => !STOP_WORDS.has(word) && !NAME_WORDS.test(word));
}

const NAME_QUESTION = /\b(?:names?|surname|called)\b/iu;
const DATE = new RegExp(
  `\\b(?:1\\d|20)\\d\\d\\b|\\b(?:${CALENDAR_NAMES}|morning|evening|summer|winter|spring|autumn|AM|PM)\\b`,
  'u',
);
const PERSONS =
  'grandfather uncle cousin teacher friend driver man woman boy girl neighbor doctor brother wife father stranger colleague'.split(
    ' ',
  );
const PLACES = 'house room city kitchen park street garden school shop tree village office'.split(' ');

/** Whether a sentence has something new of the kind that a question asks for: -1 to 1; null when it asks for no kind. */
function kindIn(question: Question, sentence: string, label: string | null): number | null {
  const { text } = question;
  const isNew = isNewTo(text);
  const spans = spansOf(sentence, ['name', 'title', 'date', 'number']);
  const hasName = spans.some((span) => span.kind === 'name' && wordsOf(span.text).some(isNew));
  const sign = (condition: boolean) => (condition ? 1 : -1);
  const unit = unitIn(question, sentence);
  if (unit < 0 || (unit > 0 && question.type !== 'date')) return unit;
  if (NAME_QUESTION.test(text)) return sign(hasName || spans.some(({ kind }) => kind === 'title'));
  const words = wordsOf(sentence).filter(isNew);
  const like = (kinds: readonly string[], least: number) => {
    const best = Math.max(0, ...words.flatMap((word) => kinds.map((kind) => wordTable().similarity(kind, word))));
    return Math.max(-1, Math.min(1, 4 * (best - least)));
  };
  if (question.type === 'person') return hasName ? 1 : like(PERSONS, 0.45);
  if (question.type === 'place') return hasName ? 1 : like(PLACES, 0.45);
  if (question.type === 'date') return sign(DATE.test(sentence) || spansOf(sentence, ['date']).length > 0);
  const counted = countedIn(question);
  if (counted !== null) return likenessOfCounted(counted, sentence);
  if (question.type === 'number') return sign(spans.some(({ kind }) => kind === 'number'));
  const { focus } = question;
  if (question.type !== 'thing' || focus === null) return null;
  if (label !== null && isNumbered(question, `${label} ${sentence}`)) return 1;
  return Math.max(like([focus], 0.35), 2 * mostOfKind(focus, words) - 1);
}
