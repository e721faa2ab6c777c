import { DEMONYMS } from '../../common/text/extraction/rules/gazetteer.ts';
import { stemOf } from '../../common/text/language/tokenize.ts';
import { wordSenses } from '../../common/text/words/word-senses.ts';
import { wordTable } from '../../common/text/words/word-table.ts';
import { kindOf } from '../retrieval/word-likeness.ts';
import { OF_SELF, personPattern } from './person-pattern.ts';
import { contentWords, wordsOf } from './question.ts';
import type { ReadPassage } from './rank-sentences.ts';
import type { Statement } from './statements.ts';
import { inOwnWords, statementsBy } from './turn-speakers.ts';
import { hasNoMeaning } from './word-kinds.ts';

/** Asks for what somebody likes or dislikes. */
interface PreferenceAsked {
  /** `my wife`, `Ana`, `I`. */
  readonly whose: string;
  readonly isDisliked: boolean;
  /** `food` of "What do I like to eat?"; null for all. */
  readonly kind: string | null;
}

/** What a text says that somebody likes or dislikes, and where. */
interface Preference {
  readonly object: string;
  readonly passage: ReadPassage;
  readonly statement: Statement;
}

const WHOSE =
  "(?:I|we|[Mm]y (?:\\p{Ll}+ )?\\p{Ll}+|the user|(?:\\p{Lu}[\\p{L}'’-]*)(?: \\p{Lu}[\\p{L}'’-]*)?(?:['’]s \\p{Ll}+)?)";
const ASKS = new RegExp(
  `^(?:[Ww]hat|[Ww]hich)(?:(?: (?:kinds?|sorts?|types?) of)? (?<noun>\\p{Ll}+))? (?<aux>do|does|don['’]?t|doesn['’]?t|can['’]?t|cannot) (?<whose>${WHOSE}) (?:(?<no>not|never) |really |usually |generally |especially )?(?<verb>like|love|enjoy|adore|dislike|hate|detest|loathe|avoid|stand|bear|tolerate|eat|drink)(?: (?:to )?(?<use>\\p{Ll}+?)(?:ing)?(?: to)?)?(?: most| best| in general| at all)? *\\??$`,
  'u',
);
const ASKS_HOBBIES = new RegExp(
  `^[Ww]hat (?:are|is) (?<whose>my|the user['’]s|.{2,60}?['’]s) (?:main |favou?rite )?(?:hobby|hobbies|pastimes?|interests)\\??$|^[Ww]hat (?:do|does) (?<who>${WHOSE}) (?:do for fun|(?:like|love|enjoy) (?:doing|to do)(?: in (?:my|his|her|their) (?:free|spare) time)?)\\??$`,
  'u',
);
const DISLIKED = /^(?:dislike|hate|detest|loathe|avoid|stand|bear|tolerate)$/u;
/** Kinds of what is eaten, read and the like. */
const KIND_OF_USE: ReadonlyMap<string, string> = new Map([
  ['eat', 'food'],
  ['drink', 'drink'],
  ['read', 'book'],
  ['watch', 'film'],
  ['listen', 'music'],
  ['cook', 'food'],
  ['do', 'activity'],
  ['wear', 'clothing'],
]);
const FOOD = /^(?:foods?|cuisines?|dish(?:es)?|meals?|snacks?)$/u;

/** What a question asks for that somebody likes or dislikes; null for another question. */
export function preferenceAsked(question: string): PreferenceAsked | null {
  const text = question.trim();
  const hobbies = ASKS_HOBBIES.exec(text)?.groups;
  if (hobbies !== undefined)
    return {
      whose: person((hobbies['whose'] ?? hobbies['who'] ?? '').replace(/['’]s$/u, '')),
      isDisliked: false,
      kind: 'activity',
    };
  const { noun, aux = '', whose = '', no, verb = '', use } = ASKS.exec(text)?.groups ?? {};
  if (verb === '') return null;
  const isDenied = no !== undefined || !/^do(?:es)?$/u.test(aux);
  // `What does he eat?` asks for no preference, and `What can't he do?` either.
  if (!isDenied && /^(?:stand|bear|tolerate|eat|drink)$/u.test(verb)) return null;
  if (/^can/u.test(aux) && !/^(?:stand|bear|tolerate|eat|drink)$/u.test(verb)) return null;
  const known = use === undefined ? undefined : (KIND_OF_USE.get(use) ?? KIND_OF_USE.get(`${use}e`));
  if (use !== undefined && known === undefined) return null;
  const ofNoun =
    noun === undefined || /^(?:things?|stuff)$/u.test(noun)
      ? null
      : FOOD.test(noun)
        ? 'food'
        : noun.replace(/(?<=[^s])s$/u, '');
  const kind = ofNoun ?? known ?? KIND_OF_USE.get(verb) ?? null;
  return { whose: person(whose), isDisliked: isDenied || DISLIKED.test(verb), kind };
}

const person = (whose: string) => (/^(?:I|we|my|the user)$/iu.test(whose) ? 'I' : whose);

const ADVERBS = '(?: (?:really|also|absolutely|especially|still|particularly|mostly|always|generally|usually|just))*';
const IS = "(?:['’]m|['’]s| am| is| are)";
const LIKES = [
  ' (?:likes?|loves?|enjoys?|adores?|prefers?)',
  `${IS}(?: (?:very|really|quite|so))? (?:fond of|into|keen on|crazy about|mad about|addicted to|an? (?:big |huge |great )?(?:fan|lover) of)`,
].join('|');
const DISLIKES = [
  ' (?:dislikes?|hates?|detests?|loathes?|avoids?)',
  " (?:can['’]?t|cannot) (?:stand|bear|eat|drink|tolerate)",
  " do(?:es)?(?:n['’]t| not)(?: really)? (?:like|enjoy|eat|drink|care for)",
  ' never (?:eats?|drinks?)',
  ' eats? everything (?:except|but|apart from)',
  `${IS} not (?:very )?(?:fond of|keen on|into|an? (?:big |huge |great )?fan of)`,
].join('|');
const ALLERGIC = `|${IS}(?: (?:very|severely|also))? (?:allergic|intolerant) to`;
const OBJECT =
  "([^.;!?:()]{2,120}?)(?=[.;!?:(]|$|,? (?:but|because|since|although|so|when|while|which|who)\\b|,? and (?:I|he|she|they|dis\\p{Ll}+|hates?|loves?|likes?|prefers?|is|am|has|have|owns?|cooks?|does|do|can|can['’]?t|avoids?|carries|carry|eats?|drinks?)\\b)";
const NO_OBJECT = /^(?:it|him|her|them|you|that|this|these|those|how|the (?:idea|fact)|to be)\b/iu;
const USE = /^(?:to (?:eat|drink|cook|watch|read)|eating|drinking|watching|reading) /iu;
/** Minimum certainty that a word is of a kind. */
const MIN_OF_KIND = 0.3;
/** Kinds that dictionaries do not call by the wider word, and dishes that they do not have. */
const KINDS_WITHIN: ReadonlyMap<string, readonly string[]> = new Map([
  ['food', ['food', 'fruit', 'vegetable', 'meat', 'dish', 'dessert']],
]);
const MIN_LIKE_SOUP = 0.45;
const OF_FOOD = /\b(?:foods?|cuisines?|dish(?:es)?|eats?|eating|meals?|cooks?|cooking|snacks?)\b/iu;

/** Returns what reads from a sentence what somebody likes, or dislikes if that is asked for: `mango and dark chocolate`. */
export function preferenceReader({
  whose,
  isDisliked,
  kind,
}: PreferenceAsked): (sentence: string) => readonly string[] {
  const who = personPattern(whose);
  const verbs = isDisliked ? `${DISLIKES}${kind === 'food' || kind === 'drink' ? ALLERGIC : ''}` : LIKES;
  const owner = whose === 'I' ? OF_SELF : `${who}['’]s`;
  const patterns = [new RegExp(`${who}${ADVERBS}(?:${verbs}) ${OBJECT}`, 'gu')];
  const further = new RegExp(
    `(?<=[\\p{L}\\p{N}],? (?:and|but)(?: (?:I|he|she|they))?${ADVERBS})(?:${verbs}) ${OBJECT}`,
    'gu',
  );
  if (!isDisliked)
    patterns.push(new RegExp(`${owner} (?:all-time )?favou?rite (?:\\p{Ll}+ ){1,3}(?:is|are) ${OBJECT}`, 'gu'));
  if (kind === 'activity')
    patterns.push(new RegExp(`${owner} (?:hobby|hobbies|pastimes?) (?:is|are|include) ${OBJECT}`, 'gu'));
  const begins = new RegExp(`^(?:[-*•] )?(?:${who}|${owner})`, 'u');
  return (sentence) => {
    const all = patterns.flatMap((pattern) => [...sentence.matchAll(pattern)]);
    const more = begins.test(sentence) ? [...sentence.matchAll(further)] : [];
    return [...all, ...more]
      .map(([, object = '']) => object.trim().replace(/,$/u, ''))
      .filter((object) => !NO_OBJECT.test(object) && isOfKind(kind, object, sentence))
      .map((object) => ofKindAlone(kind, object, sentence).replace(USE, ''));
  };
}

const LISTED = /,? (?:and|or) |, /u;

/** Returns what of a list is of a kind: `mangoes` of `mangoes, jazz and old films` for fruit; words that are not known stay. */
function ofKindAlone(kind: string | null, object: string, sentence: string): string {
  const items = object.split(LISTED);
  const isSaid = kind === null || kind === 'activity' || (kind === 'food' && OF_FOOD.test(sentence));
  if (items.length < 2 || isSaid) return object;
  const isUnknown = (item: string) => wordsOf(item).some(hasNoMeaning);
  const kept = items.filter((item) => isUnknown(item) || isOfKind(kind, item, ''));
  return kept.length === 0 || kept.length === items.length ? object : kept.join(', ');
}

function isOfKind(kind: string | null, object: string, sentence: string): boolean {
  if (kind === null) return true;
  if (kind === 'activity')
    return /\p{Ll}ing\b|^to \p{Ll}/u.test(object) || /\b(?:hobb|enjoys?|keen on|into)/u.test(sentence);
  const words = wordsOf(object);
  if (kind === 'food' && (OF_FOOD.test(sentence) || words.some((word) => DEMONYMS.has(word)))) return true;
  if (contentWords(sentence).some((word) => stemOf(word) === stemOf(kind))) return true;
  const singular = words.flatMap((word) => [word, word.replace(/(?<=[^s])s$/u, '')]);
  if (kind === 'food' && singular.some((word) => wordTable().similarity(word, 'soup') >= MIN_LIKE_SOUP)) return true;
  return (KINDS_WITHIN.get(kind) ?? [kind]).some((one) => {
    const ofKind = kindOf(one);
    return ofKind !== null && singular.some((word) => ofKind(wordSenses().row(word)) >= MIN_OF_KIND);
  });
}

/** Returns all that passages say somebody likes or dislikes, best passage first; null for another question and for nothing. */
export function statedPreferences(question: string, passages: readonly ReadPassage[]): readonly Preference[] | null {
  const asked = preferenceAsked(question);
  if (asked === null) return null;
  const read = preferenceReader(asked);
  const readOwn = preferenceReader({ ...asked, whose: inOwnWords(asked.whose) });
  const found = passages.flatMap((passage) =>
    statementsBy(asked.whose, passage).flatMap(({ statement, said, isSelf }) => {
      if (statement.isQuestion === true) return [];
      return (isSelf ? readOwn(said) : read(said)).map((object) => ({ object, passage, statement }));
    }),
  );
  const unique = [...new Map(found.map((one) => [one.object.toLowerCase(), one])).values()];
  return unique.length === 0 ? null : unique;
}
