import { names } from '../../common/text/language/names.ts';
import { AUXILIARIES, ENGLISH_QUESTION, QUESTION_WORDS } from './question.ts';

const ASKING = `(?:${QUESTION_WORDS}|${AUXILIARIES}|tell me|list|name)`;
/** Where one question ends and the next begins: `? And where …`, `, and where …`, ` and how many …`, `, what …`. */
const NEXT = new RegExp(
  `\\?\\s+(?:(?:and|or|also|then)\\s+)?(?=\\p{L})|[,;]?\\s+(?:and|or|und|y|et)(?:\\s+(?:also|then))?\\s+(?=${ASKING}\\s)|[,;]\\s+(?=${ASKING}\\s)`,
  'giu',
);
/** A clause that says when, not one that asks: `When I lived in Berlin, …`. */
const CIRCUMSTANCE = /^(?:when|where|how|what|why|who)\s+(?:I|we|you|he|she|it|they|my|our|his|her|their|the|an?)\b/iu;
const COMPARED =
  /^(?:what(?:'s| is| are) the differences? between|compare|how do(?:es)?)\s+(.{2,80}?)\s+(?:and|with|to|vs\.?|versus|differ from)\s+(.{2,80}?)(?:\s+(?:differ|compare))?[?.!\s]*$/iu;
const MAX_PARTS = 5;

/**
 * Returns the questions that a question is made of, by its clauses, its comparison or the names that it joins by `and`; itself
 * alone when it is one. `isOneName`: whether memory has a phrase such as `War and Peace` as it is.
 */
export function questionParts(question: string, isOneName: (phrase: string) => boolean): readonly string[] {
  const text = question.trim().replace(/\s+/gu, ' ');
  const compared = COMPARED.exec(text);
  if (compared !== null) return [compared[1] ?? '', compared[2] ?? ''].map((thing) => `What is ${thing}?`);
  const clauses = clausesOf(text);
  return [...new Set(clauses.flatMap((clause) => ofEachName(clause, isOneName)))].slice(0, MAX_PARTS);
}

function clausesOf(text: string): readonly string[] {
  const parts: string[] = [];
  let from = 0;
  for (const match of text.matchAll(NEXT)) {
    const [before, after] = [text.slice(from, match.index), text.slice(match.index + match[0].length)];
    if (!isQuestion(before) || !isQuestion(after)) continue;
    if (match[0].trim() === ',' && CIRCUMSTANCE.test(before)) continue;
    parts.push(before);
    from = match.index + match[0].length;
  }
  const all = [...parts, text.slice(from)];
  return all.length === 1 ? [text] : all.map(asQuestion);
}

/** Whether a clause asks by itself: "and where she lives" after a statement does too. */
function isQuestion(clause: string): boolean {
  return ENGLISH_QUESTION.test(clause) && clause.trim().split(' ').length > 1;
}

function asQuestion(clause: string): string {
  const plain = clause.trim().replace(/[?.!,;\s]+$/u, '');
  return `${plain.charAt(0).toUpperCase()}${plain.slice(1)}?`;
}

/** `Where do Ana and Boris live?` asks of each of them. */
function ofEachName(question: string, isOneName: (phrase: string) => boolean): readonly string[] {
  const found = names(question).filter(({ kind }) => kind !== 'quantity');
  for (const [at, left] of found.entries()) {
    const right = found[at + 1];
    if (right === undefined || !/^,? (?:and|or) $/u.test(question.slice(left.end, right.start))) continue;
    if (isOneName(question.slice(left.start, right.end))) continue;
    const [before, after] = [question.slice(0, left.start), question.slice(right.end)];
    const single = before
      .replace(/\bdo (?=$)/u, 'does ')
      .replace(/\bare (?=$)/u, 'is ')
      .replace(/\bwere (?=$)/u, 'was ');
    return [left, right].map(({ text }) => `${single}${text}${after}`);
  }
  return [question];
}
