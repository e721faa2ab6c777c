import { stemOf } from '../../common/text/language/tokenize.ts';
import { contentWords, type Question } from './question.ts';
import type { ReadPassage, Sentence } from './rank-sentences.ts';
import { type Example, examplesOf, statementsOf } from './statements.ts';

/** Longer code is read in its source. */
const MAX_LINES = 24;
const MAX_LENGTH = 1200;

/** Code whose end is in another passage is not shown. */
const isShown = ({ code }: Example) =>
  code.length <= MAX_LENGTH && code.split('\n').length <= MAX_LINES && /\n[ \t]*(?:```+|~~~+)$/u.test(code);

/** Returns the code behind a sentence that says how something is done, in its section; null without, and for other questions. */
export function exampleBehind(
  { type }: Pick<Question, 'type'>,
  { statement, passage }: Pick<Sentence, 'statement' | 'passage'>,
): string | null {
  if (type !== 'way' || statement.isCommand === true) return null;
  const all = statementsOf(passage);
  const at = all.indexOf(statement);
  const found = examplesOf(passage).find(
    ({ heading, sentence }) => heading === statement.heading && sentence !== null && all.indexOf(sentence) >= at,
  );
  return found !== undefined && isShown(found) ? found.code : null;
}

/** Verbs that say little of what is done. */
const COMMON_DEEDS = new Set(
  'add build call can configure create define do enable get have make need run set setup start use want write work'
    .split(' ')
    .map(stemOf),
);
const WEIGHT_OF_COMMON = 0.3;
/** How far a word of the heading of a section, of those above it and of the document's name covers one of the question. */
const COVERED = { heading: 1, above: 0.6, document: 0.6 } as const;
/** What each word of a heading and of a document's name costs that is not of the question: `koa` comes before `koa-router`. */
const OTHER_WORD = 0.01;
const MIN_COVERED = 0.58;

/** What something is done in or with: another program has the same headings. */
const WITHIN = /\b(?:in|with|using|for|on|of) ([^?]+)\??$/iu;

/**
 * Returns the code of the section whose headings name what a question asks how to do: that of `Simple server` in the README of
 * ws for "How do I create a server with ws?"; null when none does, and for other questions.
 */
export function shownExample(
  { text, type }: Pick<Question, 'text' | 'type'>,
  passages: readonly ReadPassage[],
): { readonly example: Example; readonly passage: ReadPassage } | null {
  const asked = type === 'way' ? [...new Set(contentWords(text.replace(PARTS, ' ')).map(stemOf))] : [];
  if (asked.length === 0) return null;
  const within = stemsOf(WITHIN.exec(text)?.[1] ?? '');
  const weight = (stem: string) => (COMMON_DEEDS.has(stem) ? WEIGHT_OF_COMMON : 1);
  const total = asked.reduce((sum, stem) => sum + weight(stem), 0);
  let [best, most]: [ReturnType<typeof shownExample>, number] = [null, 0];
  for (const passage of passages) {
    const { documentName, headings } = passage.payload;
    const document = stemsOf(documentName);
    for (const example of examplesOf(passage)) {
      const own = stemsOf(example.heading);
      const above = stemsOf([...headings, ...example.above].join(' '));
      if (!isShown(example) || !asked.some((stem) => own.has(stem) && !document.has(stem))) continue;
      const covered = (stem: string) => {
        if (own.has(stem)) return COVERED.heading;
        if (above.has(stem)) return COVERED.above;
        return document.has(stem) ? COVERED.document : 0;
      };
      const all = new Set([
        ...own,
        ...above,
        ...document,
        ...stemsOf(`${example.sentence?.text ?? ''} ${example.code}`),
      ]);
      if ([...within].some((stem) => asked.includes(stem) && !all.has(stem))) continue;
      const others = [...document, ...own].filter((stem) => !asked.includes(stem)).length;
      const share = asked.reduce((sum, stem) => sum + weight(stem) * covered(stem), 0) / total;
      const score = share - others * OTHER_WORD;
      if (share >= MIN_COVERED && score > most && !hasSteps(passage, example))
        [best, most] = [{ example, passage }, score];
    }
  }
  return best;
}

/** Whether the section of an example tells how by numbered steps. */
const hasSteps = (passage: ReadPassage, { heading }: Example) =>
  statementsOf(passage).some((one) => one.heading === heading && one.isItem === true && /^\d/u.test(one.text));

/** What parts the words of names: `logger.child(bindings)`, `customLevels`. */
const PARTS = /(?<=\p{Ll})(?=\p{Lu})|[_./()-]/gu;

/** The parts of names count as words, too. */
function stemsOf(text: string): ReadonlySet<string> {
  return new Set([...contentWords(text), ...contentWords(text.replace(PARTS, ' '))].map(stemOf));
}
