import { stemOf } from '../../common/text/language/tokenize.ts';
import { wordTable } from '../../common/text/words/word-table.ts';
import { asksForLength, lengthIn } from './lengths.ts';
import { type AnswerType, type Question, wordsOf } from './question.ts';
import { putFirst, type RankedSentence } from './rank-sentences.ts';
import { CURRENCIES, LENGTH_UNITS, NUMERALS, TIME_UNITS } from './spans.ts';

const HOW_MANY = /\bhow many (?:\p{Ll}+ (?:of|and) )?(\p{L}+)/iu;

/** What a question counts, in lower case: `days` of "How many days did it take?"; null for another question. */
export const countedIn = ({ text }: Pick<Question, 'text'>): string | null =>
  HOW_MANY.exec(text)?.[1]?.toLowerCase() ?? null;

/** A number with the words that may be counted by it: `eleven days`, `twenty well-named files`, the first of `10,000-line file`. */
const NUMERAL = new RegExp(
  `(?<![\\p{L}\\p{N}])(?:\\d[\\d,.]*|${NUMERALS})(-\\p{L}+|(?: \\p{L}+(?:-\\p{L}+)*){1,3})`,
  'giu',
);

/** `Three of them died.` */
const SOME_OF_THEM = new RegExp(
  `(?<![\\p{L}\\p{N}])(?:\\d[\\d,.]*|${NUMERALS}) of (?:them|these|those|us|which|whom)\\b`,
  'iu',
);

/** Whether a sentence has a number of such things as are counted: -1 to 1. */
export function likenessOfCounted(counted: string, sentence: string): number {
  if (SOME_OF_THEM.test(sentence)) return 1;
  const found = [...sentence.matchAll(NUMERAL)].flatMap(([, behind = '']) => wordsOf(behind));
  const like = found.map((word) => (stemOf(word) === stemOf(counted) ? 1 : wordTable().similarity(counted, word)));
  return Math.max(-1, Math.min(1, 4 * (Math.max(0, ...like) - 0.4)));
}

/** Contacts, which need no word beside them: `Call her at 0551 39 77 12.` */
export const CONTACTS: readonly (readonly [RegExp, RegExp])[] = [
  [/\b(?:tele)?phone number\b/iu, /(?<!\d[-.]?)(?!\d{4}-\d\d-\d\d|\d{1,2}\.\d{1,2}\.\d{4})\d(?:[ ./-]?\d){5}/u],
  [/\be-?mail(?: address)?\b/iu, /@/u],
];

/** Questions for quantities and contacts, with the units of their answers. */
const QUANTITIES: readonly AnswerType[] = ['number', 'thing', 'way'];
const UNITS: readonly (readonly [asks: RegExp, isAnswer: RegExp, types?: readonly AnswerType[]])[] = [
  [
    /\bhow (?:much|high|large|big)\b.*\b(?:deposit|deductible|discount|bonus|severance|notice)\b/iu,
    new RegExp(
      `[$€£¥%]|\\b(?:${CURRENCIES}|per ?cent)\\b|\\b(?:months?|weeks?|years?)['’]? (?:rent|pay|salary|wages|notice)\\b`,
      'iu',
    ),
  ],
  [
    /\bhow much\b.*\b(?:costs?|pay|paid|price|money|win|won|earn|spend|spent|charge|owe|owes|owed|worth|salary|fee|prize|reward|bonus|budget|bill|fare)\b|^how much (?:is|are|was|were|did .* get) (?!left)|\b(?:salary|price|cost|rent|fee|wages?|deposit|fine|deductible|premium|budget)\b|^what (?:do|does|did) .*\b(?:pay|charge|spend)\b/iu,
    new RegExp(
      `[$€£¥]|\\b(?:${CURRENCIES})\\b|\\b(?:for|paid|pays?|costs?) \\d[\\d.,]*(?! ?(?!(?:a|per|each|in|and)\\b)\\p{L})|\\b\\d[\\d.,]* (?:a|per) (?:month|week|night|day|year|hour)\\b`,
      'iu',
    ),
  ],
  [
    /\bhow old\b|\bage\b/iu,
    /\b(?:years? old|aged?|born|when (?:I|he|she|we) (?:was|were|turned)|(?:from|(?:made|built) in) (?:1\d|20)\d\d)\b|\b(?:was|turned|is|am|at) (?:\d+|\p{Ll}+teen|six|seven|eight|nine|ten|eleven|twelve|(?:twen|thir|for|fif|six|seven|eigh|nine)ty)\b|['’](?:m|s|re) \d{1,3}(?![\d,.]*\d| ?(?!and\b|but\b|now\b|already\b)\p{L})|\bturn(?:s|ed|ing) (?:one|two|three|four|five)\b/iu,
  ],
  [
    /\bhow long\b/iu,
    new RegExp(
      `\\b(?:${TIME_UNITS}|${LENGTH_UNITS}|mornings?|afternoons?|evenings?|weekends?|summers?|winters?|decades?)\\b`,
      'iu',
    ),
  ],
  [
    /\bhow much (?:RAM|memory|storage|disk|space|bandwidth|traffic|swap)\b/iu,
    /\d ?(?:[KMGT]i?B|kilobytes?|megabytes?|gigabytes?|terabytes?|megabits?|gigabits?|[KMG]bit)\b|\d ?(?:m²|square|cubic|lit(?:re|er)s?)/iu,
  ],
  [
    /\bhow (?:tall|high|deep|wide|far|big|large)\b/iu,
    /(?:\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|hundred)\b)[ -]?(?:square |cubic )?(?:km|cm|mm|m|m²|ha|[GMT]B|\p{Ll}*met(?:re|er)s?|feet|foot|ft|inch(?:es)?|miles?|hectares?|acres?|litres?|liters?|gigabytes?|megabytes?|terabytes?|people|members?|rooms?|storeys?|seats?)\b/iu,
  ],
  ...CONTACTS,
  [/\bmileage\b/iu, /\b(?:km|miles|kilomet\p{L}+)\b/iu],
  [/\b(?:surname|last name|full name|maiden name)\b/iu, /\p{Lu}\p{Ll}+ \p{Lu}\p{Ll}+/u],
  [/\b(?:password|pin|licen[cs]e plate|serial number|version|account number|alarm code)\b/iu, /\d/u],
  [
    /\bcolou?r\b/iu,
    /\b(?:red|blue|green|yellow|black|white|gr[ae]y|brown|orange|pink|purple|violet|gold(?:en)?|silver|beige|turquoise)\b/iu,
  ],
  [
    /\b(?:what|which) (?:is|was) the (?:final |exact )?score\b/iu,
    /(?<!\d)\d{1,3}(?!\d)|\b(?:points?|nil|draw|drew|tie[ds]?|goals?)\b/iu,
  ],
  [/\bhow often\b/iu, /\b(?:every|once|twice|times|daily|weekly|monthly|yearly|per|each)\b/iu],
  [/\b(?:weigh|weight|how heavy)\b/iu, /\b(?:kg|kilos?|kilograms?|pounds?|grams?|tons?|tonnes?|ounces?)\b/iu],
  [
    /\b(?:profession|occupation|job|trade|(?:do|does|did) for (?:a living|work))\b/iu,
    /(?:\b(?:is|was|as|am|became|become|works?|worked|job|profession)|['’]m|,) (?:as )?an? \p{Ll}+/iu,
  ],
  [
    /\bwhere (?:do|does|did)\b.*\b(?:live|reside)\b/iu,
    /\b(?:liv(?:e[sd]?|ing)|resid\p{L}+|moved|home|houses?|flats?|apartments?|rooms?|farm|farmhouse|address|neighbou?rs?|from)\b/iu,
    ['place'],
  ],
  [
    /\bwhere (?:do|does|did)\b.*\bwork\b/iu,
    /\b(?:works?|worked|working|job|office|employ\p{L}*|shifts?|boss|colleagues?|coworkers?|company|firm|clinic|hospital|school|university|shop|store|bakery|restaurant|factory|studio|lab|started|start|teach\p{L}*|nurse|engineer|manager|intern\p{L}*|freelanc\p{L}*|for|at|with)\b/iu,
    ['place'],
  ],
  [/\bbirthday\b|\bwhen (?:is|was|were)\b.*\bborn\b/iu, /\b(?:born|birth\p{L}*|turned|turns)\b/iu, ['date', 'thing']],
  [
    /\b(?:die|died|death)\b/iu,
    /\b(?:die[ds]?|dead|death|passed away|funeral|buried|until|late)\b/iu,
    ['date', 'place'],
  ],
];

/** The words by which a question asks for a quantity with a unit: `how long`; '' when it asks for none. */
export const unitAsked = (text: string): string => UNITS.find(([asks]) => asks.test(text))?.[0].exec(text)?.[0] ?? '';

/** Whether a sentence has the unit or the like of the answer: 1 or -1; 0 when the question asks for none. */
export function unitIn({ text, type }: Question, sentence: string): number {
  if (type === 'yes-no') return 0;
  const asked = text.replace(/\b(?:in|at|on|for|near|of) (?:which|what) \p{Ll}+ /iu, '');
  const unit = UNITS.find(([asks, , types]) => (types ?? QUANTITIES).includes(type) && asks.test(asked));
  if (unit === undefined) return 0;
  return unit[1].test(sentence) || (asksForLength({ text, type }) && lengthIn(sentence) !== null) ? 1 : -1;
}

/** Sentences that may say the number. */
const SENTENCES_READ = 8;

/**
 * Puts the sentence first that has a number of what a question counts, when the best one has none and is of the same section:
 * `The trail took us over eleven days` behind `I hiked the Tour du Mont Blanc with two friends`. Units of other quantities
 * (`how long`, a colour) did not help: they are found in sentences about other things, too.
 */
export function countedFirst(question: Question, ranked: readonly RankedSentence[]): readonly RankedSentence[] {
  const counted = countedIn(question);
  const [best] = ranked;
  if (counted === null || best === undefined || likenessOfCounted(counted, best.statement.text) >= 0) return ranked;
  const isBeside = ({ passage, statement }: RankedSentence) =>
    passage.id === best.passage.id && statement.heading === best.statement.heading;
  const found = ranked
    .slice(0, SENTENCES_READ)
    .find((one) => isBeside(one) && likenessOfCounted(counted, one.statement.text) === 1);
  return found === undefined ? ranked : putFirst(found, ranked);
}
