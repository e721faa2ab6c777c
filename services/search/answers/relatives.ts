import { KIN_SYNONYMS } from '../../common/text/language/kin-words.ts';
import { wordsOf } from './question.ts';

/** Words for relatives of which nobody is two, by the plain word for them. */
const RELATIVES = new Map(
  'mother father sister brother daughter son grandmother grandfather aunt uncle niece nephew wife husband'
    .split(' ')
    .flatMap((label) => [label, ...(KIN_SYNONYMS.get(label) ?? [])].map((word) => [word, label] as const)),
);

/** Returns the other words for a relative: `mother` for `mum`; none for another word. */
export function relativesLike(word: string): readonly string[] {
  const group = RELATIVES.get(word);
  return group === undefined ? [] : [...RELATIVES].filter(([, at]) => at === group).map(([other]) => other);
}

/** `My sister lives …`, `The user’s sister lives …`, `I have a sister …` */
const OWN_RELATIVE =
  /^(?:my|our|(?:the )?[\p{L}-]+['’]s|(?:I|we|(?:the )?user) (?:have|has|had)(?: got)? an?)(?: (?:older|younger|elder|little|big|twin|only))? (\p{Ll}+)/iu;

/** Whose the one relative of a text is: of the speaker, of somebody else, or of nobody that is said. */
const OWNER_OF_RELATIVE = new RegExp(
  `(?:\\b(?<self>[Mm]y|[Oo]ur)|\\b(?<other>[Hh]is|[Hh]er|[Tt]heir)|(?<name>\\p{Lu}[\\p{L}-]*)['’]s?) (?:\\p{Ll}+ )?(?<relative>${[...RELATIVES.keys()].join('|')})\\b`,
  'gu',
);

export const isRelative = (word: string): boolean => RELATIVES.has(word);

/** Whether a sentence tells of the relative of another one: `His mother lives in Tarragona.` for "Where does Mum live?" */
export function isOfOtherRelative(question: string, sentence: string): boolean {
  const relatives = wordsOf(question).filter((word) => RELATIVES.has(word));
  const [relative] = relatives;
  if (relative === undefined || relatives.length > 1) return false;
  const isSame = (word: string) => RELATIVES.get(word) === RELATIVES.get(relative);
  const owners = (text: string) =>
    [...text.matchAll(OWNER_OF_RELATIVE)].filter(({ groups }) => isSame(groups?.['relative'] ?? ''));
  const [asked] = owners(question);
  const said = owners(sentence);
  if (said.length === 0 || wordsOf(sentence).filter(isSame).length > said.length) return false;
  const isSelf = ({ groups }: RegExpExecArray) => groups?.['self'] !== undefined;
  // `Where does Mum live?`, and not `Who plays the mum?`
  if (asked === undefined && !new RegExp(` \\p{Lu}${relative.slice(1)}\\b`, 'u').test(question)) return false;
  const isOwn = asked === undefined || isSelf(asked);
  return said.every((one) => isSelf(one) !== isOwn);
}

/**
 * Whether a sentence tells of another relative than a question: of a sister, or of a mother-in-law, for "Where does my mother
 * live?" `all`: the sentence with its context.
 */
export function isOfAnotherRelative(question: string, sentence: string, all: string): boolean {
  const [relative, ...more] = wordsOf(question).filter(isRelative);
  if (relative === undefined || more.length > 0) return false;
  const words = wordsOf(all);
  if (words.some((word) => RELATIVES.get(word) === RELATIVES.get(relative))) return false;
  return words.includes(`${relative}-in-law`) || isRelative(OWN_RELATIVE.exec(sentence)?.[1] ?? '');
}

const OF_SPEAKER = /\b(?:I|[Mm]y|[Ww]e|[Oo]ur)\b/u;

/**
 * Returns the sentences without those that a speaker says of anything else, when a question is about one relative alone and some
 * sentence tells of that one by the word or the name: `I run a bakery.` is no answer to "Where does my mother work?"
 */
export function ofAskedRelative<
  One extends { readonly statement: { readonly text: string; readonly heading: string } },
>(question: string, sentences: readonly One[]): readonly One[] {
  const [relative, ...more] = wordsOf(question).filter(isRelative);
  if (relative === undefined || more.length > 0 || /\b(?:I|me|we|us)\b/u.test(question)) return sentences;
  const words = relativesLike(relative);
  const named = new RegExp(`\\b(?:[Mm]y|[Oo]ur) (?:\\p{Ll}+ )?(?:${words.join('|')}),? (\\p{Lu}[\\p{L}'’-]+)`, 'u');
  const names = sentences.flatMap(({ statement }) => named.exec(statement.text)?.[1] ?? []);
  const isOf = ({ statement: { text, heading } }: One) => {
    const said = wordsOf(`${heading} ${text}`);
    return words.some((word) => said.includes(word)) || names.some((name) => text.includes(name));
  };
  if (!sentences.some(isOf)) return sentences;
  return sentences.filter((one) => isOf(one) || !OF_SPEAKER.test(one.statement.text));
}
