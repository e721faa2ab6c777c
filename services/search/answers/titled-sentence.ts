import { stemOf } from '../../common/text/language/tokenize.ts';
import { contentWords, type Question } from './question.ts';
import { putFirst, type RankedSentence } from './rank-sentences.ts';
import { isSaid, isSameStem } from './slots.ts';

/** Sentences of which one may say what is asked of the subject of a title. */
const SENTENCES_READ = 10;
/** Words of a question that ask, and need not be said. */
const ASKING = /^(?:names?|called|many|much|kind|type)$/u;
/** `How many people live in Young?` asks for what texts call the population. */
const INHABITANTS = /^how many (?:people|inhabitants|residents) (?:live|are|were|lived) (?:there )?in\b/iu;

/**
 * Puts the sentence first that says what is asked of the subject of its title: of `# Missouri Western`, `In 1917 it adopted the
 * Griffon as its mascot.` before one that names the university and no mascot. Texts name their subject once.
 */
export function titledFirst(question: Question, ranked: readonly RankedSentence[]): readonly RankedSentence[] {
  const [best] = ranked;
  if (best === undefined || /^(?:yes-no|reason|topic)$/u.test(question.type)) return ranked;
  const asked = contentWords(question.text).filter((word) => !ASKING.test(word));
  const stems = new Set(asked.map(stemOf));
  const isAsked = ({ statement, passage, features }: RankedSentence): boolean => {
    if (features.hasType < best.features.hasType) return false;
    const subject = titleIn(passage.payload, stems);
    if (subject === null) return false;
    const left = asked.filter((word) => !subject.has(stemOf(word)));
    const wanted = INHABITANTS.test(question.text) ? ['population'] : left;
    if (wanted.length === 0 || wanted.every((word) => isSaid(word, contentWords(best.statement.text)))) return false;
    // Likeness is not enough: one that veers is like one that moves.
    const said = contentWords(statement.text);
    return wanted.every((word) => said.some((other) => isSameStem(word, other)));
  };
  const first = ranked.slice(0, SENTENCES_READ).find((one) => one !== best && isAsked(one));
  return first === undefined ? ranked : putFirst(first, ranked);
}

/** Returns the stems of the longest title of a passage of which a question has every word; null without one. */
function titleIn(
  { documentName, headings }: RankedSentence['passage']['payload'],
  asked: ReadonlySet<string>,
): ReadonlySet<string> | null {
  const titles = [documentName.replace(/\.\p{L}{1,5}$/u, ''), ...headings].map((title) =>
    contentWords(title.replace(/\([^)]*\)/gu, '').replace(/^\d+[-_ ]/u, '')).map(stemOf),
  );
  const held = titles.filter((title) => title.length > 0 && title.every((stem) => asked.has(stem)));
  const [longest] = held.sort((one, other) => other.length - one.length);
  return longest === undefined ? null : new Set(longest);
}
