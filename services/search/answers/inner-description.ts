import { STOP_WORDS } from '../../common/text/language/stop-words.ts';
import { placeTable } from '../../common/text/places/place-table.ts';
import { wordSenses } from '../../common/text/words/word-senses.ts';
import { mostOfKind } from '../retrieval/word-likeness.ts';
import { directAnswer } from './direct-answer.ts';
import { contentWords, isNewTo, readQuestion } from './question.ts';
import { type ReadPassage, rankSentences, sentencesOf } from './rank-sentences.ts';
import { spansOf } from './spans.ts';
import { isPerson } from './word-kinds.ts';

/** Words of a question that describe somebody or something without the name: `the director of Inception`. */
interface Description {
  /** What it describes: `director`. */
  readonly noun: string;
  /** The question that asks for the name. */
  readonly question: string;
  /** The question before and after it. */
  readonly around: readonly [string, string];
}

const NOUNS = '(?:\\p{Ll}[\\p{L}-]* ){0,2}?\\p{Ll}[\\p{L}-]*';
const NAME = "[\"“'‘]?[\\p{Lu}\\d][\\p{L}\\p{N}'’.&-]*[\"”'’]?";
const NAMES = `${NAME}(?:,? (?:(?:of|the|and|de|la|du|der|und|y|et|van|in|on|for|to|a|&) ){0,2}${NAME})*`;
const WHERE = new RegExp(
  `\\bthe (?:same )?(${NOUNS}) (where|(?:in|at|on|from|for|with|to|by) (?:which|whom)) (.+)$`,
  'u',
);
const WHO = new RegExp(`\\bthe (?:same )?(${NOUNS}) (?:that|which|who|whom) (.+)$`, 'u');
/** `the company Ana works for`, `the city Baure is located in`. */
const BARE = new RegExp(
  `\\bthe (?:same )?(${NOUNS}) (?=(?:${NAME}|my|our|the|I|we) )(.+ (?:in|at|for|from|with|to|on|by|of|\\p{Ll}+s|\\p{Ll}+ed))$`,
  'u',
);
/** The same before the words of the question around it: `the company Novair is part of dissolve`. */
const WITH_NAME = new RegExp(
  `\\bthe (?:same )?(${NOUNS}) ((?:${NAMES}|I|we) (?:(?:is|was|am) (?:an? )?(?:part of|from|located in|based in|in|born in|citizen of|member of)|(?:lives?|lived|died|works?|worked|plays?|played|studied|grew up|moved|comes?) (?:in|for|at|to|from)))( (?!before|after|in|during|from|with)\\p{Ll}.*|)$`,
  'u',
);
const CONTAINING = new RegExp(`\\bthe (${NOUNS}) (?:containing|including) (${NAMES})(.*)$`, 'u');
const OF = new RegExp(
  `\\b(?:the|a|an) (\\p{Ll}+ of (?:birth|origin)|${NOUNS}) (of|behind) (?=((?:the |an? |my |our )?${NAMES}|(?:my|our|the) )(.*)$)`,
  'gu',
);
const OF_OWNER = new RegExp(
  `(?<![\\p{L}])(${NAMES})['’]s (\\p{Ll}+ of (?:birth|origin)|birth \\p{Ll}+|${NOUNS})(?= \\p{Ll}|$)`,
  'u',
);
const ASKED_AHEAD = /\b(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would) $/iu;
const MAX_LENGTH = 300;
/** What a thing has one of, as a value: it is asked for, and describes nothing else. */
const VALUES =
  /^(?:name|date|day|year|month|time|population|number|price|cost|colou?r|age|title|size|height|length|weight|rest|end|beginning|start|part|side|kind|type|sort|first|last|most|best|one|two|both|use|purpose|reason|result|meaning|history|amount|status|goal|topic|theme|subject|term|citizenship|ranking|rank|birth|address|email|nationality|birthday|job|opinion|phone|spelling|translation|capacity|area|debt|load)s?$/u;

/** Returns the innermost description of a question that asks for more than its name; null without one. */
export function descriptionOf(question: string): Description | null {
  const text = question.trim().replace(/(?<![?.!\s])[?.!\s]+$/u, '');
  if (text.length > MAX_LENGTH || !/ the |['’]s /u.test(text)) return null;
  const found = ofName(text) ?? whereClause(text) ?? whoClause(text) ?? bareClause(text) ?? ofOwner(text);
  return found !== null && hasMore(found) ? found : null;
}

/** Whether a question asks for more than what a description names. */
function hasMore({ around: [before, after] }: Description): boolean {
  const words = contentWords(`${before} ${after}`).filter((word) => !ASKS_NAME.test(word));
  return words.length > 0 || /\bwhere (?:is|are|does|do) $/iu.test(before);
}

const ASKS_NAME = /^(?:name|names|called|many|much|kind|type)$/u;

/** `the director of Inception`; what follows the name belongs to the question around it. */
function ofName(text: string): Description | null {
  let last: RegExpExecArray | null = null;
  for (const match of text.matchAll(OF)) last = match;
  if (last === null) return null;
  const [, noun = '', preposition = '', named = '', behind = ''] = last;
  // `Ana's employer` is the inner description.
  if (/['’]s$/u.test(named)) return null;
  const before = text.slice(0, last.index);
  const isNamed = !/^(?:my|our|the) $/u.test(named);
  // In `the boss of the company that made it` the clause is the inner description.
  if (!isNamed && CLAUSE.test(behind)) return null;
  const [name, after] = isNamed ? [named, behind] : splitAtVerb(`${named}${behind}`, ASKED_AHEAD.test(before));
  const birth = BIRTH.exec(noun);
  if (birth !== null) return bornIn(birth, name, [before, after]);
  const head = headOf(noun);
  // What is behind a clause (`the city where the painter of the picture lives`) is of the clause.
  if (VALUES.test(head) || /^,/u.test(after) || isPlaceAsked(head, before, after)) return null;
  return { noun: head, question: questionFor(head, `the ${noun} ${preposition} ${name}`), around: [before, after] };
}

/** How sure a noun must be that of a company, which is somewhere and has a name. */
const MIN_COMPANY = 0.5;

/** Whether nothing but the place of a thing is asked for: of the head office of a company, but not of its maker. */
function isPlaceAsked(noun: string, before: string, after: string): boolean {
  return (
    after === '' &&
    /\bwhere (?:is|are|was|were) $/iu.test(before) &&
    !isPerson(noun) &&
    mostOfKind('company', [noun]) < MIN_COMPANY
  );
}

const CLAUSE = /\b(?:where|that|which|who|whom)\b| \p{Lu}/u;
/** `city of birth`, `birthplace`, `birth country`, with the kind of place. */
const BIRTH =
  /^(?:(city|town|place|country|state|county) of (?:birth|origin)|birth ?(place|country|city|town|state)|home ?town)$/u;

function bornIn(birth: RegExpExecArray, name: string, around: readonly [string, string]): Description {
  return { noun: birth[1] ?? birth[2] ?? 'town', question: `Where was ${name} born?`, around };
}

const headOf = (noun: string) => noun.split(' ').at(-1) ?? noun;

function questionFor(head: string, phrase: string): string {
  return isPerson(head) ? `Who is ${phrase}?` : `What is ${phrase}?`;
}

/** Splits `the picture above the sofa lives` before the verb of the question around it. */
function splitAtVerb(text: string, isAskedAhead: boolean): readonly [string, string] {
  const words = text.trim().split(/\s+/u);
  const isVerb = (word: string) => {
    const { noun, verb } = wordSenses().partsOf(wordSenses().row(word.toLowerCase()));
    return (
      /^(?:is|was|are|were|has|had)$/u.test(word) ||
      (/^\p{Ll}/u.test(word) && verb > 0.4 && (verb > noun || isAskedAhead || /[^s]s$/u.test(word)))
    );
  };
  const at = words.findIndex((word, index) => index >= 2 && !STOP_WORDS.has(word) && isVerb(word));
  return at < 0 ? [text.trim(), ''] : [words.slice(0, at).join(' '), ` ${words.slice(at).join(' ')}`];
}

/** `the city where Ana works`, `the company for which she works`. */
function whereClause(text: string): Description | null {
  const found = WHERE.exec(text);
  if (found === null) return null;
  const [, noun = '', word = '', whole = ''] = found;
  const before = text.slice(0, found.index);
  const [clause, after] = endOfClause(whole, ASKED_AHEAD.test(before) || / when $/u.test(before));
  const preposition = word === 'where' ? 'in' : (word.split(' ')[0] ?? 'in');
  const asked = isPerson(headOf(noun)) ? `${capital(preposition)} whom` : `${capital(preposition)} which ${noun}`;
  return { noun: headOf(noun), question: `${asked} ${inverted(clause)}?`, around: [before, after] };
}

const CLAUSE_WITH_REST = new RegExp(
  `^(.+? (?:(?:is|was|are|were) (?:located|situated|based|born|fought|held|set|filmed|found)|lives|lived|works|worked|died)|${NAMES} is)( \\p{Ll}.*)$`,
  'u',
);

/** Splits `Baure is located named after` before the words of the question around it. */
function endOfClause(clause: string, isVerbBehind: boolean): readonly [string, string] {
  const [, own, rest = ''] = CLAUSE_WITH_REST.exec(clause) ?? [];
  const isOfClause = /^ (?:in|at|for|on|with|to|from|during|and|as|by|of|\p{Ll}+(?:ing|ly))(?= |$)/u.test(rest);
  return own === undefined || isOfClause || !isVerbBehind ? [clause, ''] : [own, rest];
}

/** `the company that made my dishwasher`, `the person whom Ana called`. */
function whoClause(text: string): Description | null {
  const found = WHO.exec(text);
  if (found === null) return null;
  const [, noun = '', clause = ''] = found;
  return {
    noun: headOf(noun),
    question: `${askedBy(noun)} ${clauseOf(clause)}?`,
    around: [text.slice(0, found.index), ''],
  };
}

function bareClause(text: string): Description | null {
  const [phrase = '', container = '', held = '', behind = ''] = CONTAINING.exec(text) ?? [];
  if (container !== '') {
    const before = text.slice(0, text.indexOf(phrase));
    return { noun: headOf(container), question: `In which ${container} is ${held}?`, around: [before, behind] };
  }
  const found = WITH_NAME.exec(text) ?? BARE.exec(text);
  if (found === null) return null;
  const [, noun = '', clause = '', rest = ''] = found;
  if (VALUES.test(headOf(noun))) return null;
  const question = `${askedBy(noun)} ${inverted(clause)}?`;
  return { noun: headOf(noun), question, around: [text.slice(0, found.index), rest] };
}

const askedBy = (noun: string) => (isPerson(headOf(noun)) ? 'Who' : `Which ${noun}`);

/** A clause whose subject is what is described stays; one with a subject of its own is turned round. */
const clauseOf = (clause: string) =>
  new RegExp(`^(?:${NAME}|my|our|the|I|we|he|she|they) `, 'u').test(clause) ? inverted(clause) : clause;

const AUXILIARY = /^(?:is|are|was|were|has|have|had|can|could|will|would)$/u;

/** `does Ana work` of `Ana works`, `is Baure located` of `Baure is located`. */
function inverted(clause: string): string {
  const words = clause.split(' ');
  const auxiliary = words.findIndex((word, at) => at > 0 && AUXILIARY.test(word));
  if (auxiliary > 0) return [words[auxiliary], ...words.slice(0, auxiliary), ...words.slice(auxiliary + 1)].join(' ');
  const isVerb = (word: string) => wordSenses().partsOf(wordSenses().row(word)).verb > 0.4;
  const verb = words.findIndex((word, at) => at > 0 && /^\p{Ll}/u.test(word) && !STOP_WORDS.has(word) && isVerb(word));
  if (verb < 0) return clause;
  const word = words[verb] ?? '';
  const plain = /[^s]s$/u.test(word) ? word.replace(/(?<=[^aeiou])ies$/u, 'y').replace(/s$/u, '') : word;
  const help = plain !== word ? 'does' : /ed$/u.test(word) ? 'did' : 'do';
  return [help, ...words.slice(0, verb), plain, ...words.slice(verb + 1)].join(' ');
}

/** The nouns at the beginning of a text: ` office` of `Norvik's head office`. */
function leadingNouns(text: string): string {
  const isNoun = (word: string) => {
    const { noun, verb } = wordSenses().partsOf(wordSenses().row(word));
    return !STOP_WORDS.has(word) && noun > verb;
  };
  const words = /^(?: \p{Ll}+)+/u.exec(text)?.[0].trim().split(' ') ?? [];
  const end = words.findIndex((word) => !isNoun(word));
  return words
    .slice(0, end < 0 ? words.length : end)
    .map((word) => ` ${word}`)
    .join('');
}

/** `Minka's vet`, `Inception's director`. */
function ofOwner(text: string): Description | null {
  const found = OF_OWNER.exec(text);
  if (found === null) return null;
  const [phrase, name = '', first = ''] = found;
  const behind = text.slice(found.index + phrase.length);
  const noun = first + leadingNouns(behind);
  const head = headOf(noun);
  const around = [text.slice(0, found.index), behind.slice(noun.length - first.length)] as const;
  const birth = BIRTH.exec(noun);
  if (birth !== null) return bornIn(birth, name, around);
  if (VALUES.test(head) || isPlaceAsked(head, ...around)) return null;
  return { noun: head, question: questionFor(head, `the ${noun} of ${name}`), around };
}

const capital = (word: string) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`;

const COUNTRY = /^(?:country|nation)$/u;
const STATE = /^(?:state|province|region|county|island|continent)$/u;

/** Returns the name that the answer to the question of a description gives; null when it gives none or several. */
export function nameFor(
  { noun, question }: Description,
  { short, sentence }: { readonly short: string | null; readonly sentence: string },
): string | null {
  const { levels } = placeTable();
  const places = (text: string) =>
    spansOf(text, ['name'])
      .flatMap((span) => span.text.split(/,\s*| of (?=\p{Lu})/u))
      .map((name) => name.replace(/^the /iu, ''));
  const ofLevel = (level: 'country' | 'region') => {
    const found = [short ?? '', sentence].map((text) => places(text).filter((name) => levels(name).includes(level)));
    return found.find((names) => names.length > 0)?.[0] ?? null;
  };
  if (COUNTRY.test(noun)) return ofLevel('country');
  const beside = new RegExp(`(${NAME}(?: ${NAME})*) ${capital(noun)}(?!\\p{L})`, 'u').exec(sentence);
  if (STATE.test(noun)) return beside?.[0] ?? ofLevel('region');
  const isNew = (name: string) =>
    contentWords(name).some(isNewTo(question)) &&
    // `a Portuguese chef` has no name.
    !new RegExp(`\\ban? ${RegExp.escape(name)}(?!\\p{L})`, 'u').test(sentence);
  // `the lamp of the vault in London` tells where the vault is, and not what it is called.
  const isPlace = (start: number) =>
    !/^(?:where|\p{L}+ which)\b/iu.test(question) && /\b(?:in|at|on|near) $/u.test(sentence.slice(0, start));
  if (short !== null)
    return /^[\p{Lu}\d]/u.test(short) && isNew(short) && !isPlace(sentence.indexOf(short)) ? short : null;
  const spans = spansOf(sentence, ['name']).filter(({ text, start }) => isNew(text) && !isPlace(start));
  const names = [...new Set(spans.map(({ text }) => text))];
  return names.length === 1 ? (names[0] ?? null) : null;
}

/** Sentences of which one may answer a question at once. */
const SENTENCES_READ = 3;
/** Maximum share of the question's information that it may miss. */
const MAX_MISSING = 0.15;

/** Whether one sentence, or what is said plainly of a person, answers all of a question, so that no description in it needs to be resolved. */
export function isToldAtOnce(question: string, passages: readonly ReadPassage[]): boolean {
  if (directAnswer(question, passages) !== null) return true;
  const ranked = rankSentences(sentencesOf(readQuestion(question), passages));
  return ranked.slice(0, SENTENCES_READ).some(({ features }) => features.missing <= MAX_MISSING);
}
