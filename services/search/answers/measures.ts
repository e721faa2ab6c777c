import { contentWords, wordsOf } from './question.ts';
import { isSaid, isSameStem } from './slots.ts';

/** A quantity as a text gives it, in the base unit of its dimension. */
interface Quantity {
  readonly amount: number;
  /** Amounts of one unit can be compared. */
  readonly unit: string;
  /** Place in the text. */
  readonly start: number;
}

/** What two things are compared by. */
export type Measure =
  | { readonly kind: 'quantity'; readonly dimensions: readonly Dimension[] }
  /** A number of things (`employees`), or a quantity that a noun names (`rent`). */
  | { readonly kind: 'count'; readonly noun: string }
  /** When something happened; `verbs`: words that say what. */
  | { readonly kind: 'time'; readonly verbs: readonly string[] }
  /** When somebody was born, or something came to be. */
  | { readonly kind: 'origin' };

type Dimension = keyof typeof UNITS;

/** Names of units by dimension, each with its factor; `all` marks units of which each is compared only with itself. */
const UNITS = {
  money: {
    eur: ['€', 'eur', 'euro', 'euros'],
    usd: ['$', 'usd', 'dollar', 'dollars'],
    gbp: ['£', 'gbp', 'pound', 'pounds', 'quid'],
    chf: ['chf', 'fr', 'franken', 'franc', 'francs'],
    jpy: ['¥', 'jpy', 'yen'],
    kr: ['kr', 'kroner', 'kronor', 'crowns', 'dkk', 'nok', 'sek'],
  },
  area: {
    1: ['m²', 'm2', 'sqm', 'square meters', 'square metres', 'square meter', 'square metre'],
    1e6: ['km²', 'km2', 'square kilometers', 'square kilometres', 'square kilometer', 'square kilometre'],
    0.0929: ['square feet', 'square foot', 'sq ft'],
    2589988: ['square miles', 'square mile', 'sq mi'],
    1e4: ['ha', 'hectare', 'hectares'],
    4047: ['acre', 'acres'],
  },
  length: {
    0.001: ['mm', 'millimeters', 'millimetres'],
    0.01: ['cm', 'centimeters', 'centimetres', 'centimeter', 'centimetre'],
    1: ['m', 'meter', 'meters', 'metre', 'metres'],
    1000: ['km', 'kilometer', 'kilometers', 'kilometre', 'kilometres'],
    0.0254: ['inch', 'inches'],
    0.3048: ['ft', 'foot', 'feet'],
    1609: ['mi', 'mile', 'miles'],
  },
  weight: {
    1: ['g', 'gram', 'grams'],
    1e3: ['kg', 'kilo', 'kilos', 'kilogram', 'kilograms'],
    1e6: ['t', 'ton', 'tons', 'tonne', 'tonnes'],
    453.6: ['lb', 'lbs', 'pound', 'pounds'],
    28.35: ['oz', 'ounce', 'ounces'],
  },
  duration: {
    1: ['s', 'sec', 'second', 'seconds'],
    60: ['min', 'mins', 'minute', 'minutes'],
    3600: ['h', 'hr', 'hrs', 'hour', 'hours'],
    86400: ['day', 'days', 'nights'],
    604800: ['week', 'weeks'],
    2629800: ['month', 'months'],
    31557600: ['year', 'years'],
  },
  pages: { 1: ['page', 'pages'] },
  noise: { 1: ['db', 'dba', 'db(a)', 'decibel', 'decibels'] },
  speed: { 1: ['km/h', 'kmh', 'kph'], 1.609: ['mph'], 3.6: ['m/s'] },
  warmth: { 1: ['°', '°c', 'degrees', 'degree'] },
  power: { 1: ['w', 'watt', 'watts'], 1e3: ['kw', 'kilowatts'], 735: ['hp', 'ps', 'horsepower'] },
  room: { 1: ['l', 'litre', 'litres', 'liter', 'liters'], 0.001: ['ml'] },
  share: { 1: ['%', 'percent', 'per cent'] },
} as const;

/** Dimensions by the unit as it is written, with base unit and factor. */
const DIMENSIONS = new Map<string, readonly { dimension: Dimension; unit: string; factor: number }[]>();
for (const [dimension, units] of Object.entries(UNITS) as [Dimension, Readonly<Record<string, readonly string[]>>][]) {
  for (const [key, names] of Object.entries(units)) {
    const isFactor = !Number.isNaN(Number(key));
    const one = { dimension, unit: isFactor ? dimension : key, factor: isFactor ? Number(key) : 1 };
    for (const name of names) DIMENSIONS.set(name, [...(DIMENSIONS.get(name) ?? []), one]);
  }
}

const MULTIPLES: Readonly<Record<string, number>> = { thousand: 1e3, k: 1e3, million: 1e6, billion: 1e9 };
const NUMERALS = [
  'zero',
  'one',
  'two',
  'three',
  'four',
  'five',
  'six',
  'seven',
  'eight',
  'nine',
  'ten',
  'eleven',
  'twelve',
];
const NUMBER =
  /(?:(?<sign>[$€£¥]) ?)?(?<![\p{L}\p{N}.,/-])(?<number>\d{1,3}(?:[, \u00A0\u202F]\d{3})+(?:\.\d+)?|\d+(?:[.,]\d{1,2}(?!\d)|\.\d+)?|(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)(?= ))(?<multiple> (?:thousand|million|billion)\b|k\b)?(?:[ -]?(?<unit>(?:square|sq|per) \p{L}+|[\p{L}°%€$£][\p{L}²/]*\d?(?:\(A\))?|%))?/giu;

/** Returns the quantities of some dimensions in a text, in order. */
export function quantitiesIn(text: string, dimensions: readonly Dimension[]): readonly Quantity[] {
  const found = [...text.matchAll(NUMBER)].flatMap((match) => {
    const { sign, number = '', multiple = '', unit = '' } = match.groups ?? {};
    const named = DIMENSIONS.get((sign ?? unit).toLowerCase()) ?? [];
    const of = named.find(({ dimension }) => dimensions.includes(dimension));
    if (of === undefined) return [];
    const amount = amountOf(number) * (MULTIPLES[multiple.trim().toLowerCase()] ?? 1) * of.factor;
    return [{ amount, unit: of.unit, start: match.index, end: match.index + match[0].length }];
  });
  return joinedDurations(found, text);
}

/** `4 hours and 12 minutes` is one length of time. */
function joinedDurations(found: readonly (Quantity & { readonly end: number })[], text: string): readonly Quantity[] {
  const joined: (Quantity & { readonly end: number })[] = [];
  for (const one of found) {
    const before = joined.at(-1);
    const isPart =
      before !== undefined &&
      one.unit === 'duration' &&
      one.amount < before.amount &&
      one.start - before.end <= MAX_BETWEEN &&
      /^,?(?: and)? ?$/u.test(text.slice(before.end, one.start));
    if (isPart) joined[joined.length - 1] = { ...before, amount: before.amount + one.amount, end: one.end };
    else joined.push(one);
  }
  return joined;
}

const MAX_BETWEEN = 5;

/** `1,150`, `12 500` and `4,2`. */
function amountOf(digits: string): number {
  const numeral = NUMERALS.indexOf(digits.toLowerCase());
  if (numeral >= 0) return numeral;
  const plain = digits.replace(/[, \u00A0\u202F](?=\d{3}(?!\d))/gu, '');
  return Number(plain.replace(',', '.'));
}

/** Verbs and nouns that tell a number without the noun that is asked for: `It employs 140 people.` */
const TOLD_BY: readonly (readonly [noun: RegExp, told: RegExp])[] = [
  [
    /^(?:employee|staff|worker|personnel|people)/u,
    /\b(?:employ(?:s|ed|ees?|ing)?|staff|workers?|workforce|people)\b/iu,
  ],
  [/^(?:population|inhabitant|resident|people)/u, /\b(?:population|inhabitants?|residents?|people)\b/iu],
  [/^(?:rent|price|cost|salary|fee)/u, /\b(?:rent|price|costs?|salary|earns?|fee|a month|per month|monthly)\b/iu],
];
/** Characters around a number that may say of what it is. */
const WINDOW = 80;
const WORDS_BEHIND = 3;
const WORDS_BEFORE = 5;

/** Returns the numbers of the things that a noun names: `85` of `85 full-time employees`, `a population of 85`. */
export function countsOf(text: string, noun: string): readonly Quantity[] {
  const told = TOLD_BY.filter(([asked]) => asked.test(noun)).map(([, words]) => words);
  const asked = wordsOf(noun);
  const isOf = (part: string) => {
    const words = contentWords(part);
    return (
      told.some((pattern) => pattern.test(part)) ||
      asked.every((word) => words.some((one) => isSameStem(word, one)) || isSaid(word, words))
    );
  };
  return [...text.matchAll(NUMBER)].flatMap((match) => {
    const { sign = '', number = '', multiple = '', unit = '' } = match.groups ?? {};
    const from = match.index + sign.length + number.length + multiple.length;
    const [clause = ''] = text.slice(from, from + WINDOW).split(/[,;.:]\s|\band\b/u);
    const behind = clause.trim().split(/\s+/u).slice(0, WORDS_BEHIND).join(' ');
    const [before = ''] = text
      .slice(Math.max(0, match.index - WINDOW), match.index)
      .split(/[,;.:]\s/u)
      .slice(-1);
    const ahead = before.trim().split(/\s+/u).slice(-WORDS_BEFORE).join(' ');
    if (!isOf(behind) && !isOf(ahead)) return [];
    const amount = amountOf(number) * (MULTIPLES[multiple.trim().toLowerCase()] ?? 1);
    const currency = DIMENSIONS.get((sign || unit).toLowerCase())?.find(({ dimension }) => dimension === 'money');
    return [{ amount, unit: currency?.unit ?? 'number', start: match.index }];
  });
}

/** What a comparative compares by, and whether it asks for the most of it. */
export interface Comparative {
  readonly measure: Measure;
  readonly pick: 'most' | 'least';
}

/** Comparatives, each with its measure and whether it asks for the most of it. */
const ADJECTIVES: readonly (readonly [RegExp, Measure, 'most' | 'least'])[] = (
  [
    [
      'cheap(?:er|est)|less expensive|(?:costs?|charg(?:es?|ed)|earns?|earned|asks?|wants?|pays?|paid|spends?|spent) less',
      ['money'],
      'least',
    ],
    [
      'more expensive|most expensive|dear(?:er|est)|pric(?:ier|iest)|(?:costs?|charg(?:es?|ed)|earns?|earned|asks?|wants?|pays?|paid|spends?|spent) more|more costly',
      ['money'],
      'most',
    ],
    ['heav(?:ier|iest)|weigh(?:s|ed)? more', ['weight'], 'most'],
    ['light(?:er|est)|weigh(?:s|ed)? less', ['weight'], 'least'],
    ['quiet(?:er|est)|less nois[ey]|less loud|makes less noise', ['noise'], 'least'],
    ['loud(?:er|est)|nois(?:ier|iest)|more noise', ['noise'], 'most'],
    ['tall(?:er|est)', ['length'], 'most'],
    ['fast(?:er|est)|quick(?:er|est)', ['speed'], 'most'],
    ['slow(?:er|est)', ['speed'], 'least'],
    ['warm(?:er|est)|hot(?:ter|test)', ['warmth'], 'most'],
    ['cold(?:er|est)|cool(?:er|est)', ['warmth'], 'least'],
    ['(?:takes?|took|lasts?|lasted) longer', ['duration'], 'most'],
    ['(?:takes?|took|lasts?|lasted) (?:less time|shorter)', ['duration'], 'least'],
    ['long(?:er|est)', ['pages', 'length', 'duration'], 'most'],
    ['short(?:er|est)', ['pages', 'length', 'duration'], 'least'],
    ['(?:farther|further|farthest|furthest)(?: away)?', ['length', 'duration'], 'most'],
    ['(?:near|clos)(?:er|est)', ['length', 'duration'], 'least'],
    ['deep(?:er|est)|wid(?:er|est)', ['length'], 'most'],
    ['big(?:ger|gest)|larg(?:er|est)|more spacious|more space', ['area', 'room', 'length', 'weight'], 'most'],
    ['small(?:er|est)', ['area', 'room', 'length', 'weight'], 'least'],
    ['(?:strong|more powerful)(?:er|est)?', ['power'], 'most'],
    ['high(?:er|est)', ['money', 'length', 'share'], 'most'],
    ['low(?:er|est)', ['money', 'length', 'share'], 'least'],
  ] as const
).map(([words, dimensions, pick]) => [
  new RegExp(`\\b(?:${words})\\b`, 'iu'),
  { kind: 'quantity', dimensions } as const,
  pick,
]);

const COUNTED =
  /\b(?<more>more|most|fewer|fewest|less|least|(?:a )?(?:larger|bigger|greater|higher|smaller|lower)(?: number of)?) (?<noun>\p{Ll}[\p{L}-]*(?: \p{Ll}[\p{L}-]*)?)/iu;
const ORIGIN =
  /\b(?:born|founded|established|formed|created|invented|incorporated|set up|originated?|built|constructed)\b/iu;
const EARLIER = /\b(?:first|earlier|earliest|sooner|soonest|before)\b/iu;
const LATER = /\b(?:last|later|latest|after|second|more recent(?:ly)?)\b/iu;
const NOT_COUNTED = new Set([
  'expensive',
  'recently',
  'recent',
  'popular',
  'famous',
  'often',
  'than',
  'important',
  'likely',
]);

/** What else a comparative may compare by, when texts do not tell the first: who is faster needs less time. */
const OTHERWISE: readonly (readonly [RegExp, Comparative])[] = [
  [/\b(?:fast|quick|soon)(?:er|est)\b/iu, { measure: { kind: 'quantity', dimensions: ['duration'] }, pick: 'least' }],
  [/\bslow(?:er|est)\b/iu, { measure: { kind: 'quantity', dimensions: ['duration'] }, pick: 'most' }],
  [/\b(?:bigger|biggest|larger|largest)\b/iu, { measure: { kind: 'count', noun: 'people' }, pick: 'most' }],
  [/\b(?:smaller|smallest)\b/iu, { measure: { kind: 'count', noun: 'people' }, pick: 'least' }],
];
/** What has been so for longer began earlier. */
const LASTING = /\b(?:known|lived|worked|been|had|owned|used|married|existed)\b.*\blonger\b/iu;

/** Returns what a predicate such as `has more employees` or `was founded first` may compare by, likeliest first; empty when it does not compare. */
export function measuresOf(predicate: string): readonly Comparative[] {
  const first = LASTING.test(predicate)
    ? ({ measure: { kind: 'origin' }, pick: 'least' } as const)
    : measureOf(predicate);
  const others = OTHERWISE.flatMap(([pattern, comparative]) => (pattern.test(predicate) ? [comparative] : []));
  return first === null ? others : [first, ...others];
}

function measureOf(predicate: string): Comparative | null {
  for (const [pattern, measure, pick] of ADJECTIVES) {
    if (!pattern.test(predicate)) continue;
    const noun = /\b(?:larger|bigger|greater|higher|smaller|lower) (?:number of )?(\p{Ll}+)$/iu.exec(predicate)?.[1];
    return { measure: noun === undefined ? measure : { kind: 'count', noun }, pick };
  }
  if (/\b(?:older|elder|oldest|eldest)\b/iu.test(predicate)) return { measure: { kind: 'origin' }, pick: 'least' };
  if (/\b(?:younger|youngest|newer|newest)\b/iu.test(predicate)) return { measure: { kind: 'origin' }, pick: 'most' };
  const counted = COUNTED.exec(predicate)?.groups;
  const noun = contentWords(counted?.['noun'] ?? '').find((word) => !NOT_COUNTED.has(word));
  if (counted !== undefined && noun !== undefined) {
    const isLess = /^(?:fewer|fewest|less|least)|smaller|lower/iu.test(counted['more'] ?? '');
    return { measure: { kind: 'count', noun }, pick: isLess ? 'least' : 'most' };
  }
  const pick = EARLIER.test(predicate) ? 'least' : LATER.test(predicate) ? 'most' : null;
  if (pick === null) return null;
  if (ORIGIN.test(predicate)) return { measure: { kind: 'origin' }, pick };
  const verbs = contentWords(predicate).filter((word) => !TIME_WORD.test(word));
  return { measure: { kind: 'time', verbs }, pick };
}

const TIME_WORD = /^(?:first|last|early|earlier|earliest|late|later|latest|soon|sooner|second|recent|recently)$/u;
