import type { ReadPassage, Sentence } from './rank-sentences.ts';
import { statementsOf } from './statements.ts';

/** `Atlas`, `Blue Heron`: a heading that is nothing but a name. */
const NAME = /^\p{Lu}[\p{L}\p{N}'’-]*(?: \p{Lu}[\p{L}\p{N}'’-]*){0,2}$/u;

const topOf = ({ statement: { above = [], heading } }: Pick<Sentence, 'statement'>): string => above[0] ?? heading;

/** Whether a text has a name as words of its own. */
function hasName(text: string, name: string): boolean {
  const [lower, whole] = [name.toLowerCase(), text.toLowerCase()];
  for (let at = whole.indexOf(lower); at >= 0; at = whole.indexOf(lower, at + 1)) {
    if (!/[\p{L}\p{N}]/u.test(`${whole[at - 1] ?? ' '}${whole[at + lower.length] ?? ' '}`)) return true;
  }
  return false;
}

/**
 * Returns what tells whether a sentence stands below the name of something else than a question asks about: the rate below
 * `Heron › Rates` for "What is the rate on Atlas?" when `Atlas` is such a heading, too, and neither passage names the other.
 */
export function ofOtherSection(question: string, passages: readonly ReadPassage[]): (sentence: Sentence) => boolean {
  const texts = new Map<string, string>();
  for (const passage of passages) {
    const tops = new Set(statementsOf(passage).map((statement) => topOf({ statement })));
    for (const top of tops) if (NAME.test(top)) texts.set(top, `${texts.get(top) ?? ''}\n${passage.payload.text}`);
  }
  const asked = [...texts.keys()].filter((top) => question.slice(1).includes(top) && hasName(question, top));
  const [name, ...others] = asked;
  if (name === undefined || others.length > 0) return () => false;
  const own = texts.get(name) ?? '';
  return (sentence) => {
    const top = topOf(sentence);
    const isBelow = (sentence.statement.above ?? []).length > 0;
    if (top === name || !isBelow || !NAME.test(top) || hasName(question, top)) return false;
    const { documentName, text } = sentence.passage.payload;
    return !hasName(`${documentName}\n${text}`, name) && !hasName(own, top);
  };
}
