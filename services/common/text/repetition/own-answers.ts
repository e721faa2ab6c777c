/** Answer of the service when memory has no answer, without a model or with one that finds none. */
export const NOTHING_FITS = 'Nothing in memory answers this question.';

/** Answer of the service to a message that only comments on an earlier answer. */
export const ACKNOWLEDGEMENT = 'Got it.';

/** Returns a quote: a sentence of memory verbatim, with its source. A short answer may stand before the first: `Ada: "…" (…)`. */
export function quoteLine(text: string, source: string): string {
  return `"${text}" (${source})`;
}

const EVIDENCE = /\n\nEvidence:(?:\n- chunk \d+ of document [^\n]*)+$/u;

/** The answer without the passages of memory that are named and quoted below it. */
export function withoutEvidence(answer: string): string {
  return answer.replace(EVIDENCE, '');
}

/**
 * Whether an answer holds nothing but what the service says by itself: that it knows nothing, that it has understood, or
 * quotes of memory, perhaps with the code that follows the last one there. Quotes are only taken for its own where the answer was
 * made from memory: others quote too.
 */
export function isOwnAnswer(answer: string, isFromMemory: boolean): boolean {
  if (answer === NOTHING_FITS || answer === ACKNOWLEDGEMENT) return true;
  if (!isFromMemory) return false;
  // A question of several parts is answered part by part, each below its question.
  const parts = answer.split(/\n\n(?=[^\n"]+\?\n)/u).map((part) => part.replace(/^[^\n"]+\?\n/u, ''));
  return parts.map(withoutExample).every((part) => part === NOTHING_FITS || part.split(/\n(?=")/u).every(isQuoteLine));
}

function isQuoteLine(line: string): boolean {
  return /^(?:[^"\n]{1,100}: )?"[\s\S]+" \([^\n]+\)$/u.test(line) && line.split('" (').length === 2;
}

/** Leaves out the code between fences behind the last quote, which shows what that says. */
function withoutExample(part: string): string {
  const mark = ['```', '~~~'].find((fence) => part.endsWith(fence));
  const start = mark === undefined ? -1 : part.indexOf(`\n${mark}`);
  if (start < 0) return part;
  const lines = part.slice(start + 1).split('\n');
  const isEnd = (line: string) => line.trim() === mark;
  return lines.findIndex((line, at) => at > 0 && isEnd(line)) === lines.length - 1 ? part.slice(0, start) : part;
}
