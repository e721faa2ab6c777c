import { isGivenName } from './entity-type.ts';
import type { AnalysedSentence } from './mention.ts';
import type { TaggedWord, Tagger } from './tagger.ts';

const USER = /^(?:the )?user$/iu;
const SUBJECT = /^(?:[-*•]\s+)?(?:The user|User)(?<owner>['’]s)? (?=\p{Ll})/u;
const PRONOUN = /^(?:[-*•]\s+)?(?:(?:She|He)|(?<owner>Her|His)) (?=\p{Ll}|\p{Lu}{2,3} )/u;
/** Longest opening of a sentence that is looked at. */
const MAX_OPENING = 20;

const NAMED =
  /^(?:[-*•]\s+)?(?:The user|User)(?:['’]s (?:full |first )?name is| is (?:called|named)) (\p{Lu}[\p{L}'’-]*(?: \p{Lu}[\p{L}'’-]*){0,3})/u;

/** `The user is called Mireille` gives the name as `The user's name is Mireille` does. */
const CALLED = /^(?:[-*•]\s+)?(?:The user|User) is (?:called|named) (?=\p{Lu})/u;

function genderOf(opening: string): string {
  return /\b(?:he|his)\b/iu.test(opening) ? 'male' : 'female';
}

/** The full or first name of the user in front of a verb, or as an owner. */
function openingByName(text: string, name: string | null): RegExpExecArray | null {
  if (name === null) return null;
  const opening = /^(?:[-*•]\s+)?(\p{Lu}[\p{L}'’ -]{0,80}?)(?<owner>['’]s)? (?=\p{Ll})/u.exec(text);
  const own = opening?.[1] ?? '';
  return own === name || own === name.split(' ')[0] ? opening : null;
}

/** Reads sentences about the user as if that person had written them: `I` for `The user`, `my` for `User's` and `her`. */
export function asFirstPerson(sentences: readonly AnalysedSentence[], tag: Tagger): AnalysedSentence[] {
  let isOfUser = false;
  let isNoted = false;
  let name: string | null = null;
  let pronoun: string | null = null;
  return sentences.map((sentence) => {
    const mentions = sentence.mentions.filter(({ name }) => !USER.test(name));
    const { text } = sentence.sentence;
    const start = text.slice(0, MAX_OPENING);
    const byPronoun = PRONOUN.exec(start);
    // Each item of a list is about whom the list is about.
    const isItem = /^[-*•]/u.test(start) && byPronoun !== null;
    const isSame = isItem && isNoted && genderOf(byPronoun[0]) === (pronoun ?? genderOf(byPronoun[0]));
    const calling = CALLED.exec(text);
    const opening =
      calling ?? SUBJECT.exec(start) ?? openingByName(text, name) ?? (isOfUser || isSame ? byPronoun : null);
    if (opening !== null && opening === byPronoun) pronoun ??= genderOf(byPronoun[0]);
    name ??= NAMED.exec(text)?.[1] ?? null;
    isNoted ||= opening !== null;
    const isOwner = opening?.groups?.['owner'] !== undefined;
    const hasOther = mentions.some(({ name }) => isGivenName(name.split(' ')[0]?.toLowerCase() ?? ''));
    isOfUser = opening !== null && !isOwner && !hasOther;
    if (opening === null) return { ...sentence, mentions };
    return {
      ...sentence,
      mentions,
      words: openedWith(calling !== null ? 'My name is' : isOwner ? 'My' : 'I', opening[0].length, text, tag),
    };
  });
}

/** The words of a sentence with others in place of its opening; offsets stay those of the sentence. */
function openedWith(word: string, length: number, text: string, tag: Tagger): readonly TaggedWord[] {
  const shift = length - word.length - 1;
  return tag(`${word} ${text.slice(length)}`).map((one, at) =>
    at === 0
      ? { ...one, start: 0, end: word.includes(' ') ? 2 : length - 1 }
      : { ...one, start: one.start + shift, end: one.end + shift },
  );
}
