import { keptByText } from '../../common/kernel/recently-used.ts';
import { STOP_WORDS } from '../../common/text/language/stop-words.ts';
import { stemOf, tokenizeQuery } from '../../common/text/language/tokenize.ts';
import { everydayWords } from '../../common/text/words/everyday-words.ts';
import { wordSenses } from '../../common/text/words/word-senses.ts';
import { isVerb } from './word-kinds.ts';

/** The type of answer that a question asks for. `thing`: anything else. `topic`: asks for nothing in particular, such as words to search for. */
export type AnswerType = 'person' | 'date' | 'number' | 'place' | 'yes-no' | 'reason' | 'way' | 'thing' | 'topic';

export interface Question {
  readonly text: string;
  readonly type: AnswerType;
  /** The kind of thing that is asked for, in lower case: `band` of "Which band played?"; null when none is named. */
  readonly focus: string | null;
  readonly terms: readonly QuestionTerm[];
  /** Stems of what is no answer: `Kyoto` of "Which city besides Kyoto?". */
  readonly excluded: ReadonlySet<string>;
}

export type Asked = Pick<Question, 'text' | 'type'>;

interface QuestionTerm {
  /** A token as `tokenizeQuery` returns it. */
  readonly term: string;
  /** The words of the question that it stands for, in lower case, and those that say the same as a phrase that begins with one. */
  readonly words: readonly string[];
}

/** The first match in the question wins, among several there the first here. English, German, Spanish, French. */
const TYPES: readonly (readonly [AnswerType, RegExp])[] = [
  [
    'yes-no',
    /^(?:is|are|was(?! (?:ist|sind|war|waren|wird|wurden?|hat|haben?|hatten?|kann|können|muss|soll|will|macht|kostet|bedeutet|heißt|steht|gibt|passiert)\b)|were|am|do|does|did|can|could|has|have|had|will|would|should|shall|may|must|ist|sind|war|waren|hat|haben|kann|est-ce)\s/u,
  ],
  ['date', /\bhow long ago\b/u],
  [
    'number',
    /\bhow (?:many|much|long|old|far|tall|high|big|large|deep|wide|heavy|fast|often)\b|\bwhat (?:is|was|are) .{2,60}\bphone number\b|\b(?:what|which) (?:number|percentage|price|size|age|amount)\b|\bwhat (?:do|does|did|will|would) .{2,60} (?:cost|weigh|earn)\b(?! (?:me|us) my)|\bwhat(?: (?:is|was|are|were)|['’]s) (?:the|my|our|his|her|their) (?:(?:max(?:imum)?|min(?:imum)?|hourly|daily|weekly|monthly|yearly|annual|total|current|average|highest|lowest|starting|usual|regular|normal|full|net|gross) )*(?:prices?|costs?|fees?|rents?|salary|wages?|weight|height|length|width|depth|speed|distance|budget|deposit|discount|population|deductible|mileage)\b|\bwie ?(?:viele?[mnrs]?|lange|alt|weit|hoch)\b|\bcu[aá]nt[oa]s?\b|\bcombien\b/u,
  ],
  [
    'date',
    /\bwhen\b|\b(?:what|which) (?:year|date|day|month|time|century|decade)\b|\bwann\b|\bin welchem jahr\b|\bcu[aá]ndo\b|\bquand\b|\bquelle ann[ée]e\b|\bum wie ?viel uhr\b|\ba qu[eé] hora\b|\b[àa] quelle heure\b/u,
  ],
  ['person', /\b(?:who|whom|whose|wer|wen|wem|wessen|qui[eé]n(?:es)?)\b|^qui\b/u],
  [
    'place',
    /\bwhere\b|\b(?:what|which) (?:country|city|state|place|town|continent|river|county|island|province|region|location|street|village)\b|\bwo(?:her|hin)?\b|\bd[oó]nde\b|\boù\b/u,
  ],
  [
    'reason',
    /\bwhy\b|\bwhat (?:(?:is|was) the (?:root )?cause|(?:has |had )?caused)\b|\bhow come\b|\bwarum\b|\bweshalb\b|\bpor qu[eé]\b|\bpourquoi\b/u,
  ],
  ['thing', /\bwhat|\bwhich\b|\bwas\s|\bwelche|\bqu[eé]\b|\bcu[aá]l|\bquel/u],
  ['way', /\bhow\b|\bwie\b|\bc[oó]mo\b|\bcomment\b/u],
];

const FOCUS =
  /\b(?:what|which)(?:\s+(?:is|are|was|were)|['’]s)?\s+(?:the\s+|my\s+|our\s+|your\s+)?(?:(?:names?|types?|kinds?|sorts?|pieces?|items?) (?:of|for) (?:the\s+|an?\s+|my\s+|our\s+)?)?((?:\p{L}+\s+){0,3}\p{L}+)/iu;

/** Alternatives of expressions. */
export const AUXILIARIES = 'is|are|was|were|do|does|did|can|could|has|have|had|will|would|should';
export const QUESTION_WORDS = 'what|which|who|whom|whose|when|where|why|how';
/** Also `Am I …` and `Did you …`, with no question word. */
export const ENGLISH_QUESTION = new RegExp(`\\b(?:${QUESTION_WORDS})\\b|^(?:am|${AUXILIARIES})\\s`, 'iu');
const AUXILIARY = new RegExp(`\\b(?:${AUXILIARIES})\\b`, 'iu');

/** The last word of the phrase that names the kind of thing: `instrument` of "Which musical instrument do I play?". */
function focusOf(text: string): string | null {
  const found = FOCUS.exec(text);
  const words = found?.[1]?.toLowerCase().split(/\s+/u) ?? [];
  const end = words.findIndex((word, at) => STOP_WORDS.has(word) || (at > 0 && isVerb(word)));
  const phrase = words.slice(0, end < 0 ? words.length : end);
  const last = phrase.at(-1);
  // `Which feline naps where I type?` has no other verb.
  const isVerbLast = end > 1 && last !== undefined && !AUXILIARY.test(text.slice(found?.index)) && mayBeVerb(last);
  return (isVerbLast ? phrase.at(-2) : last) ?? null;
}

function mayBeVerb(word: string): boolean {
  const row = wordSenses().row(word);
  return row < 0 ? /(?:s|ed)$/u.test(word) : wordSenses().partsOf(row).verb > 0;
}

const EXCLUSION =
  /,? (?:besides|other than|apart from|aside from|except(?: for)?|außer|à part|sauf|además de) ((?:(?:the|my|our|der|die|das|le|la) )?\p{Lu}[\p{L}\p{N}'’-]*(?: (?:(?:and|or|of|und|et|y) )?(?:the )?\p{Lu}[\p{L}\p{N}'’-]*)*|(?:the|my|our) (?!(?:one|ones)\b)(?:(?!(?:where|that|which|who)\b)\p{L}+ ?){1,4}?(?= (?:are|is|do|does|did|has|have|had|was|were|will|can)\b|[,?.]|$)),?/u;

/** Returns a question without what it says is no answer, and the stems of that. */
export function withoutExclusion(text: string): { readonly rest: string; readonly excluded: ReadonlySet<string> } {
  const found = EXCLUSION.exec(text);
  const words = found === null ? [] : contentWords(found[1] ?? '');
  return { rest: found === null ? text : text.replace(found[0], ''), excluded: new Set(words.map(stemOf)) };
}

/** Asks for a time of the day. */
export const asksForTimeOfDay = ({ text }: Pick<Question, 'text'>): boolean =>
  /\b(?:what|which) time\b(?! of (?:the )?(?:year|month))|\bum wie ?viel uhr\b|\ba qu[eé] hora\b|\b[àa] quelle heure\b/iu.test(
    text,
  );

/** The subject behind a French verb: `récolte-t-on`, `ouvrent-ils`. */
const INVERTED = /(?<=\p{L})-(?:t-(?=il|elle|on))?((?:ils?|elles?|vous)|(?<=-t-)on)(?![\p{L}-])/giu;

/** Words of the longest phrase. */
const MAX_PHRASE = 3;

export function readQuestion(whole: string): Question {
  const { rest, excluded } = withoutExclusion(whole);
  const text = rest.replace(INVERTED, ' $1');
  const lower = text.toLowerCase().trim();
  const all = wordsOf(lower);
  const words = [...new Set(all)];
  // The first word of `in charge of` that says something stands for it.
  const phrases = Map.groupBy(
    all.flatMap((_, at) => {
      const word = all.slice(at, at + MAX_PHRASE).find((one) => !STOP_WORDS.has(one)) ?? '';
      return everydayWords()
        .phrasesAt(all, at)
        .map((says) => ({ word, says }));
    }),
    ({ word }) => word,
  );
  const terms = tokenizeQuery(text).map((term) => {
    const own = words.filter((word) => word === term || stemOf(word) === term);
    const said = own.flatMap((word) => (phrases.get(word) ?? []).map(({ says }) => says));
    return { term, words: [...new Set([...own, ...said])] };
  });
  return { text, type: typeOf(lower), focus: focusOf(text), terms, excluded };
}

function typeOf(question: string): AnswerType {
  let found: AnswerType = 'topic';
  let first = Number.POSITIVE_INFINITY;
  for (const [type, pattern] of TYPES) {
    const at = question.search(pattern);
    if (at < 0 || at >= first) continue;
    [found, first] = [type, at];
  }
  return found;
}

/** Where the link that a word of a page is leads to: `the handbook (https://…)` */
const LINK_TARGET = / ?\((?:https?:\/\/|mailto:)[^\s()]*(?:\([^\s()]*\)[^\s()]*)*\)/giu;

/** Returns a text of a page without the addresses that its links lead to, which stand behind their words. */
export const withoutLinkTargets = (text: string): string =>
  text.includes('(http') || text.includes('(mailto:') ? text.replace(LINK_TARGET, '') : text;

/** Whether a question asks for an address. */
export const asksForLink = (question: string): boolean =>
  /\b(?:urls?|links?|web ?(?:site|page)s?|home ?page|addresse?s?|online|repo(?:sitory)?|download)\b/iu.test(question);

/** Questions, and sentences of the passages that answer many of them. */
const CACHED_TEXTS = 3000;

/** Returns the words of a text in lower case, without possessive endings. */
export const wordsOf = keptByText(CACHED_TEXTS, (text): readonly string[] => {
  const words =
    withoutLinkTargets(text)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*/gu) ?? [];
  return words.map((word) => word.replace(/['’]s$/u, ''));
});

/** Past forms that have the stem of another verb: `found` is no form of `founded`. */
const HOMOGRAPHS: ReadonlyMap<string, string> = new Map([['found', 'find']]);

/** Returns another form of a word that has the stem of another one. */
export const unmistaken = (word: string): string => HOMOGRAPHS.get(word) ?? word;

/** Returns the words of a text that are no stop words, and the everyday phrases in it. */
export const contentWords = keptByText(CACHED_TEXTS, (text): readonly string[] => {
  const words = wordsOf(text).map(unmistaken);
  return [...words, ...everydayWords().phrasesIn(words)].filter((word) => !STOP_WORDS.has(word));
});

/** Returns the words of a text that are no stop words, as they are. */
export const withoutStopWords = (text: string): readonly string[] =>
  wordsOf(text).filter((word) => !STOP_WORDS.has(word));

/** Returns what tells whether a word is no stop word and none of a text, in any form. */
export function isNewTo(text: string): (word: string) => boolean {
  const known = new Set(wordsOf(text).map(stemOf));
  return (word) => !STOP_WORDS.has(word) && !known.has(stemOf(word));
}

/** Returns words that say the same as the phrase of a question that a word stands for: `manage` for `responsible` of `responsible for`. */
export function phraseWords({ terms }: Pick<Question, 'terms'>, text: string, word: string): readonly string[] {
  const term = terms.find(({ words }) => words.length > 1 && words.includes(word));
  return term === undefined ? [] : term.words.filter((one) => one !== word && !wordsOf(text).includes(one));
}
