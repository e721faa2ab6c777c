import { isGivenName } from './entity-type.ts';
import type { AnalysedSentence } from './mention.ts';
import type { TaggedWord, Tagger } from './tagger.ts';

const USER = /^(?:the )?user$/iu;
const SUBJECT = /^(?:[-*•]\s+)?(?:The user|User)(?<owner>['’]s)? (?=\p{Ll})/u;
const PRONOUN = /^(?:[-*•]\s+)?(?:(?:She|He)|(?<owner>Her|His)) (?=\p{Ll})/u;
/** Longest opening of a sentence that is looked at. */
const MAX_OPENING = 20;

/** Reads sentences about the user as if that person had written them: `I` for `The user`, `my` for `User's` and `her`. */
export function asFirstPerson(sentences: readonly AnalysedSentence[], tag: Tagger): AnalysedSentence[] {
  let isOfUser = false;
  return sentences.map((sentence) => {
    const mentions = sentence.mentions.filter(({ name }) => !USER.test(name));
    const { text } = sentence.sentence;
    const opening =
      SUBJECT.exec(text.slice(0, MAX_OPENING)) ?? (isOfUser ? PRONOUN.exec(text.slice(0, MAX_OPENING)) : null);
    const isOwner = opening?.groups?.['owner'] !== undefined;
    const hasOther = mentions.some(({ name }) => isGivenName(name.split(' ')[0]?.toLowerCase() ?? ''));
    isOfUser = opening !== null && !isOwner && !hasOther;
    if (opening === null) return { ...sentence, mentions };
    return { ...sentence, mentions, words: openedWith(isOwner ? 'My' : 'I', opening[0].length, text, tag) };
  });
}

/** The words of a sentence with another word in place of its opening; offsets stay those of the sentence. */
function openedWith(word: string, length: number, text: string, tag: Tagger): readonly TaggedWord[] {
  const shift = length - word.length - 1;
  return tag(`${word} ${text.slice(length)}`).map((one, at) =>
    at === 0 ? { ...one, start: 0, end: length - 1 } : { ...one, start: one.start + shift, end: one.end + shift },
  );
}
