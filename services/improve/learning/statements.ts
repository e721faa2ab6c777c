import { MAX_CONTEXT_CHARACTERS } from '../../common/domain/session-context.ts';
import { sentences } from '../../common/text/language/sentences.ts';

/** Kind of a sentence that is worth keeping beyond its turn. */
export type StatementKind = 'preference' | 'rule' | 'correction' | 'fact';

interface Statement {
  readonly kind: StatementKind;
  /** One line, without the words that only introduce it. */
  readonly text: string;
  /** 0 to 1. */
  readonly confidence: number;
}

/** Limits of what is read of a text: characters and sentences from its beginning. */
export const MAX_READ = 4_000;
const MAX_SENTENCES = 40;
const MIN_LENGTH = 8;

const QUESTION =
  /^(?:what|where|when|who|whom|whose|which|why|how|is|are|am|was|were|do|does|did|can|could|would|will|shall|should|may|might|has|have|had|tell me|show me|explain|find|list|give me|help|write|make me|summari[sz]e)\b/iu;
/** Addresses the reader of the record (prompt injection): never kept, whatever else it says. */
const ADDRESSES_READER =
  /\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:instruction|prompt|rule|above|previous|prior|everything)|\b(?:system prompt|you are now|act as|jailbreak|developer mode|new instructions?)\b|^\s*(?:system|assistant|user|developer)\s*:|\b(?:curator|distill\w*|lessons?[_ ]learned|confidence)\b\s*(?:[:=]|to\b|of\b|must\b|shall\b|should\b|has to\b|accepts?\b)|<\/?[\w-]+>/iu;
const REMEMBER =
  /^(?:please\s+)?(?:remember|note|keep in mind|fyi|for the record|be aware|just so you know)\b[,:]?\s*(?:that\b)?[,:]?\s*/iu;
const CORRECTION =
  /^(?:no|nope|actually|correction|wrong|not quite|that(?:'|’)?s (?:wrong|not right|incorrect|not correct)|that is (?:wrong|not right|incorrect|not correct)|sorry)\s*[,:.!;–-]+\s*(?:it(?:'|’)s not right[,:;]?\s*)?/iu;
const PREFERENCE =
  /\b(?:i|we)\b(?:\s+\w+){0,3}\s+(?:prefer|like|love|enjoy|hate|dislike|favou?r|avoid|can(?:'|’)?t stand|(?:do not|don(?:'|’)t) (?:like|want|eat|drink|use))\b|\b(?:i|we)(?:'d|’d| would) rather\b|\b(?:my|our) (?:favou?rite|preferred|preference)\b/iu;
const TEMPORARY_WISH = /\b(?:i|we)(?:'d|’d| would) (?:like|love) to\b/iu;
const RULE =
  /^(?:please\s+)?(?:always|never(?! mind)|from now on|whenever|every time|by default)\b|\b(?:i|we) want you to (?:always|never)\b/iu;
const OWN_FACT = new RegExp(
  [
    String.raw`^(?:my|our)\s+(?:\S+\s+){1,8}?(?:is|are|was|were|has|have|lives?|runs?|uses?|starts?|ends?|works?|costs?|moved|changed)\b`,
    String.raw`^(?:i|we)(?: (?:always|usually|only|now|no longer|never))? (?:own|use|live|work|moved|run|deploy|switched|speak|study|manage|lead|support|host|pay|drive|teach)\b`,
    String.raw`^(?:i|we)(?:'m|’m|'re|’re| am| are) (?:an?|the|from|in|at|on|based|called|named|born|responsible|allergic|vegetarian|vegan|married|\d+)\b`,
    String.raw`^(?:i|we)(?:'ve|’ve| have) (?:an?|the|no|two|three|four|five|\d+)\b`,
  ].join('|'),
  'iu',
);
/** Statements that are valid for this turn only. */
const TEMPORARY = new RegExp(
  [
    String.raw`^(?:i|we)(?:'m|’m|'re|’re|'ve|’ve| am| are| have) (?:an? |the |some |no )?(?:question|questions|problem|issue|bug|error|doubt|idea|request|task|meeting|minute|moment|look|hurry|clue|asking|looking|trying|wondering|sure|sorry|middle|same page|here)\b`,
    String.raw`\b(?:is|are|was|were|keeps?|has|have)(?: (?:still|now|again|just|not|been))* (?:fail(?:s|ing|ed)?|broken|down|stuck|crash(?:es|ing|ed)?|slow|red|hanging|ready|done|working|wrong|late|missing|empty|stopped|acting|taking)\b`,
    String.raw`\b(?:right now|at the moment|this time|today|yesterday|tonight|this morning|just now)\b`,
  ].join('|'),
  'iu',
);

/** Returns the sentences of a user that state something lasting. Linear in the characters read. */
export function statementsOf(text: string): readonly Statement[] {
  return sentencesOf(text).flatMap((sentence) => statementOf(sentence) ?? []);
}

/** Returns the sentences that may state a fact: no questions, no requests, none that address the reader. */
export function plainSentences(text: string): readonly string[] {
  return sentencesOf(text).filter((line) => isKept(line) && !QUESTION.test(line) && !TEMPORARY.test(line));
}

export function addressesReader(text: string): boolean {
  return ADDRESSES_READER.test(text);
}

function sentencesOf(text: string): readonly string[] {
  return sentences(text.slice(0, MAX_READ))
    .slice(0, MAX_SENTENCES)
    .map((sentence) => sentence.text.replaceAll(/\s+/gu, ' ').trim().toWellFormed());
}

function isKept(line: string): boolean {
  const isReadable = line.length >= MIN_LENGTH && line.length <= MAX_CONTEXT_CHARACTERS;
  return isReadable && !/[?？]["'”’)\]]*$/u.test(line) && !ADDRESSES_READER.test(line);
}

function statementOf(line: string): Statement | null {
  if (!isKept(line)) return null;
  const corrected = line.replace(CORRECTION, '');
  if (corrected !== line) return rest('correction', corrected, 0.9);
  const remembered = line.replace(REMEMBER, '');
  if (remembered !== line) {
    const kind = PREFERENCE.test(remembered) ? 'preference' : RULE.test(remembered) ? 'rule' : 'fact';
    return rest(kind, remembered, 0.9);
  }
  if (RULE.test(line)) return rest('rule', line, 0.85);
  if (QUESTION.test(line)) return null;
  if (PREFERENCE.test(line) && !TEMPORARY_WISH.test(line)) return rest('preference', line, 0.85);
  if (OWN_FACT.test(line) && !TEMPORARY.test(line)) return rest('fact', line, 0.8);
  return null;
}

/** Refers to another sentence, or takes something back. */
const SAYS_NOTHING = /^never mind\b|^\S+ \S+ (?:that|this|it|them|those|these|so|too)[.!]?$/iu;

function rest(kind: StatementKind, text: string, confidence: number): Statement | null {
  const words = text.split(' ').length;
  if (words < 3 || text.length < MIN_LENGTH || QUESTION.test(text) || SAYS_NOTHING.test(text)) return null;
  return { kind, text: `${text.charAt(0).toUpperCase()}${text.slice(1)}`, confidence };
}
