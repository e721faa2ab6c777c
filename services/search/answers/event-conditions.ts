import { stemOf } from '../../common/text/language/tokenize.ts';
import { isForeignText } from './foreign-text.ts';
import { asksForTimeOfDay, contentWords, type Question } from './question.ts';
import { MONTHS, NUMERALS, WEEKDAYS } from './spans.ts';

/** An event that a question asks about, and the words of which a sentence about it has one. */
type EventWords = readonly [asked: RegExp, said: RegExp];

const words = (asked: string, said: string): EventWords => [
  new RegExp(`\\b(?:${asked})\\b`, 'iu'),
  new RegExp(`\\b(?:${said})`, 'iu'),
];

/** Events and what tells of them. The latter is generous: a sentence without any tells something else, whatever words it shares. */
const EVENTS: readonly EventWords[] = [
  words(
    '(?:get|got|gets|getting) married|marry|marries|married|wedding(?: anniversary)?',
    'marri|marry|wed|husband|wife|bride|groom|spouse|vow|honeymoon|engag',
  ),
  words(
    '(?:was|were|is|are) .*\\bborn',
    'born|birth|native|gr[eo]w|raised|came|comes?\\b|from|child|hometown|origin|aged?\\b|years? old|\\d{4}|young|old|baby|arriv',
  ),
  words('divorced?', 'divorc|separat|split|ex-|left|broke'),
  words(
    'expires?|runs? out|expired',
    'expir|valid|until|till|end|run|ran|renew|due|good for|last|since|from|by|term|\\d+ (?:day|week|month|year)s',
  ),
  words('retires?|retired', 'retir|pension|stop|left|leav|leaves|last day|gave up|quit|hand|emerit|end'),
  words(
    'moved?|moves',
    'mov|live|living|since|settl|c[ao]me|new|relocat|left|leav|went|go(?:es|ing)?\\b|chang|home|flat|house|apartment|shift|transfer|postpon|emigrat|put|carr|arriv|return',
  ),
  words(
    'buy|buys|bought|purchase[ds]?',
    'b[uo]y|bought|purchas|pa[iy]|cost|price|from|got|get|acquir|since|new|order|own|ha[sd]\\b|have|second-?hand|used|deal|spen[dt]|sold|[$€£]|\\d+ (?:euros?|pounds?|dollars?)|came|replac|choos|chose',
  ),
  words('sell|sells|sold', 'sell|sold|sale|buy|bought|took|went to|gave|given|price|custom|shop|market|auction|order'),
  words(
    '(?:was|were|been) (?:built|constructed|erected)',
    'buil[dt]|construct|erect|finish|complet|dates?\\b|dating|from|since|old|made|years?|put up|went up|architect|rebuil|creat|cent|open|stand|until',
  ),
  words(
    'founded|established',
    'found|establish|start|creat|beg[aiu]n|since|set up|open|born|from|exist|old|years|form|launch|first|made|built|grew',
  ),
  words(
    'graduated?|graduates',
    'graduat|degree|diploma|stud|bachelor|master|doctor|school|universit|finish|class of|exam|complet|thesis',
  ),
  words('adopt(?:ed|s)?', 'adopt|shelter|rescue|got|came|took|since|brought|found|from|join'),
  words(
    '(?:who|which (?:team|side|country|player|club)) (?:has |had )?(?:won|wins|beat)|winner',
    'w[io]n|beat|defeat|victor|champion|triumph|first|lost|lose|loss|prize|award|medal|trophy|cup went|elect|gold|title|top|best|ahead|\\d ?[:–-] ?\\d',
  ),
  words('elected|elects?', 'elect|vot|chos|chair|president|mayor|won|became|appoint|office|take|took|since|new'),
  words(
    'hired?|hires|employed',
    'hire|hiring|employ|join|start|since|began|recruit|work|new|came|engag|took on|contract',
  ),
  words('fired|dismissed|laid off', 'fire|dismiss|laid|sack|let go|lost|left|redundan|cut|quit'),
  words('stolen|stole|steals?', 'st[oe]l|thie[fv]|theft|rob|burgl|taken|took|missing|broke|disappear|gone'),
  words('phone|call(?:ed)? (?:me|us)', 'phone|call|rang|ring|tel|number|voice|messag|text|spoke|talk'),
  words('arrested', 'arrest|police|custody|jail|prison|caught|detain'),
  words('rented?|rents', 'rent|lease|let|land|tenant|month|hire|pay|paid|flat|room'),
  words('painted|paints?', 'paint|colou?r|brush|artist|varnish|picture|portrait|mural|white|whitewash|coat'),
  words('insured?|insures', 'insur|polic|cover|premium|liabil|broker|claim'),
  words('who (?:has |had )?(?:co-)?produce[ds]?', 'produc|made|mak|creat|record|grow|grew|brew|print|supervis'),
  words(
    'who (?:has |had )?(?:co-)?design(?:s|ed)?',
    'design|architect|plan|draw|drew|sketch|built|build|creat|ma[dk]e|conceiv|layout|style|devis|develop|engineer',
  ),
  words(
    'who (?:has |had )?(?:co-)?compose[ds]?',
    'compos|music|score|soundtrack|song|tune|opera|symphon|sonata|quartet|piece|anthem|lyric|poem',
  ),
  words('weighs?|weighed', 'weigh|kg|kilo|gram|pound|ton|\\d ?g\\b|heav|light|ounce|stone'),
];
/** Times of business, which `open` and `close` at the end of a question ask for. */
const BUSINESS_HOURS: EventWords = [
  /\b(?:opens?|closes?)(?: on \p{Lu}\p{Ll}+days?| at weekends| today| again)?\s*\??$/iu,
  /\b(?:open|clos|shut|hours|until|till|from|business|between|\d\d?(?::\d\d)? ?(?:to|-|–)|every|daily|season)/iu,
];

/** A sentence with what stands above and before it. */
interface Said {
  readonly text: string;
  readonly context: string;
}

type Asked = Pick<Question, 'text' | 'type'>;

/**
 * Whether sentences have no word of the event that a question asks about: `We visited Ewan in Tromsø.` for "When did Ewan move to
 * Norway?" Of a date only the best one is read: others have dates of other events.
 */
export function isEventUnsaid({ text, type }: Asked, said: readonly Said[]): boolean {
  if (type !== 'date' && type !== 'person' && type !== 'place') return false;
  const events = type === 'date' ? [...EVENTS, BUSINESS_HOURS] : EVENTS;
  const event = events.find(([asked]) => asked.test(text));
  const read = type === 'date' ? said.slice(0, 1) : said;
  // What is said in another language has none of these words.
  const isSilent = (one: Said) =>
    !event?.[1].test(`${one.text} ${one.context}`.replace(RETIRED_KIND, '')) && !isForeignText(one.text);
  return event !== undefined && read.every(isSilent);
}

const BIRTH_ASKED = /\b(?:born|birth\p{L}*|old|age[ds]?|live[ds]?)\b/iu;
/** A birth with its date, or two dates of a life, in brackets: `(born 25 October 1961)`, `(1600–1683)`. */
const LIFE_DATES = /\((?:[^()]*\bborn\b|(?:c\. ?)?[^()]{0,30}\d{4} ?[–-])[^()]*\)/giu;
/** Tells that a person has retired, and not when: `is a retired judoka`. */
const RETIRED_KIND = /\b(?:an?|the|former,?) retired (?=\p{L})/giu;

/** Whether the only dates of a sentence are those of a life when a question asks when something else was. */
export const isDateOfLife = ({ text, type }: Asked, sentence: string): boolean =>
  type === 'date' &&
  !BIRTH_ASKED.test(text) &&
  !/\b(?:die[ds]?|death)\b/iu.test(text) &&
  sentence.search(LIFE_DATES) >= 0 &&
  !/\d{3}|\b(?:ago|since|yesterday|century)\b/u.test(sentence.replace(LIFE_DATES, ''));

const BORN_WHERE = /\bwhere (?:was|were|is|are) .{1,60} born\b/iu;
const BORN = /\bborn\b/iu;
/** Tells where somebody is from: `born … in Bonn`, `born 1961, Bonn`, `Bonn-born`. */
const BORN_PLACE =
  /\b[Bb]orn\b[^.;]*?(?:\b(?:in|at|near|on|to|from|outside|aboard) (?:the )?(?!\d|(?:January|February|March|April|May|June|July|August|September|October|November|December)\b)\p{L}|\d{4}, \p{Lu})|-born\b|\b(?:birthplace|native|hometown|home town|hails?|came from|comes from|grew up|raised)\b|\bin \p{Lu}[\p{L} ]+ (?:was|were) born\b/u;

/** Whether a sentence tells of a birth and of no place of it when a question asks where somebody was born. */
export const isBirthWithoutPlace = ({ text }: Asked, sentence: string): boolean =>
  BORN_WHERE.test(text) && BORN.test(sentence) && !BORN_PLACE.test(sentence);

const PLANNED = /\b(?:plan(?:ned|ning)?|scheduled|due|supposed|going to|meant|set)\b/iu;
const PAST_ASKED = /\b(?:was|were|did)\b/iu;
const FUTURE = /\b(?:will|shall|(?:is|are) going to)\b/iu;
const PAST = /\b(?:was|were|did|had|has|have|\p{L}{2,}ed|said|told|made|got|took|came|went|began)\b/iu;

/** Whether a sentence tells only of the future when a question asks when something was. */
export const isYetToCome = ({ text, type }: Asked, sentence: string): boolean =>
  type === 'date' && PAST_ASKED.test(text) && !PLANNED.test(text) && FUTURE.test(sentence) && !PAST.test(sentence);

const CLOCK_OF_PURPOSE =
  /(?<!\d)(?:\d{1,2}(?:[:.]\d\d)? ?(?:AM|PM|am|pm|o['’]clock)|\d{1,2}:\d\d|noon|midnight) to (\p{Ll}+)/u;
const DAY = new RegExp(`\\b(?:1\\d|20)\\d\\d\\b|\\b(?:${MONTHS}|${WEEKDAYS}|winter|spring|summer|autumn)\\b`, 'u');

/**
 * Whether the only time of a sentence is an hour of something else, done for the sake of what a question asks the date of: `I rose
 * at 4 AM to climb the hill` for "When did I climb the hill?"
 */
export function isHourOfOther(question: Asked, sentence: string): boolean {
  if (question.type !== 'date' || !PAST_ASKED.test(question.text) || asksForTimeOfDay(question)) return false;
  const found = CLOCK_OF_PURPOSE.exec(sentence);
  if (found === null || DAY.test(sentence)) return false;
  const asked = contentWords(question.text).map(stemOf);
  const isAsked = (text: string) => contentWords(text).some((word) => asked.includes(stemOf(word)));
  return isAsked(sentence.slice(found.index)) && !isAsked(sentence.slice(0, found.index));
}

const ASKS_FOR_COUNT = /\bhow many (?!(?:euros?|pounds?|dollars?|francs|cents?|crowns|yen)\b)\p{L}/iu;
const MONEY =
  /[$€£¥] ?\d[\d.,]*|\d[\d.,]* ?(?:[$€£¥]|(?:EUR|USD|GBP|CHF|euros?|pounds?|dollars?|francs|cents?|crowns|yen)\b)/iu;
const ALL_MONEY = new RegExp(MONEY, 'giu');
const NUMERAL = new RegExp(`\\d|\\b(?:${NUMERALS}|an?|no|none|both|all|only)\\b`, 'iu');

/** Whether amounts of money are all the numbers of a sentence when a question asks how many there are of something else. */
export const isMoneyForCount = ({ text, type }: Asked, sentence: string): boolean =>
  type === 'number' &&
  ASKS_FOR_COUNT.test(text) &&
  MONEY.test(sentence) &&
  !NUMERAL.test(sentence.replace(ALL_MONEY, ''));

const DONE_ASKED = /^(?:did|has|have|had|was|were)\b/iu;
const WISH =
  /\b(?:would like|hope[sd]?|wish(?:es|ed)?|ask(?:s|ed)? for|request(?:s|ed)?|propose[sd]?|suggest(?:s|ed)?|plan(?:s|ned)? to|applied for)\b/iu;

/** Whether a sentence tells only of a wish when a question asks whether something was done: `Our pupils would like a crossing.` */
export const isOnlyWished = ({ text, type }: Asked, sentence: string): boolean =>
  type === 'yes-no' && DONE_ASKED.test(text.trim()) && WISH.test(sentence) && !WISH.test(text);

const REASON = /\b(?:because|since|as|due to|thanks to|owing to)\b/giu;

/** Whether what a question asks the reason of is itself the reason of something else: `Ada is in the chair, as Tom is ill.` */
export function isReasonOfOther({ text, type }: Asked, sentence: string): boolean {
  const marks = type === 'reason' ? [...sentence.matchAll(REASON)] : [];
  const [mark, ...others] = marks;
  if (mark === undefined || others.length > 0) return false;
  const asked = contentWords(text).map(stemOf);
  const stems = (part: string) => contentWords(part).map(stemOf);
  const [before, behind] = [stems(sentence.slice(0, mark.index)), stems(sentence.slice(mark.index))];
  const isIn = (part: readonly string[]) => asked.some((stem) => part.includes(stem));
  return before.length > 0 && isIn(behind) && !isIn(before);
}
