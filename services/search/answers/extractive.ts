import { collapseNearDuplicates } from '../../common/ranking/near-duplicates.ts';
import { asksOwnName, ownNameIn } from '../../common/text/language/own-name.ts';
import { languageOfQuery, stemOf, tokenizeQuery } from '../../common/text/language/tokenize.ts';
import { NOTHING_FITS, quoteLine } from '../../common/text/repetition/own-answers.ts';
import { wordSenses } from '../../common/text/words/word-senses.ts';
import type { RankedPassage } from '../model.ts';
import { inEnglish } from '../retrieval/english-question.ts';
import type { TimeWindow } from '../retrieval/query-analysis.ts';
import type { Retrieval } from '../retrieval/retrieval.ts';
import { oppositeOf } from './agreement.ts';
import { judgeEvidence } from './answerable.ts';
import { MIN_ANSWERABILITY } from './answerable-weights.ts';
import { asksFor, changedAnswer, changeOf, isBeforeChange, isNotYet } from './changes.ts';
import { compared } from './comparison.ts';
import { HEADER_LINE } from './dated-answer.ts';
import { dateMovedTo, decidedFirst } from './decisions.ts';
import { describedSection } from './described-section.ts';
import { directAnswer } from './direct-answer.ts';
import { isOnlyToDo } from './event-conditions.ts';
import { exampleBehind, shownExample } from './examples.ts';
import { foreignCertainty } from './foreign-answerable.ts';
import { ENGLISH_WORD, isForeignText } from './foreign-text.ts';
import type { InnerAnswer } from './inner-question.ts';
import type { Fact } from './knowledge.ts';
import { asksForLength, lengthIn } from './lengths.ts';
import { isForeignWord, saysInOtherWords } from './other-language.ts';
import { ofOtherSection } from './other-section.ts';
import { ownProfession } from './profession.ts';
import { countedFirst } from './quantities.ts';
import { asksForLink, asksForTimeOfDay, ENGLISH_QUESTION, type Question, readQuestion, wordsOf } from './question.ts';
import { quotedStatements, reasonFirst, stepFirst } from './quoted-text.ts';
import {
  areOwnNotes,
  PASSAGES_READ,
  type PlacedStatement,
  type RankedSentence,
  type ReadPassage,
  rankSentences,
  type Sentence,
  sentencesOf,
} from './rank-sentences.ts';
import { isOfOtherRelative, ofAskedRelative } from './relatives.ts';
import { releaseAnswer } from './releases.ts';
import { absoluteDate, datesOf, dateText, undatedTime } from './sentence-times.ts';
import { MIN_SHORT_CONFIDENCE, shortAnswer } from './short-answer.ts';
import { sourcedQuote } from './source-label.ts';
import { timeOfDayIn } from './spans.ts';
import { type StatedAnswer, statedAnswer } from './stated-answer.ts';
import { type Statement, statementsOf, verbatimOf } from './statements.ts';
import { isRecordWithout } from './table-columns.ts';
import { asksForOperation } from './table-operations.ts';
import type { Table } from './table-rows.ts';
import { tableAnswer, unknownNumber } from './tables.ts';
import {
  changedSince,
  changeFirst,
  datedFirst,
  firstFirst,
  formerFirst,
  inTimeFirst,
  isDatedByContext,
  isMonthOfAnyYear,
  latestFirst,
  namesMonth,
  newerFirst,
  withoutLast,
} from './times.ts';
import { titledFirst } from './titled-sentence.ts';
import type { ToldParts } from './told-parts.ts';
import { askedBySpeaker, tellTurns } from './told-turns.ts';
import {
  isOfOtherSpeaker,
  isSmallTalk,
  isTold,
  repliesToSameKind,
  replyFirst,
  speakerAsked,
} from './turn-sentences.ts';
import { namesIn, saidOf, unmetCondition } from './unmet-condition.ts';
import { askedLikeNotes } from './user-notes.ts';
import { negatedFirst, yesOrNo } from './yes-no.ts';

const MAX_QUOTES = 3;
/** Quotes beside a refusal. */
const NEAREST = 3;
/** Maximum share of the question's information that such a quote may miss: beyond that it is about something else. */
const NEAREST_MISSING = 0.75;
/** Minimum probability of a quote as a share of that of the best one. */
const QUOTE_FLOOR = 0.25;
/**
 * For words to search for: minimum share of the query's information that the best passages must contain together, more when
 * none contains a name of the query. Calibrated by running the questions of each train set against the other set, which cannot
 * answer them: abstains on 2 of 3 of those, and on 3 of 100 that their own set answers.
 */
const ABSTAIN_BELOW = { allNamesHeld: 0.35, nameMissing: 0.72 } as const;

/** Lines of the headers of a mail, which answer only questions about mails. */
const MAIL_LINE = /^(?:from|to|cc|bcc|date|sent|subject): /iu;
const ABOUT_MAIL =
  /\b(?:e-?mails?|mails?|messages?|letters?|sent|send|sender|wrote|write|written|received?|got|from|cc|writes?|reply|replied|geschickt|geschrieben|schrieb|gesendet|von)\b/iu;

/** Asks for all that there is about something: there is no attribute that a sentence could lack. */
const TOPIC_REQUEST =
  /^(?:please\s+)?(?:summari[sz]e|describe|tell me)\b|\b(?:what|everything|all)\s+(?:that\s+)?(?:(?:do|did)\s+)?(?:i|we|you)\s+(?:know|have|remember|wrote|noted)\s+(?:about|on|of)\b/iu;

/** Quotes, and the ids of their passages. */
export interface ExtractiveAnswer {
  readonly text: string;
  readonly passageIds: readonly string[];
  /** How sure memory answers the question, 0 to 1; null for words to search for. */
  readonly certainty: number | null;
  /** The short answer before the first quote. */
  readonly short?: string | null;
  /** It tells what is so since when, and what was so before. */
  readonly isOfChange?: true;
  /** Quotes that come nearest to a question that is not answered. */
  readonly nearest?: readonly string[];
  /** The sentence that answers it, of one question without rows and comparisons. */
  readonly proof?: { readonly passageId: string; readonly statement: Statement };
}

/** Name of the dataset for the sources; null when only one is asked. */
interface SourcePlace {
  readonly dataset: string | null;
}

interface Material extends SourcePlace {
  /** Tables that may hold the answer. */
  readonly tables: readonly Table[];
  /** The answer of an inner question; its sentence is the second proof. */
  readonly inner: InnerAnswer | null;
  /** Relations around the passages. */
  readonly facts: readonly Fact[];
  /** Maximum number of quotes. */
  readonly quotes?: number;
  /** Whether the question has been translated word by word. */
  readonly isTranslated?: boolean;
  /** Whether sentences in the language of the question need not say what its translation asks. */
  readonly isUntranslated?: boolean;
}

/** Certainty of an answer in the language of its question that the translation of the question does not confirm. */
const MIN_UNTRANSLATED = 0.8;
/** Certainty of what the turns of a conversation answer: what others say is left out before, and a turn says little by itself. */
const MIN_TOLD = { reply: 0.22, other: 0.35 } as const;
const NO_ANSWER: ExtractiveAnswer = { text: NOTHING_FITS, passageIds: [], certainty: 0 };
/** Certainty of what the question's own structure answers: rows, changed facts, yes or no. */
const DIRECT = 0.9;

/**
 * Answers a question without a model: a short answer when one is certain enough, and the best sentences with their sources.
 * Returns `NOTHING_FITS` when the passages do not contain what the question is about.
 */
export function extractiveAnswer(
  asked: string,
  found: Retrieval,
  all: readonly RankedPassage[],
  material: Material = { tables: [], inner: null, facts: [], dataset: null },
): ExtractiveAnswer {
  const passages = tellTurns(asked, all);
  const superseded = found.withSuperseded;
  const retrieval = superseded === undefined ? found : { ...found, withSuperseded: tellTurns(asked, superseded) };
  const ownName = asksOwnName(asked) ? quotedOwnName(passages, material) : null;
  if (ownName !== null) return ownName;
  // Without a word for names there is nothing else that could say it.
  if (asksOwnName(asked) && !passages.some(({ payload }) => SAYS_NAME.test(payload.text))) return NO_ANSWER;
  const parts = releaseAnswer(asked, all) ?? describedSection(asked, all);
  if (parts === 'unsaid') return NO_ANSWER;
  if (parts !== null) return quotedParts(parts, material);
  const direct = directAnswer(asked, all);
  if (direct === 'unsaid') return NO_ANSWER;
  if (direct !== null) {
    // What has changed is told with what was so before.
    const changed = answerTo(asked, retrieval, passages, material);
    return changed.isOfChange === true ? changed : quotedAll(direct.short, direct.told, material);
  }
  // Rows compare surer than sentences.
  const { dataset, tables } = material;
  const now = found.analysis?.now ?? null;
  const compared = asksForOperation(asked) ? quotedRows(asked, tables, { dataset, now }) : null;
  if (compared !== null && compared.text !== NOTHING_FITS) return compared;
  const comparison = quotedComparison(asked, all, material);
  if (comparison !== null) return comparison;
  const example = quotedExample(asked, all, material);
  if (example !== null) return example;
  const spoken = askedBySpeaker(asked, passages);
  const query = askedLikeNotes(ownProfession(spoken) ?? spoken, passages);
  const answer = answerTo(query, retrieval, passages, material);
  if (answer.text !== NOTHING_FITS) return answer;
  const isNarrowed = languageOfQuery(query) !== null && inEnglish(query, () => false) !== null;
  const surer = isNarrowed ? answerTo(query, retrieval, passages, { ...material, isUntranslated: true }) : answer;
  if (surer.text !== NOTHING_FITS) return surer;
  const english = inEnglish(query, (word) => passages.some(({ payload }) => isNameIn(payload.text, word)));
  return english === null ? answer : answerTo(english, retrieval, passages, { ...material, isTranslated: true });
}

const SAYS_NAME = /\b(?:names?|named|called|heiße|Name|llamo|nombre|appelle|nom)\b/u;

/** Returns the name by which who writes the notes says who that is, with the sentence; null when none of them says so. */
function quotedOwnName(passages: readonly RankedPassage[], { dataset }: SourcePlace): ExtractiveAnswer | null {
  const isWord = (word: string, isAlone: boolean) => {
    const { noun, verb } = wordSenses().partsOf(wordSenses().row(word));
    return noun + verb > 0 && (isAlone || noun < 1);
  };
  for (const passage of passages) {
    for (const { text, heading } of statementsOf(passage)) {
      const name = ownNameIn(text, isWord);
      if (name === null) continue;
      const quote = sourcedQuote(passage.payload, text, heading, dataset);
      return { text: `${name}: ${quote}`, passageIds: [passage.id], certainty: DIRECT, short: name };
    }
  }
  return null;
}

/** Who writes the notes says something of itself. */
const BY_ONESELF = /\bI\b|\b(?:[Tt]he user|User)\b(?!['’]s)/u;

/** Quotes each sentence behind what they say together. */
function quotedAll(short: string, told: readonly PlacedStatement[], { dataset }: SourcePlace): ExtractiveAnswer {
  const quotes = told.map(({ passage, statement }) =>
    sourcedQuote(passage.payload, statement.text, statement, dataset),
  );
  return {
    text: `${short}: ${[...new Set(quotes)].join('\n')}`,
    passageIds: [...new Set(told.map(({ passage }) => passage.id))],
    certainty: DIRECT,
    short,
  };
}

/** Quotes parts of documentation, behind the version or the date that is asked for. */
function quotedParts({ short, quotes }: ToldParts, { dataset }: SourcePlace): ExtractiveAnswer {
  const text = quotes.map((one) => sourcedQuote(one.passage.payload, one.text, one.statement, dataset)).join('\n');
  return {
    text: short === null ? text : `${short}: ${text}`,
    passageIds: [...new Set(quotes.map(({ passage }) => passage.id))],
    certainty: DIRECT,
    short,
  };
}

const HAS_FENCE = /```|~~~/u;

/** Answers how something is done by the code of the section about it; null without one. */
function quotedExample(
  asked: string,
  passages: readonly RankedPassage[],
  { dataset }: SourcePlace,
): ExtractiveAnswer | null {
  if (!passages.some(({ payload }) => HAS_FENCE.test(payload.text))) return null;
  const found = shownExample(readQuestion(asked), passages);
  if (found === null) return null;
  const { passage, example } = found;
  const text = example.sentence?.text ?? example.heading;
  const quote = sourcedQuote(passage.payload, text, example, dataset);
  return { text: `${quote}\n${example.code}`, passageIds: [passage.id], certainty: DIRECT, short: null };
}

/** Answers a question that compares two things, with what is said of each; null for another one, or for quotes without an answer. */
function quotedComparison(
  asked: string,
  passages: readonly RankedPassage[],
  { dataset }: SourcePlace,
): ExtractiveAnswer | null {
  const found = compared(asked, passages);
  if (found === null) return null;
  const quotes = found.proofs.map(({ passage, statement }) =>
    sourcedQuote(passage.payload, statement.text, statement, dataset),
  );
  if (found.answer === null) return { ...NO_ANSWER, nearest: quotes };
  return {
    text: `${found.answer}: ${[...new Set(quotes)].join('\n')}`,
    passageIds: [...new Set(found.proofs.map(({ passage }) => passage.id))],
    certainty: DIRECT,
    short: found.answer,
  };
}

/** Whether a text writes a word with a capital. */
const isNameIn = (text: string, word: string): boolean =>
  /^\p{Lu}/u.test(word) && new RegExp(`(?<!\\p{L})${word}(?!\\p{L})`, 'u').test(text);

function answerTo(
  query: string,
  retrieval: Retrieval,
  passages: readonly RankedPassage[],
  { tables, inner, facts, dataset, quotes = MAX_QUOTES, isTranslated = false, isUntranslated = false }: Material,
): ExtractiveAnswer {
  const counted = quotedRows(query, tables, { dataset, now: retrieval.analysis.now });
  if (counted !== null) return counted;
  const unknown = unknownNumber(query, tables);
  if (unknown !== null && !passages.some(({ payload }) => payload.text.includes(unknown))) return NO_ANSWER;
  // `Is it on Monday?` asks whether it is.
  const { type } = readQuestion(query);
  const isTimed = type !== 'yes-no';
  const { relativeTimes } = retrieval.analysis;
  const timeWindow = isTimed ? retrieval.analysis.timeWindow : null;
  const bare = isTimed ? relativeTimes.reduce((text, time) => text.replace(time, ''), query) : query;
  const question = readQuestion(withoutLast(bare));
  const isJudged = ENGLISH_QUESTION.test(query) && !TOPIC_REQUEST.test(query);
  const isForeign = !isJudged && type !== 'topic' && !TOPIC_REQUEST.test(query) && !ENGLISH_WORD.test(query);
  if (passages.length === 0 || (!isJudged && !isForeign && lacksEvidence(retrieval, passages))) return NO_ANSWER;
  // The date of a mail is no answer to what was bought in its month.
  const isEvent = (text: string) => timeWindow === null || question.type === 'date' || !HEADER_LINE.test(text);
  const translated = isForeign ? inEnglish(query, () => false) : null;
  const english = translated === null ? question : readQuestion(translated);
  const language = isUntranslated ? languageOfQuery(query) : null;
  const isOwnLanguage = (text: string) => language !== null && languageOfQuery(text) === language;
  const isAcross = (text: string) =>
    isTranslated || (translated !== null && !isOwnLanguage(text)) || (isJudged && isForeignText(text));
  const isOfOther = ofOtherSection(query, passages);
  const isOwn = areOwnNotes(passages);
  const isOwnProfession = ownProfession(query) !== null;
  const isLeft = (sentence: Sentence) => {
    if (isOfOther(sentence) || isOfOtherSpeaker(sentence) || isSmallTalk(sentence)) return false;
    const { text } = sentence.statement;
    if (isAcross(text) && !saysInOtherWords(english, sentence)) return false;
    if (MAIL_LINE.test(text) && !ABOUT_MAIL.test(query)) return false;
    if (isOwnProfession && !BY_ONESELF.test(text)) return false;
    if (isRecordWithout(query, text)) return false;
    const isInner =
      (text === inner?.sentence.statement.text && inner.isOfName !== true) ||
      (inner?.excluded != null && text.includes(inner.excluded));
    return (
      isEvent(text) &&
      !isInner &&
      !isNotYet(sentence) &&
      !isOnlyToDo(question, text) &&
      !(isOfOtherRelative(query, text) && (isOwn || !OF_SUBJECT_BEFORE.test(text))) &&
      !(isOnlyNamed(query, text) && !(question.type === 'yes-no' && sentence.statement.isItem === true))
    );
  };
  const read = retrieval.withSuperseded ?? passages;
  const all = inTimeFirst(
    withoutOpposites(question, rankSentences(ofAskedRelative(query, sentencesOf(question, read).filter(isLeft)))),
    timeWindow,
    {
      isSure: relativeTimes.length > 0 || namesMonth(query, timeWindow),
      isOfAnyYear: isMonthOfAnyYear(query, timeWindow),
    },
  );
  const changed = inner === null ? quotedChange(question, all, { passages: read, dataset, window: timeWindow }) : null;
  if (changed !== null) return changed;
  const untitled = all.filter((sentence) => changeOf(sentence)?.isOver !== true);
  const current = titledFirst(question, untitled);
  const latest = firstFirst(query, latestFirst(query, current));
  const inOrder = newerFirst(question, changeFirst(query, formerFirst(query, latest)));
  const replied = replyFirst(question, inOrder);
  const ranked =
    question.type === 'date'
      ? decidedFirst(question, datedFirst(replied))
      : reasonFirst(question, stepFirst(question, countedFirst(question, replied)));
  // What an inner question was answered with has been found by more than the words of the question.
  // What was so before is quoted, and is no answer.
  const found = shortAnswer(question, inOrder === latest ? ranked : ranked.slice(0, 1));
  const said = negatedFirst(question, ranked);
  const isDecided = said[0] !== undefined && yesOrNo(question, said[0]) !== null;
  const isDated = question.type === 'date' && isDatedByContext(ranked[0]);
  const isAsked =
    (inner === null || inner.isOfName === true) && !isDecided && !isDated && !repliesTo(question, ranked[0]);
  // A day above a sentence is the date of what the sentence tells, and of nothing else.
  if (isDated && unmetCondition(question, saidOf(ranked.slice(0, 1))) !== null) return NO_ANSWER;
  // The sentence that a title completes lacks the words of the title, by which evidence is judged.
  const [titled, second, ...rest] = ranked;
  const isTitled = current !== untitled && titled === current[0] && titled !== undefined && second !== undefined;
  const evidence = { ranked: isTitled ? [second, titled, ...rest] : ranked, short: found, passages };
  const judged = isJudged && isAsked ? judgeEvidence(question, evidence) : null;
  const otherwise = isForeign && isAsked ? foreignCertainty(question, evidence) : isJudged ? DIRECT : null;
  const certainty = judged?.certainty ?? otherwise;
  const quote = ({ statement, passage }: PlacedStatement): string =>
    sourcedQuote(passage.payload, verbatimOf(statement), statement, dataset, asksForLink(query));
  if (
    certainty !== null &&
    certainty <
      (isUntranslated
        ? MIN_UNTRANSLATED
        : isForeign
          ? MIN_ANSWERABILITY.foreign
          : isTold(ranked[0])
            ? MIN_TOLD[ranked[0] !== undefined && repliesToSameKind(question, ranked[0]) ? 'reply' : 'other']
            : MIN_ANSWERABILITY[areOwnNotes(passages) ? 'own' : 'other'])
  )
    return judged?.isOfUnknown === true ? NO_ANSWER : { ...NO_ANSWER, nearest: nearestTo(said).map(quote) };
  const isCertain = found !== null && found.confidence >= MIN_SHORT_CONFIDENCE;
  const isWord = found !== null && isForeignText(found.sentence.statement.text) && isForeignWord(question, found.text);
  const certain = isCertain && !isWord ? found : null;
  const related = statedAnswer(question, ranked, facts);
  // Who borrowed it is not who lent it.
  const isConverse =
    related !== null && typeof (oppositeOf(question)(related.sentence.statement.text) ?? '') === 'object';
  const stated = isConverse ? null : related;
  // `the Analytical Engine` is not what she wrote in `She wrote the first algorithm for the Analytical Engine.`
  const isBeside =
    stated !== null &&
    (found?.isDoer === true || (found?.isObject === true && stated.sentence === found.sentence)) &&
    !found.text.includes(stated.text);
  const isSpeech = ranked[0]?.statement.isSpeech === true;
  const short =
    isDated || isSpeech || ranked[0]?.statement.isValue === true ? null : isBeside ? found : (stated ?? certain);
  // The order of what changed, of times and of negations stays.
  const best = ranked[0] === all[0] && said === ranked && question.type !== 'yes-no' ? judged?.best : null;
  const ordered =
    best == null || isOfOtherSection(best, ranked[0]) ? said : [best, ...said.filter((one) => one !== best)];
  const quoted = quotedSentences(descriptionLast(ordered, inner), short, quotes);
  if (quoted.length === 0) return NO_ANSWER;
  const proofs = inner === null ? quoted : withProof(quoted, inner, quotes);
  const text = quotesOf(question, proofs, dataset).join('\n');
  const [first] = quoted;
  const example = first === undefined ? null : exampleBehind(question, first);
  const lead =
    first === undefined || (question.type === 'yes-no' && BEGINS_SO.test(first.statement.text))
      ? null
      : (speakerAsked(first) ??
        yesOrNo(question, first) ??
        (isSaid(short, first) ? null : shortText(question, short, first)));
  return {
    text: [lead == null ? text : `${lead}: ${text}`, example].filter((part) => part !== null).join('\n'),
    passageIds: [...new Set(proofs.map(({ passage }) => passage.id))],
    certainty,
    short: short?.text ?? null,
    ...(first !== undefined && { proof: { passageId: first.passage.id, statement: first.statement } }),
  };
}

/** `Yes, from 500 euros a year.` says itself whether it is so. */
const BEGINS_SO = /^(?:yes|no)(?:[,.!;:]| –| —|$)/iu;

/** Puts the sentence behind the others that only says whom a question describes, as it is quoted as a proof. */
function descriptionLast(ranked: readonly RankedSentence[], inner: InnerAnswer | null): readonly RankedSentence[] {
  const isProof = ({ statement }: RankedSentence) => statement.text === inner?.sentence.statement.text;
  const [best, second] = ranked;
  if (inner?.isDescription !== true || best === undefined || second === undefined || !isProof(best)) return ranked;
  return [...putBefore(second, best), ...ranked.slice(2)];
}

const putBefore = (first: RankedSentence, other: RankedSentence): readonly RankedSentence[] => [
  { ...first, probability: Math.max(first.probability, other.probability) },
  other,
];

/** Quotes with the sentences that an inner question was answered with, each once. */
function withProof(
  quoted: readonly RankedSentence[],
  { sentence, earlier = [] }: InnerAnswer,
  limit: number,
): readonly PlacedStatement[] {
  const proofs = [...earlier, sentence];
  const room = Math.max(1, limit - proofs.length);
  const isProof = (text: string) => proofs.some(({ statement }) => statement.text === text);
  const [first, ...others] = quoted;
  const kept = first === undefined ? [] : [first, ...others.filter(({ statement }) => !isProof(statement.text))];
  const shown = kept.slice(0, room);
  return [...shown, ...proofs.filter(({ statement }) => shown.every((one) => one.statement.text !== statement.text))];
}

/** `Their daughter`, of whom a note before tells; in notes in the first person it is no daughter of the writer. */
const OF_SUBJECT_BEFORE = /^(?:Their|His|Her) /u;

/** Whether a sentence has nothing but names of the question: the name below a letter. */
function isOnlyNamed(query: string, text: string): boolean {
  const names = namesIn(query);
  return names.length > 0 && wordsOf(text).every((word) => names.includes(stemOf(word)));
}

/** Whether a sentence stands below another heading than the best one and misses much more of the question: of another version. */
function isOfOtherSection({ statement, features }: RankedSentence, best: RankedSentence | undefined): boolean {
  if (best === undefined || best.statement.heading === statement.heading) return false;
  return features.missing - best.features.missing > MAX_MISSING;
}

/** Maximum share of a question's information that a question which somebody asked may miss to be the same. */
const SAME_QUESTION = 0.2;

/** Whether a sentence is somebody's reply to the same question. */
function repliesTo({ type }: Question, sentence: RankedSentence | undefined): boolean {
  const asked = sentence?.statement.asked;
  return asked !== undefined && (sentence?.features.missing ?? 1) <= SAME_QUESTION && readQuestion(asked).type === type;
}

/** Quotes sentences, each once; the first with those beside it that belong to the answer. */
function quotesOf(question: Question, proofs: readonly PlacedStatement[], dataset: string | null): readonly string[] {
  const quoted = new Set<Statement>();
  return proofs.flatMap(({ statement, passage }, at) => {
    if (quoted.has(statement)) return [];
    const all = at === 0 ? quotedStatements(question, { statement, passage }) : [statement];
    for (const one of all) quoted.add(one);
    const text = all.map(verbatimOf).join(statement.isItem === true && !/^\d/u.test(statement.text) ? '; ' : ' ');
    return [sourcedQuote(passage.payload, text, statement, dataset)];
  });
}

/** Leaves out sentences about the opposite of what a question asks; when one is the best, also those without its verb. */
function withoutOpposites(question: Question, ranked: readonly RankedSentence[]): readonly RankedSentence[] {
  const read = oppositeOf(question);
  const kinds = ranked.map(({ statement }) => read(statement.text));
  const isTold = kinds[0] === 'opposite';
  return ranked.filter((_, at) => (isTold ? kinds[at] === 'said' : kinds[at] !== 'opposite'));
}

/** Maximum share of the question's information that a sentence about a change may miss. */
const MAX_MISSING = 0.5;

/** Answers from a fact that has changed, with the latest statement; null when the best sentence tells of none. */
function quotedChange(
  question: Question,
  ranked: readonly RankedSentence[],
  {
    passages,
    dataset,
    window,
  }: {
    readonly passages: readonly ReadPassage[];
    readonly dataset: string | null;
    readonly window: TimeWindow | null;
  },
): ExtractiveAnswer | null {
  const [best] = ranked;
  const change = best === undefined ? null : changeOf(best);
  if (best === undefined || change === null || !asksFor(question, change)) return null;
  if (best.features.missing > MAX_MISSING) return null;
  const lead = changedAnswer(question, change, window);
  if (lead === null) return null;
  const newer = isBeforeChange(change, window) ? change.supersession.older : change.supersession.newer;
  const told = passages.find(({ id }) => id === newer.chunk);
  const quote =
    told === undefined
      ? quoteLine(newer.text, dateText(newer.at))
      : sourcedQuote(told.payload, newer.text, '', dataset);
  return {
    text: `${lead}: ${quote}`,
    passageIds: [newer.chunk],
    certainty: DIRECT,
    isOfChange: true,
  };
}

const MAX_ROWS = 10;
/** Items of a list that are quoted. */
const MAX_ITEMS = 20;

/** Answers from tables, records and lists, with the rows; null when they do not hold the answer. */
export function quotedRows(
  query: string,
  tables: readonly Table[],
  { dataset, now }: { readonly dataset: string | null; readonly now: Date | null },
): ExtractiveAnswer | null {
  const found = tableAnswer(query, tables, now ?? undefined);
  if (found === null) return null;
  if (found.rows.length === 0) return found.of === undefined ? NO_ANSWER : noneOf(found.of, found.text, dataset);
  const rows = found.rows.slice(0, MAX_ROWS);
  const [row] = rows;
  const newer = row === undefined || rows.length > 1 || found.lists !== undefined ? null : changedSince(query, row);
  if (row !== undefined && newer !== null) {
    const quotes = [newer.text, row.line].map((line) => sourcedQuote(row.passage.payload, line, '', dataset));
    return { text: quotes.join('\n'), passageIds: [row.passage.id], certainty: DIRECT };
  }
  const text =
    found.lists === undefined
      ? `${found.text}: ${rows.map(({ line, passage }) => sourcedQuote(passage.payload, line, '', dataset)).join('\n')}`
      : found.lists
          .slice(0, MAX_ROWS)
          .map((list) => quotedList(list, dataset))
          .join('\n');
  return {
    text,
    passageIds: [...new Set(found.rows.map(({ passage }) => passage.id))],
    certainty: DIRECT,
    ...(found.lists !== undefined && { short: found.text }),
  };
}

/** Says that no row of a table fulfils the conditions of a question. */
function noneOf({ rows, columns }: Table, count: string, dataset: string | null): ExtractiveAnswer {
  const [row] = rows;
  if (row === undefined) return NO_ANSWER;
  const said = `${count === '' ? 'None' : count}: no row of ${rows.length}`;
  const text = `${said}: ${sourcedQuote(row.passage.payload, columns.filter(Boolean).join(', '), '', dataset)}`;
  return { text, passageIds: [row.passage.id], certainty: DIRECT, short: count === '' ? null : count };
}

/** Quotes the items of a list, with one source. */
function quotedList({ rows, heading }: Table, dataset: string | null): string {
  const items = rows.slice(0, MAX_ITEMS).map(({ cells }) => (cells[0] ?? '').replace(/[.;]$/u, ''));
  const more = rows.length > items.length ? `; and ${rows.length - items.length} more` : '';
  const [first] = rows;
  return first === undefined ? '' : sourcedQuote(first.passage.payload, `${items.join('; ')}${more}`, heading, dataset);
}

const DURATION = /\b(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|decades?)\b/iu;

function shortText(question: Question, short: StatedAnswer | null, first: RankedSentence): string | null {
  const { type } = question;
  if (asksForLength(question) && !DURATION.test(first.statement.text)) {
    const length = lengthIn(first.statement.text);
    if (length !== null) return length;
  }
  if (asksForTimeOfDay(question)) return timeOfDayIn(first.statement.text);
  if (type !== 'date') return short?.text ?? null;
  const moved = dateMovedTo(question, first.statement.text);
  if (moved !== null) return absoluteDate(moved, first);
  const [date] = datesOf(first).filter(({ isRelative }) => isRelative || short === null);
  // `Last Saturday I restored an accordion from 1931.`
  const isOfThing = short?.sentence === first && isYearOfThing(short.text, first.statement.text);
  if (short !== null && !(isOfThing && date !== undefined)) return absoluteDate(short.text, short.sentence);
  return date === undefined ? undatedTime(first) : absoluteDate(date.text, first);
}

function isYearOfThing(date: string, text: string): boolean {
  return /^\d{4}$/u.test(date) && new RegExp(`\\p{Ll} (?:from|of) ${date}\\b`, 'u').test(text);
}

/** Whether a short answer is all that its sentence says. */
function isSaid(short: StatedAnswer | null, sentence: RankedSentence): boolean {
  return short !== null && verbatimOf(sentence.statement).length <= short.text.length + 1;
}

/** Whether the best passages together miss too much of the query's information. */
function lacksEvidence(
  { analysis, information }: Pick<Retrieval, 'analysis' | 'information'>,
  passages: readonly Pick<RankedPassage, 'terms'>[],
): boolean {
  const names = new Set(analysis.entities.flatMap((name) => tokenizeQuery(name)));
  const read = passages.slice(0, PASSAGES_READ);
  const isHeld = (at: number) => read.some(({ terms }) => (terms[at] ?? 0) > 0);
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const isMissing = analysis.terms.some((term, at) => names.has(term) && !isHeld(at));
  const held = sum(information.filter((_, at) => isHeld(at))) / (sum(information) || 1);
  return held < (isMissing ? ABSTAIN_BELOW.nameMissing : ABSTAIN_BELOW.allNamesHeld);
}

function nearestTo(ranked: readonly RankedSentence[]): readonly RankedSentence[] {
  return quotedSentences(
    ranked.filter(({ features }) => features.missing <= NEAREST_MISSING),
    null,
    NEAREST,
  );
}

/** Returns the sentences to quote, best first. */
function quotedSentences(
  ranked: readonly RankedSentence[],
  short: StatedAnswer | null,
  limit: number,
): readonly RankedSentence[] {
  const [best] = ranked;
  if (best === undefined) return [];
  const lead = short?.sentence ?? best;
  const strong = ranked.filter(({ probability }) => probability >= QUOTE_FLOOR * best.probability);
  const candidates = [lead, ...strong.filter((sentence) => sentence !== lead)].slice(0, 4 * limit);
  return collapseNearDuplicates(
    candidates.map((sentence, at) => ({ id: String(at), text: sentence.statement.text, sentence })),
  )
    .map(({ item }) => item.sentence)
    .slice(0, limit);
}
