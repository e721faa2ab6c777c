import { stemOf } from '../../common/text/language/tokenize.ts';
import { turnsOf } from '../../common/text/language/turns.ts';
import { contentWords, type Question } from './question.ts';
import { MISSING_MORE, type PlacedStatement, putWantedFirst, type RankedSentence } from './rank-sentences.ts';
import { type Statement, statementsOf } from './statements.ts';

/** What to do with a thing that only the sentence before names. */
const OF_THING_BEFORE = /^\p{Lu}\p{Ll}+ (?:it|them|this|these|that|those)\b/u;
/** Says why by itself. */
const GIVES_REASON =
  /\b(?:because|since|as|so that|in order to|due to|owing to|reason|caused?|causes|thanks to|weil|da|damit|denn|wegen|porque|ya que|para que|parce que|car|afin)\b|[:;–—] /iu;
/** Replies to `why` in a conversation. */
const IS_REASON = /^(?:[^:]{0,40}: |\[[\d:]+\] [^:]{0,40}: )?(?:because|cause|since|so that|weil|porque|parce que)\b/iu;
const REPLIES_READ = 2;
/** The sentences before it say why. */
const REFERS_TO_REASON =
  /^(?:that['’]s why|that is why|this is why|(?:for|because of|due to) (?:this|that|these|those)\b|therefore|hence|so|thus|deshalb|darum|daher|deswegen|aus diese[mn]\b|por (?:eso|est[eao]s?)\b|c['’]est pourquoi|pour cette?\b),? /iu;
/** Sections that say why what stands in others was decided or happened. */
const OF_REASON =
  /^(?:context|decision|background|rationale|reasons?|motivation|(?:root )?causes?|why\b.*|kontext|entscheidung|hintergrund|gründe?|begründung|ursachen?|contexto|motivos?|causas?|contexte|raisons?|motifs?)$/iu;
/** Whether a section says why. */
export const isOfReason = (heading: string): boolean => OF_REASON.test(heading.replace(/[^\p{L}]+$/u, ''));
/** Sentences with reasons that are quoted. */
const MAX_REASONS = 2;
/** Items of a list that are quoted. */
const MAX_ITEMS = 12;

/**
 * Returns the statements to quote for one that answers a question: with the sentence beside it that gives the reason, or with
 * all steps of its list.
 */
export function quotedStatements({ type }: Question, { statement, passage }: PlacedStatement): readonly Statement[] {
  if (type !== 'reason' && type !== 'way') return [statement];
  const all = statementsOf(passage);
  const at = all.indexOf(statement);
  const isBeside = (other: Statement | undefined): other is Statement =>
    other !== undefined && other.heading === statement.heading && other.label === statement.label;
  if (type === 'way') {
    if (statement.isItem === true) return stepsAround(all, at, isBeside);
    const last = all[at - 1];
    // `The old file stays in /etc/old. Copy it back.`
    return OF_THING_BEFORE.test(statement.text) && isBeside(last) && last.isItem !== true
      ? [last, statement]
      : [statement];
  }
  const reply = all
    .slice(at + 1, at + 1 + REPLIES_READ)
    .find((one) => one.asked !== undefined && IS_REASON.test(one.text));
  if (reply !== undefined && statement.asked === undefined) return [statement, reply];
  const given = reasonGiven(all, statement, at);
  if (given !== undefined) return [statement, given];
  const isItemOf = ({ text, isItem }: Statement) => isItem === true && statement.label.endsWith(text);
  const after = all[at + 1];
  if (REFERS_TO_REASON.test(statement.text))
    return [...all.slice(Math.max(0, at - MAX_REASONS), at).filter((one) => isBeside(one) || isItemOf(one)), statement];
  if (GIVES_REASON.test(statement.text)) return [statement];
  const reasons = all.filter(({ heading }) => heading !== statement.heading && isOfReason(heading));
  if (reasons.length > 0) return [statement, ...reasons.slice(0, MAX_REASONS)];
  const isOfOther = statement.isItem === true || after?.isItem === true || turnsOf(after?.text ?? '')[0]?.start === 0;
  const before = all[at - 1];
  if (statement.isContinued === true && before !== undefined) return [before, statement];
  return isBeside(after) && !isOfOther ? [statement, after] : [statement];
}

/** Sentences behind one of a conversation in which somebody may ask why. */
const ASKED_WITHIN = 8;

/** Returns what a speaker replies to `why` after saying something. */
function reasonGiven(all: readonly Statement[], { speaker }: Statement, at: number): Statement | undefined {
  if (speaker === undefined) return undefined;
  const next = all.slice(at + 1, at + 1 + ASKED_WITHIN);
  return next.find((one) => one.speaker === speaker && /\b(?:why|how come)\b/iu.test(one.asked ?? ''));
}

const SENTENCES_READ = 4;

/** Puts a step before a sentence about the same that only describes, for a question how something is done; also one below a heading that the question names. */
export function stepFirst({ type, text }: Question, ranked: readonly RankedSentence[]): readonly RankedSentence[] {
  const [best] = ranked;
  if (type !== 'way' || best === undefined || best.statement.isItem === true || best.statement.isCommand === true)
    return ranked;
  const asked = new Set(contentWords(text).map(stemOf));
  const isNamed = (heading: string) => {
    const words = contentWords(heading);
    return words.length > 0 && words.every((word) => asked.has(stemOf(word)));
  };
  const step = ranked.find(
    ({ statement, features }, at) =>
      statement.isItem === true &&
      /^\d/u.test(statement.text) &&
      (isNamed(statement.heading) || (at < SENTENCES_READ && features.missing <= best.features.missing + MISSING_MORE)),
  );
  return step === undefined ? ranked : [step, ...ranked.filter((one) => one !== step)];
}

const SAYS_REASON = /\b(?:because|since (?!\d|last|then|\p{Lu})|due to|owing to|thanks to|the reason)\b/iu;

/** Puts a sentence that gives a reason before one about the same, below the same headings, that gives none. */
export function reasonFirst({ type }: Question, ranked: readonly RankedSentence[]): readonly RankedSentence[] {
  const [best] = ranked;
  if (type !== 'reason' || best === undefined || SAYS_REASON.test(best.statement.text)) return ranked;
  return putWantedFirst(ranked, SENTENCES_READ, ({ statement }) => SAYS_REASON.test(statement.text));
}

function stepsAround(
  all: readonly Statement[],
  at: number,
  isBeside: (other: Statement | undefined) => boolean,
): readonly Statement[] {
  const isStep = (place: number) => all[place]?.isItem === true && isBeside(all[place]);
  let [first, last] = [at, at];
  while (isStep(first - 1)) first -= 1;
  while (isStep(last + 1)) last += 1;
  return last - first < MAX_ITEMS ? all.slice(first, last + 1) : all.slice(at, at + 1);
}
