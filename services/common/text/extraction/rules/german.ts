import { isGivenName } from './entity-type.ts';
import { PLACES } from './gazetteer.ts';
import type { TaggedWord } from './tagger.ts';

const FUNCTION_WORDS = new Set(
  `der die das den dem des ein eine einen einem einer eines und oder aber nicht ist sind war waren wird werden wurde wurden hat
  haben hatte ich du er sie es wir ihr mich mir dich dir sich mein meine meinen meinem meiner sein seine seinen seinem seiner unser
  unsere ihre ihren im am zum zur vom beim mit von zu auf aus bei nach seit für über unter vor durch gegen ohne um dass weil wenn
  als wie auch noch nur schon sehr man kein keine keinen diese dieser dieses`.split(/\s+/u),
);
const ENGLISH =
  /^(?:the|of|and|to|is|are|were|has|have|with|for|that|it|he|she|you|we|they|on|at|by|this|from|not|an)$/u;
const PLACES_IN_GERMAN = new Set(
  `deutschland österreich schweiz frankreich italien spanien polen russland türkei europa amerika afrika asien england bayern
  münchen köln wien zürich genf nürnberg hannover düsseldorf bremen prag rom mailand venedig paris moskau warschau`.split(
    /\s+/u,
  ),
);
const TITLES = /^(?:Herr|Herrn|Frau|Dr\.?|Prof\.?|Professor|Onkel|Tante|Opa|Oma|Familie)$/u;

/** Whether a sentence is German, where every noun has a capital. */
export function isGerman(words: readonly TaggedWord[]): boolean {
  let german = 0;
  let english = 0;
  for (const { text } of words) {
    const lower = text.toLowerCase();
    if (FUNCTION_WORDS.has(lower)) german++;
    else if (ENGLISH.test(lower)) english++;
  }
  return german >= 2 && german > 2 * english;
}

/** Whether a name in a German sentence is more than a noun: a known name or place, behind a title, or two names in a row. */
export function isGermanName(name: string, before: string): boolean {
  const [first = '', ...rest] = name.split(' ');
  const lower = name.toLowerCase();
  if (PLACES.has(lower) || PLACES_IN_GERMAN.has(lower) || isGivenName(first.toLowerCase())) return true;
  if (FUNCTION_WORDS.has(first.toLowerCase()) || TITLES.test(name)) return false;
  return TITLES.test(before) || TITLES.test(first) || (rest.length > 0 && rest.every((word) => /^\p{Lu}/u.test(word)));
}
