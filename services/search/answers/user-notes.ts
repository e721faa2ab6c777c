import { tellsOfUser } from '../../common/text/language/user-notes.ts';
import { areOwnNotes, PASSAGES_READ, type ReadPassage } from './rank-sentences.ts';

const IN_FIRST_PERSON = /\b(?:I|my|me|mine|myself)\b/u;

const OF_USER: readonly (readonly [RegExp, string])[] = [
  [/\bdo I\b/giu, 'does the user'],
  [/\bhave I\b/giu, 'has the user'],
  [/\bam I\b/giu, 'is the user'],
  [/\bI am\b|\bI['’]m\b/gu, 'the user is'],
  [/\bI have\b|\bI['’]ve\b/gu, 'the user has'],
  [/\b(?:my|mine)\b/giu, 'the user’s'],
  [/\bI\b|\b(?:me|myself)\b/gu, 'the user'],
];

const OF_ONESELF: readonly (readonly [RegExp, string])[] = [
  [/\bthe user['’]s\b/giu, 'my'],
  [/\bdoes the user\b/giu, 'do I'],
  [/\bhas the user\b/giu, 'have I'],
  [/\bis the user\b/giu, 'am I'],
  [/\bthe user is\b/giu, 'I am'],
  [/\bthe user has\b/giu, 'I have'],
  [/\bthe user\b/giu, 'I'],
];

/**
 * Says a question as the notes that may answer it do: who asks is `the user` in notes of an assistant, and who asks about the
 * user of notes in the first person asks about their writer.
 */
export function askedLikeNotes(question: string, passages: readonly ReadPassage[]): string {
  const isOfUser = passages.slice(0, PASSAGES_READ).some(({ payload }) => tellsOfUser(payload.text));
  if (isOfUser && IN_FIRST_PERSON.test(question) && !areOwnNotes(passages)) return replaced(question, OF_USER);
  if (!isOfUser && /\bthe user\b/iu.test(question) && areOwnNotes(passages)) return replaced(question, OF_ONESELF);
  return question;
}

const replaced = (text: string, forms: readonly (readonly [RegExp, string])[]) =>
  forms.reduce((said, [form, other]) => said.replaceAll(form, other), text);
