import { asksAge } from './ages.ts';
import { kinAsked } from './kin.ts';
import { preferenceAsked } from './preferences.ts';
import { workAsked } from './profession.ts';

/**
 * Returns a question with words by which notes say what it asks for in other words: nobody's notes say `I like to eat`, and who
 * teaches does not write `my profession`.
 */
export function soughtWith(question: string): string {
  const words = wordsFor(question);
  return words === '' ? question : `${question} ${words}`;
}

function wordsFor(question: string): string {
  const preference = preferenceAsked(question);
  if (preference !== null) {
    const kind = preference.kind === null || preference.kind === 'activity' ? 'hobby' : preference.kind;
    return preference.isDisliked ? 'dislikes hates avoids allergic' : `loves enjoys favourite prefers ${kind}`;
  }
  const kin = kinAsked(question);
  if (kin !== null) return kin.words.replaceAll('?', '').replaceAll('|', ' ');
  if (asksAge(question)) return 'years aged turned birthday born';
  return workAsked(question) === null ? '' : 'works job employed teaches runs';
}
