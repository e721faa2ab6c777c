import { isGivenName } from './entity-type.ts';
import type { AnalysedSentence } from './mention.ts';
import type { TaggedWord, Tagger } from './tagger.ts';

/** What is noted of persons and not of those who use a program. */
const PERSONAL =
  /\b(?:[Tt]he user|User)(?: (?:\p{L}+ly |also |now )?(?:lives|lived|works|worked|prefers|likes|loves|enjoys|hates|dislikes|owns|drives|studies|studied|speaks|plays|moved|married|grew up|was born|is (?:married|allergic|vegetarian|vegan|from|\d)|has (?:a|an|two|three|four|no) (?:\p{L}+ )?(?:dog|cat|pet|child|son|daughter|brother|sister|partner|wife|husband|car|house|job|degree|children|sons|daughters|cats|dogs|brothers|sisters))\b|['’]s (?:\p{L}+ )?(?:name|wife|husband|partner|girlfriend|boyfriend|sister|brother|mother|father|mum|mom|dad|son|daughter|child|children|family|dog|cat|pet|birthday|hobby|hobbies|job|boss|manager|hometown|favou?rite)\b)/u;
const SHORT_NOTE = /^\s*(?:[-*•]\s+)?(?:The user|User)(?:['’]s)? [^\n.!?]{2,200}[.!?]?$/u;

/** Whether a text is what an assistant noted of the person that it talks with: `User lives in Porto`. */
export function tellsOfUser(text: string): boolean {
  return SHORT_NOTE.test(text.trimEnd()) || PERSONAL.test(text);
}

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
