import { userNameIn } from '../../common/text/language/own-name.ts';
import { tellsOfUser } from '../../common/text/language/user-notes.ts';
import { wordsOf } from './question.ts';
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

/** Whose notes call the user by name: `Priya’s husband`, and both of them `they`. */
const ofName = (name: string): typeof OF_USER => [
  [/\bdo I\b/giu, `does ${name}`],
  [/\bhave I\b/giu, `has ${name}`],
  [/\bam I\b/giu, `is ${name}`],
  [/\b(?:my|mine)\b/giu, `${name}’s`],
  [/(?<=\b(?:before|after|when|since|until|while) )I\b/gu, 'they'],
  [/\bI\b|\b(?:me|myself)\b/gu, name],
  [/\b[Oo]ur\b/gu, 'their'],
  [/\b[Ww]e\b/gu, 'they'],
  [/\bus\b/gu, 'them'],
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
  const name = ASKS_OF_SELF.test(question) && !areOwnNotes(passages) ? nameOfUser(passages) : null;
  if (name !== null) return replaced(question, ofName(name));
  const isOfUser = passages.slice(0, PASSAGES_READ).some(({ payload }) => tellsOfUser(payload.text));
  if (isOfUser && IN_FIRST_PERSON.test(question) && !areOwnNotes(passages)) return replaced(question, OF_USER);
  if (!isOfUser && /\bthe user\b/iu.test(question) && areOwnNotes(passages)) return replaced(question, OF_ONESELF);
  return question;
}

const ASKS_OF_SELF = /\b(?:I|my|me|mine|myself|[Ww]e|[Oo]ur|us)\b/u;

/**
 * The first name of the user of whom an assistant noted things, when the best other passage calls the user by it; null without. A note
 * without the name (`The smoker is in the shed`) answers the question as it was asked.
 */
function nameOfUser(passages: readonly ReadPassage[]): string | null {
  for (const { payload, id } of passages) {
    const first = userNameIn(payload.text)?.split(' ')[0];
    if (first === undefined) continue;
    const best = passages.find((one) => one.id !== id);
    return best !== undefined && wordsOf(best.payload.text).includes(first.toLowerCase()) ? first : null;
  }
  return null;
}

const replaced = (text: string, forms: readonly (readonly [RegExp, string])[]) =>
  forms.reduce((said, [form, other]) => said.replaceAll(form, other), text);
