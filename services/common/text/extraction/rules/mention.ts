import { isCommonWord } from '../../language/common-words.ts';
import { dates } from '../../language/dates.ts';
import { type NameKind, type NameMention, namesInSentence } from '../../language/names.ts';
import type { Sentence } from '../../language/sentences.ts';
import { wordSenses } from '../../words/word-senses.ts';
import { isGivenName } from './entity-type.ts';
import { type ForeignLanguage, foreignLanguages, germanName, streetBefore } from './foreign.ts';
import { PLACES } from './gazetteer.ts';
import { hasSpacedHyphens, repairNames } from './mention-repair.ts';
import type { TaggedWord } from './tagger.ts';
import { NAME_TITLES, ROLE_TITLES } from './type-words.ts';

/** Where a sentence names something. Offsets are those of the sentence's text. */
export interface Mention {
  /** The name as written, blanks unified; for dates the normalised name. */
  readonly surface: string;
  /** `surface` without a rank in front: the spelling that identifies. */
  readonly name: string;
  /** The rank, lower case: `captain`. */
  readonly title: string | null;
  readonly kind: NameKind | 'date';
  readonly start: number;
  readonly end: number;
  /** An article in front, or its last word is an ordinary noun of the same text: a thing rather than a person. */
  readonly isThing: boolean;
  /** One ordinary word with a capital, or half of a compound: `Judges`, `Republican-majority legislature`. */
  readonly isWord: boolean;
  /** Lies inside a longer mention: `Belgrade` in `University of Belgrade`. */
  readonly isNested: boolean;
}

export interface AnalysedSentence {
  readonly sentence: Sentence;
  readonly words: readonly TaggedWord[];
  readonly mentions: readonly Mention[];
  /** Null: English, or unknown. */
  readonly language: ForeignLanguage | null;
}

const CODE =
  /^\s*(?:export |async )*(?:const|let|var|import|function|class|interface|def|return|await|public|private)\b[^.!?]*[=({;]|=>|[;{]\s*$|^\s*(?:[}\])]+[,;)]*\s*)$|^\s*(?:\$ |npm |curl |docker |kubectl )/mu;

/** A year with its preposition, and a pronoun that is a given name too. */
const NO_FOREIGN_NAME =
  /^(?:(?:En|Im|In|Seit|Ab|Desde|Depuis|Hasta) \d{4}|(?:El|Le|Am|Del|Au) \d{1,2}|Ella|Elle|Il|Él)$/u;

/** Words that open a sentence and end like this are no names. */
const NO_NAME_ENDING = /(?:ly|ing|ed|able|ible|ous|ful|less|ive|ness|tions?|ments?|est|[eo]u?rs|way)$/u;

/** Names and dates of each sentence; a capital at the start of a sentence counts when something else speaks for a name. */
export function analyseSentences(
  source: readonly Sentence[],
  tag: (sentence: string) => readonly TaggedWord[],
  knownNames: ReadonlySet<string>,
): AnalysedSentence[] {
  const found = source.map((sentence) => ({ sentence, words: tag(sentence.text), names: namesInSentence(sentence) }));
  const certain = new Set<string>(knownNames);
  const lowerCase = new Set<string>();
  for (const { sentence, names, words } of found) {
    for (const name of names) {
      // The command `ask` makes no name of `Ask`.
      const isCertain = !name.isUncertain && name.kind !== 'identifier' && !opens(name, sentence);
      if (isCertain) certain.add(name.text.toLowerCase());
    }
    for (const word of words) if (/^\p{Ll}/u.test(word.text)) lowerCase.add(word.text);
  }
  const spacedHyphens = hasSpacedHyphens(source);
  const languages = foreignLanguages(found.map(({ words }) => words));
  return found.map(({ sentence, words, names }, index) => {
    const language = languages[index] ?? null;
    const wordBefore = ({ start }: NameMention): string =>
      /(\S+)\s*$/u.exec(sentence.text.slice(0, start - sentence.start))?.[1] ?? '';
    const kept = names
      .flatMap((name) => {
        if (language === null || name.kind !== 'name') return [name];
        return language === 'de' ? withoutNouns(name, wordBefore(name)) : [withStreet(name, sentence)];
      })
      .filter((name) => {
        if (language !== null && NO_FOREIGN_NAME.test(name.text)) return false;
        if (!name.isUncertain) return true;
        // The tagger knows no other language.
        if (language !== null) return certain.has(name.text.toLowerCase()) || isGivenName(name.text.toLowerCase());
        return isNameAfterAll(name, sentence, words, certain, lowerCase);
      });
    if (isCode(sentence.text))
      return {
        sentence,
        words: [],
        mentions: names.filter(isIdentifier).map((name) => toMention(name, sentence, lowerCase)),
        language: null,
      };
    const own = repairNames(kept, sentence, { words, certain, lowerCase, spacedHyphens }).map((name) =>
      toMention(name, sentence, lowerCase),
    );
    const mentions = withDates(sentence, own.filter(isUseful));
    return { sentence, words: withoutVerbsInNames(words, mentions), mentions, language };
  });
}

/** `I use Procreate on my tablet`: a word of a name is no verb, unless it opens the sentence. */
function withoutVerbsInNames(words: readonly TaggedWord[], mentions: readonly Mention[]): readonly TaggedWord[] {
  const isVerbInName = ({ pos, text, start, end }: TaggedWord): boolean =>
    pos === 'VERB' &&
    start > 0 &&
    /^\p{Lu}\p{Ll}/u.test(text) &&
    mentions.some((one) => one.kind === 'name' && one.start <= start && end <= one.end);
  return words.some(isVerbInName)
    ? words.map((word) => (isVerbInName(word) ? { ...word, pos: 'PROPN' as const } : word))
    : words;
}

function withoutNouns(name: NameMention, before: string): NameMention[] {
  const text = germanName(name.text, before);
  return text === null ? [] : [{ ...name, text, start: name.start + name.text.lastIndexOf(text) }];
}

function withStreet(name: NameMention, { text, start }: Sentence): NameMention {
  const street = streetBefore(text.slice(0, name.start - start));
  return street === ''
    ? name
    : { ...name, text: street + name.text, start: name.start - street.length, isUncertain: false };
}

/** A line of a program: its words are no prose. */
function isCode(text: string): boolean {
  return CODE.test(text);
}

function isIdentifier({ kind }: NameMention): boolean {
  return kind === 'identifier';
}

/** Stands where every word has a capital. */
function opens(name: NameMention, sentence: Sentence): boolean {
  return name.start - sentence.start < 2;
}

function isNameAfterAll(
  name: NameMention,
  sentence: Sentence,
  words: readonly TaggedWord[],
  certain: ReadonlySet<string>,
  lowerCase: ReadonlySet<string>,
): boolean {
  const lower = name.text.toLowerCase();
  if (certain.has(lower)) return true;
  if (lowerCase.has(lower) || isCommonWord(lower) || NO_NAME_ENDING.test(lower) || isLexical(lower)) return false;
  const next = words.find((word) => word.start >= name.end - sentence.start && word.pos !== 'SPACE');
  // `Primitive greenhouses`, `Strange!`
  if (next?.pos === 'NOUN' || next?.text === '!') return false;
  // `Severity: high`
  if (next?.text === ':' && !isGivenName(lower)) return false;
  return words.some((word) => word.start === name.start - sentence.start && word.pos === 'PROPN');
}

/** Whether it can be a verb or is a noun in plural: `Lunch at noon`, `Purists leave it out`. A noun in singular may be a name. */
function isLexical(lower: string): boolean {
  const { row, partsOf } = wordSenses();
  const isPlural = lower.endsWith('s') && partsOf(row(lower.slice(0, -1))).noun > 0;
  return (isPlural || partsOf(row(lower)).verb > 0) && !isGivenName(lower) && !PLACES.has(lower);
}

function toMention(name: NameMention, sentence: Sentence, lowerCase: ReadonlySet<string>): Mention {
  const { start, end, kind, text } = name;
  const lead = sentence.text.slice(Math.max(0, start - sentence.start - 8), start - sentence.start);
  const last = text.slice(text.lastIndexOf(' ') + 1).toLowerCase();
  const isThing =
    /(?:^|[^\p{L}])(?:the|an?|this|these|those|our|its)\s$/iu.test(lead) || (text.includes(' ') && lowerCase.has(last));
  const isWord = kind === 'name' && isOrdinaryName(text.toLowerCase(), lowerCase);
  const offsets = { start: start - sentence.start, end: end - sentence.start, isThing, isWord, isNested: false };
  if (kind !== 'name') return { surface: text, name: text, title: null, kind, ...offsets };
  const before = sentence.text.slice(Math.max(0, offsets.start - 10), offsets.start);
  const address = /\b(Mr|Mrs|Ms|Dr|Prof|Mme|Sir|Miss)\.? $/u.exec(before)?.[1]?.toLowerCase() ?? null;
  const stripped = stripTitle(text);
  return { surface: text, ...stripped, title: stripped.title ?? address, kind, ...offsets };
}

function isOrdinaryName(lower: string, lowerCase: ReadonlySet<string>): boolean {
  if (lower.includes(' ') || isGivenName(lower) || PLACES.has(lower)) return false;
  const singular = lower.replace(/s$/u, '');
  return isCommonWord(lower) || isCommonWord(singular) || lowerCase.has(lower) || lowerCase.has(singular);
}

const NUMBERED_RULER =
  /^(King|Queen|Emperor|Empress|Pope|Duke|Prince|Sultan|Tsar) (\p{Lu}[\p{L}'’-]+ [IVX]+(?: of .+)?)$/u;

/** `Captain Ahab` → `Ahab`, `captain`; `King Carol I` is Carol I, `Queen Victoria` stays. A rank alone stays as it is. */
export function stripTitle(text: string): { readonly name: string; readonly title: string | null } {
  const numbered = NUMBERED_RULER.exec(text);
  if (numbered !== null) return { name: numbered[2] ?? text, title: (numbered[1] ?? '').toLowerCase() };
  const words = text.split(' ');
  let from = 0;
  while (from < words.length - 1 && ROLE_TITLES.has((words[from] as string).toLowerCase().replace('.', ''))) from++;
  const next = words[from] ?? '';
  // `Mayor of London`, `Commodore 64`, `General Motors` are names as they are.
  const isOffice = /^(?:of|for|de)$|^[^\p{L}]/iu.test(next) || isCommonWord(next.toLowerCase()) || next === 'Motors';
  if (from === 0 || isOffice) return { name: text, title: null };
  return { name: words.slice(from).join(' '), title: (words[from - 1] as string).toLowerCase().replace('.', '') };
}

/** An option or another piece of code with a place for a value: `X-Api-Key: …`, `--header "…"`. */
const PLACEHOLDER = /…|\.\.\.|^--\p{L}|[{}<>]/u;

function isUseful(mention: Mention): boolean {
  if (PLACEHOLDER.test(mention.name)) return false;
  const lower = mention.name.toLowerCase().replace(/\.$/u, '');
  if (mention.kind !== 'name') return mention.name.length > 1;
  return mention.name.length > 1 && !ROLE_TITLES.has(lower) && !NAME_TITLES.has(lower);
}

function withDates(sentence: Sentence, mentions: readonly Mention[]): Mention[] {
  const all: Mention[] = [...mentions];
  if (/\d/u.test(sentence.text)) {
    for (const date of dates(sentence.text)) {
      const overlaps = all.some(
        (other) => other.start < date.end && date.start < other.end && other.kind !== 'quantity',
      );
      if (overlaps) continue;
      for (const other of all.filter((one) => one.start < date.end && date.start < one.end))
        all.splice(all.indexOf(other), 1);
      const { name, start, end } = date;
      all.push({
        surface: name,
        name,
        title: null,
        kind: 'date',
        start,
        end,
        isThing: true,
        isWord: false,
        isNested: false,
      });
    }
  }
  all.sort((left, right) => left.start - right.start || right.end - left.end);
  let reach = -1;
  return all.map((mention) => {
    if (mention.end <= reach) return { ...mention, isNested: true };
    reach = mention.end;
    return mention;
  });
}
