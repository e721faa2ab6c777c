import { isCommonWord } from '../../language/common-words.ts';
import { CALENDAR_WORDS } from '../../language/name-words.ts';
import type { NameMention } from '../../language/names.ts';
import type { Sentence } from '../../language/sentences.ts';
import { STOP_WORDS } from '../../language/stop-words.ts';
import { wordSenses } from '../../words/word-senses.ts';
import { GERMAN_BODY, isCompany, isGivenName } from './entity-type.ts';
import { DEMONYMS, PLACES } from './gazetteer.ts';
import { isKnownProduct, mayBeProduct } from './known-products.ts';
import type { TaggedWord } from './tagger.ts';
import {
  isOffice,
  NOT_NAMES,
  OLD_WORDS,
  ORGANISATION_ENDINGS,
  PERSONAL_ADJECTIVES,
  ROLE_TITLES,
  TYPE_NOUNS,
} from './type-words.ts';

/** More capitalised words in a row are a table, a cast list or a heading that lost its line breaks. */
const MAX_NAME_WORDS = 7;
const NATION = new RegExp(`^(?:${[...DEMONYMS].join('|')}|\\p{L}+m[ae]n|Democrat|Republican)$`, 'iu');
const OFFICE_BEHIND_NATION =
  /^\p{L}+ (?:(?:Prime|Foreign|Vice|Deputy|Minister|President|Chancellor|Premier|King|Queen|Emperor|General|Senator|Dr\.?) )+(?=\p{Lu}\p{Ll}+ \p{L})/u;
const NICKNAME_GAP = /^ \(?$/u;

interface RepairContext {
  readonly words: readonly TaggedWord[];
  /** Names elsewhere in the text or known before, in lower case. */
  readonly certain: ReadonlySet<string>;
  /** Words the text writes without a capital. */
  readonly lowerCase: ReadonlySet<string>;
  /** The text has blanks around the hyphens of compounds, see `hasSpacedHyphens`. */
  readonly spacedHyphens: boolean;
}

/** Corrects names of one sentence that capitals alone recognise wrongly; offsets are those of the sentence's source. */
export function repairNames(names: readonly NameMention[], sentence: Sentence, context: RepairContext): NameMention[] {
  const joined = joinNicknames(joinGermanBodies(joinTwofold(names, sentence), sentence), sentence);
  return (context.spacedHyphens ? joinHyphenated(joined, sentence) : joined)
    .map(withoutElision)
    .map((name) => withoutWeekday(name, sentence))
    .map(withoutSeat)
    .map((name) => withoutOpening(withoutShouting(withoutNextSentence(name), sentence), sentence, context))
    .map(withoutOffice)
    .map(withoutRank)
    .map(withoutNation)
    .map(withoutPhone)
    .filter((name) => isName(name) && !isFieldName(name, sentence));
}

/** `Arno 0471`, in front of the rest of his telephone number. */
function withoutPhone(name: NameMention): NameMention {
  const number = name.kind === 'name' ? (/ 0\d+$/u.exec(name.text)?.[0] ?? '') : '';
  return { ...name, text: name.text.slice(0, name.text.length - number.length), end: name.end - number.length };
}

/** `Session ID: …` names a field. */
function isFieldName({ text, start, end }: NameMention, sentence: Sentence): boolean {
  return start === sentence.start && / (?:ID|UUID|URL|URI)$/u.test(text) && sentence.text[end - sentence.start] === ':';
}

/** `Max-Planck-Institut für Physik` */
function joinGermanBodies(names: readonly NameMention[], sentence: Sentence): NameMention[] {
  return joinPairs(
    names,
    (left, right) =>
      between(sentence, left, right) === ' für ' && GERMAN_BODY.test(left.text.split(' ').at(-1)?.toLowerCase() ?? ''),
    ' für ',
  );
}

/** `On Monday Tom Hill called`: the weekday is none of his names. */
function withoutWeekday(name: NameMention, sentence: Sentence): NameMention {
  const blank = name.text.indexOf(' ');
  const first = name.text.slice(0, blank);
  if (blank === -1 || !/^\p{L}+day$/u.test(first) || !CALENDAR_WORDS.has(first.toLowerCase())) return name;
  const at = name.start - sentence.start;
  if (!/\b(?:on|last|next|this|until|till|by|since)\s+$/iu.test(sentence.text.slice(Math.max(0, at - 12), at)))
    return name;
  return { ...name, text: name.text.slice(blank + 1), start: name.start + blank + 1 };
}

/** `Robert A. "Bob" Starr` is one name, and "Bob" no work. */
function joinNicknames(names: readonly NameMention[], sentence: Sentence): NameMention[] {
  const joined: NameMention[] = [];
  for (let at = 0; at < names.length; at++) {
    const [before, nick, after] = [names[at] as NameMention, names[at + 1], names[at + 2]];
    if (nick?.text === 'D.C.' && /Washington$/u.test(before.text) && between(sentence, before, nick) === ', ') {
      joined.push({ ...before, text: `${before.text}, D.C.`, end: nick.end });
      at += 1;
      continue;
    }
    const isNick =
      before.kind === 'name' &&
      nick?.kind === 'work' &&
      after?.kind === 'name' &&
      nick.text.split(' ').length < 3 &&
      NICKNAME_GAP.test(between(sentence, before, nick)) &&
      /^\)? $/u.test(between(sentence, nick, after));
    if (!isNick) {
      joined.push(before);
      continue;
    }
    joined.push({ ...before, text: `${before.text} ${after.text}`, end: after.end, isUncertain: false });
    at += 2;
  }
  return joined;
}

const SPACED_COMPOUND =
  /(?<![\p{L}\p{N}])(?:co|non|pre|post|anti|all|self|semi|multi|mid|well|re|by|up|sub|under|great|far|quasi|avant|singer|one|two|three|four|five|six|seven|eight|nine|ten|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|\d+(?:th|st|nd|rd)?|long|short|half|single|double|full|part|first|second|third|high|low|middle|ex|north|south|east|west) - \p{L}|\p{Ll} - (?:\p{Ll}+ed|year|day|born|century|old|time|style|language|speaking|like|level|scale|term|profit|winning|selling|running|playing|friendly|free|rich|driven|class|side|action|garde)(?!\p{L})/iu;

/** Whether a text was cut into words and put together again: `co - wrote`, `a five - year plan`. */
export function hasSpacedHyphens(sentences: readonly Sentence[]): boolean {
  return sentences.some(({ text }) => text.includes(' - ') && SPACED_COMPOUND.test(text));
}

/** `Faure - Favier` is one name in such a text, `French - German` are two. */
function joinHyphenated(names: readonly NameMention[], sentence: Sentence): NameMention[] {
  return joinPairs(
    names,
    (left, right) => between(sentence, left, right) === ' - ' && !(NATION.test(left.text) && NATION.test(right.text)),
    ' - ',
  );
}

/** `Song and Dance Ensemble`: ordinary nouns around the `and`, and the kind of body at the end. */
function joinTwofold(names: readonly NameMention[], sentence: Sentence): NameMention[] {
  return joinPairs(
    names,
    (left, right) => {
      const [last = '', first = '', head = ''] = [
        left.text.split(' ').at(-1)?.toLowerCase(),
        right.text.split(' ', 1)[0]?.toLowerCase(),
        right.text.split(' ').at(-1)?.toLowerCase(),
      ];
      return (
        between(sentence, left, right) === ' and ' &&
        right.text.includes(' ') &&
        ORGANISATION_ENDINGS.has(head) &&
        !ORGANISATION_ENDINGS.has(last) &&
        [last, first].every((word) => isCommonWord(word) && !isGivenName(word) && !NATION.test(word))
      );
    },
    ' and ',
  );
}

function joinPairs(
  names: readonly NameMention[],
  isOne: (left: NameMention, right: NameMention) => boolean,
  join: string,
): NameMention[] {
  const joined: NameMention[] = [];
  for (const name of names) {
    const before = joined.at(-1);
    if (before?.kind === 'name' && name.kind === 'name' && isOne(before, name))
      joined[joined.length - 1] = {
        ...before,
        text: `${before.text}${join}${name.text}`,
        end: name.end,
        isUncertain: false,
      };
    else joined.push(name);
  }
  return joined;
}

function between(sentence: Sentence, left: NameMention, right: NameMention): string {
  return sentence.text.slice(left.end - sentence.start, right.start - sentence.start);
}

/** `OF THE SHIP ELIZA Who`: function words in capitals belong to no name; the longest piece between them may be one. */
function withoutShouting(name: NameMention, sentence: Sentence): NameMention {
  const words = name.text.split(' ');
  const isShouted = words.length > 1 && words.filter((word) => /^\p{Lu}{2,}$/u.test(word)).length > 1;
  if (name.kind !== 'name' || !isShouted) return name;
  const pieces: string[][] = [[]];
  for (const word of words) {
    if (STOP_WORDS.has(word.toLowerCase()) || NOT_NAMES.has(word.toLowerCase())) pieces.push([]);
    else pieces.at(-1)?.push(word);
  }
  const longest = pieces.reduce((best, piece) => (piece.length > best.length ? piece : best), []);
  if (longest.length === words.length) return name;
  if (longest.length < 2) return { ...name, text: '' };
  const text = longest.join(' ');
  const at = sentence.text.indexOf(text, name.start - sentence.start);
  return at === -1
    ? { ...name, text: '' }
    : { ...name, text, start: sentence.start + at, end: sentence.start + at + text.length };
}

/** `Integration.Renowned Writer`: a blank was lost between two sentences. */
function withoutNextSentence(name: NameMention): NameMention {
  if (name.kind !== 'name' || !name.text.includes('.')) return name;
  const numbered = /^(.* (?:War|Part|Volume|Class|Type) [IVX]|.* [IVX])\. (\p{Lu}\p{L}*)/u.exec(name.text);
  const isNext =
    numbered !== null &&
    (/(?:War|Part|Volume|Class|Type) [IVX]$/u.test(numbered[1] ?? '') ||
      STOP_WORDS.has(numbered[2]?.toLowerCase() ?? ''));
  const cut = isNext ? (numbered?.[1]?.length ?? 0) - 1 : name.text.search(/\p{Ll}\.\p{Lu}\p{Ll}{2}/u);
  return cut === -1 ? name : { ...name, text: name.text.slice(0, cut + 1), end: name.start + cut + 1 };
}

/** `Herrajes del Sur S.L. de Sevilla` is Herrajes del Sur S.L. */
function withoutSeat(name: NameMention): NameMention {
  const at = name.text.search(/ (?:de|of|du|von|aus|in) [^.]*$/u);
  const text = name.text.slice(0, Math.max(0, at));
  return name.kind === 'name' && isCompany(text) ? { ...name, text, end: name.start + at } : name;
}

/** `d'Annie Ernaux` is Annie Ernaux. */
function withoutElision(name: NameMention): NameMention {
  const [elided, first = ''] = /^[dl]['’](\p{Lu}[\p{L}-]+)/u.exec(name.text) ?? [];
  if (elided === undefined || !isGivenName(first.toLowerCase())) return name;
  return { ...name, text: name.text.slice(2), start: name.start + 2 };
}

/** `Wise Stubb` and `Visiting Tokyo` at the start of a sentence are Stubb and Tokyo. */
function withoutOpening(
  name: NameMention,
  sentence: Sentence,
  { words, certain, lowerCase }: RepairContext,
): NameMention {
  const blank = name.text.indexOf(' ');
  const at = name.start - sentence.start;
  const isOfItem = at > 1 && OPENS_ITEM.test(sentence.text.slice(0, at));
  if (name.kind !== 'name' || blank === -1 || (at > 1 && !isOfItem)) return name;
  const first = name.text.slice(0, blank).toLowerCase();
  const rest = name.text.slice(blank + 1).replace(/^(?:\p{Ll}+ )+/u, '');
  if ((!isOfItem && certain.has(name.text.toLowerCase())) || PLACES.has(name.text.toLowerCase())) return name;
  if (isGivenName(first) || ROLE_TITLES.has(first)) return name;
  const isKnown = certain.has(rest.toLowerCase()) || PLACES.has(rest.toLowerCase()) || isGivenName(rest.toLowerCase());
  const isOrdinary =
    isCommonWord(first) ||
    lowerCase.has(first) ||
    PERSONAL_ADJECTIVES.has(first) ||
    /(?:ing|ed|ly|ous|ful)$/u.test(first);
  const second = rest.split(' ')[0]?.toLowerCase() ?? '';
  const isRole = (TYPE_NOUNS.get(first) === 'Person' && isGivenName(second)) || /^(?:mr|mrs|ms|dr)\.?$/u.test(second);
  const isVerb = /(?:ing|ed)$/u.test(first) && words.some((word) => word.start === at && word.pos === 'VERB');
  // `Put TLS in front of it`, but not `Kill Bill is a film`
  const isCommand =
    ((isCommonWord(first) && words.some((word) => word.start === at && word.pos === 'VERB')) || isMostlyVerb(first)) &&
    !isActing(words, name.end - sentence.start);
  // `- Enable Kafka clusters`, `--colors  Controls ANSI colors`
  const isDeed =
    isOfItem && isTechnicalName(rest) && isMostlyVerb(first.replace(/(?<=\p{L}{3})s$/u, ''), MIN_SHARE_IN_ITEM);
  const isPity = /^(?:poor|dear|wretched|wicked|mad|former)$/u.test(first) && !rest.includes(' ');
  if (
    !(isKnown && isOrdinary) &&
    !isVerb &&
    !isCommand &&
    !isDeed &&
    !isRole &&
    !isPity &&
    !OLD_WORDS.has(first.replace(/['’]/gu, ''))
  )
    return name;
  const start = sentence.text.indexOf(rest.split(' ')[0] ?? rest, at + blank);
  return { ...name, text: rest, start: start === -1 ? name.start : sentence.start + start };
}

/** `Install`: hardly ever a noun or an adjective. */
function isMostlyVerb(word: string, least = MIN_SHARE_OF_VERB): boolean {
  const senses = wordSenses();
  return !isGivenName(word) && senses.partsOf(senses.row(word)).verb >= least;
}

/** What stands before the first word of an item of a list, of a change by its kind, or of what an option of a command does. */
const OPENS_ITEM =
  /^[ \t]*(?:[-*•–]|\d{1,3}[.)])[ \t]+$|(?:^|[ \t])(?:feat|fix|fixes|chore|docs|refactor|perf|breaking|added|changed|removed|fixed|deprecated|security): $|^[ \t]*--?\p{L}.* {2,}$/iu;
/** Written as names of code are, in capitals, or of a known product: `IHeaders`, `AWS-IAM`, `Kafka`. */
const isTechnicalName = (name: string): boolean =>
  /^(?:\p{Lu}[\p{Lu}\d-]+|\p{L}*\p{Ll}\p{Lu}\p{L}*|\p{Lu}{2,}\p{Ll}\p{L}*)$/u.test(name) ||
  isKnownProduct(name) ||
  mayBeProduct(name);
/** The same where a verb is to be expected. */
const MIN_SHARE_IN_ITEM = 0.25;

/** Share of the senses of a word that are those of a verb. */
const MIN_SHARE_OF_VERB = 0.75;

/** Whether a verb follows. */
function isActing(words: readonly TaggedWord[], end: number): boolean {
  const next = words.find(({ start, pos }) => start >= end && pos !== 'ADV');
  return next?.pos === 'VERB' || next?.pos === 'AUX' || /^['’]s?$/u.test(next?.text ?? '');
}

/** `CEO of Globex`: the office is a noun. */
function withoutOffice(name: NameMention): NameMention {
  const [office = '', title = ''] = /^(\p{Lu}+) (?:of|at) /u.exec(name.text) ?? [];
  if (!isOffice(title)) return name;
  return { ...name, text: name.text.slice(office.length), start: name.start + office.length };
}

const RANK =
  /^(?:(?:Vice|Rear|Home|Prime|Foreign|Finance|Defen[cs]e|Deputy|Lieutenant|Attorney|Former|Acting|Associate|Chief|Brigadier|Major) |(\p{Lu}[\p{L}.]+ (?:\p{Lu}[\p{L}.]+ )?))(?:Governor|Minister|Admiral|General|Senator|Secretary|Mayor|Premier|Chancellor|Representative|Congressman|Justice|Professor|Colonel) (?=\p{Lu}[\p{L}.'’-]+(?: \p{Lu}|$))/u;

/** `Georgia Governor Jimmy Carter`, `Vice Admiral James Greer` */
function withoutRank(name: NameMention): NameMention {
  if (name.kind !== 'name') return name;
  const [rank = '', land] = RANK.exec(name.text) ?? [];
  const isRank = land === undefined || PLACES.has(land.trim().toLowerCase()) || NATION.test(land.trim());
  if (rank === '' || !isRank || isCommonWord(name.text.slice(rank.length).split(' ', 1)[0]?.toLowerCase() ?? ''))
    return name;
  return { ...name, text: name.text.slice(rank.length), start: name.start + rank.length };
}

/** `Irish Tadhg Kennelly` is a person, and `German 288` a count. */
function withoutNation(name: NameMention): NameMention {
  const [first = '', second = '', third] = name.text.split(' ');
  if (name.kind !== 'name' || !NATION.test(first)) return name;
  if (/^\d+$/u.test(second) && third === undefined) return { ...name, text: first, end: name.start + first.length };
  // `Afghan Prime Minister Gulbuddin Hekmatyar`
  const office = OFFICE_BEHIND_NATION.exec(name.text)?.[0];
  if (office !== undefined) return { ...name, text: name.text.slice(office.length), start: name.start + office.length };
  if (third === undefined || !isGivenName(second.toLowerCase())) return name;
  return { ...name, text: name.text.slice(first.length + 1), start: name.start + first.length + 1 };
}

/** A list, an object, a text or a value in code, which names nothing: `[]`, `"ClusterIP"`, `none`, `string`. */
const CODE_VALUE =
  /^(?:[[{("'<].*|\P{L}*|none|all|any|auto|always|never|true|false|null|undefined|yes|no|on|off|required|optional|default|string|str|number|integer|int|boolean|bool|float|double|array|object|list|map|enum|function|void)$/iu;

/** `"100m"`, `"2Gi"`, `"rollingUpdate"`: no titles. */
const VALUE_IN_QUOTES = /^(?:\d[\d.]*\p{L}{0,3}|\p{Ll}+\p{Lu}[\p{L}\d]*)$/u;

function isName(name: NameMention): boolean {
  // `IBAN DE02120300000000202051`
  if (name.text.length < 2 || /\d{8}/u.test(name.text)) return false;
  if (name.kind === 'work' && VALUE_IN_QUOTES.test(name.text)) return false;
  if (name.kind === 'identifier') return !CODE_VALUE.test(name.text);
  if (name.kind !== 'name' && name.kind !== 'acronym') return true;
  const words = name.text.split(' ');
  const lower = name.text.toLowerCase().replace(/\.$/u, '');
  if (words.at(-1) === 'I' && words.length === 2) return false;
  if (words.every((word) => CALENDAR_WORDS.has(word.toLowerCase()))) return false;
  if (words.length === 1) return !NOT_NAMES.has(lower) && !OLD_WORDS.has(lower.replace(/['’]/gu, ''));
  return words.filter((word) => /^[\p{Lu}\p{N}]/u.test(word)).length <= MAX_NAME_WORDS;
}
