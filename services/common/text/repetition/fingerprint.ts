import { createHash } from 'node:crypto';

/** Shorter sentences (`Yes.`, `Thank you!`) are everybody's: nobody repeats somebody with them. */
const MIN_WORDS = 4;
/** What people put in front of what they repeat. */
const FRAME =
  /^(?:(?:answer|a|context|memory|recalled|result|evidence|note|fact|assistant|summary)\s*:|(?:according to (?:my|the|your) (?:memory|notes|records)|from (?:my |the )?memory|i (?:recall|remember)(?: that)?|as (?:i|you) (?:recall|remember)|i found(?: that)?|memory says(?: that)?)[,:]?)\s+/iu;

/**
 * Of what a sentence says: its words in order, whatever stands around them. Every word counts, numbers and negations too:
 * a sentence that differs in one of them says something else. Null for one that is too short to be recognised.
 */
export function sentenceFingerprint(sentence: string): string | null {
  const bare = sentence.trim().replace(/^(?:[-*•>#|]+|\d{1,3}[.)])\s+/u, '');
  const words =
    bare
      .replace(FRAME, '')
      .normalize('NFKC')
      .toLowerCase()
      .replaceAll(/['’]/gu, '')
      .match(/[\p{L}\p{M}\p{N}]+(?:[.,][\p{N}]+)*|[$€£¥%+-](?=\p{N})|%/gu) ?? [];
  if (words.length < MIN_WORDS) return null;
  return createHash('sha256').update(words.join(' ')).digest('base64url').slice(0, 22);
}

/** The name of a session, and questions that somebody asked without a question mark. */
const ASKING =
  /^(?:session id\s*:|question\s*:\s*(?:who|whom|whose|what|where|when|why|how|which|is|are|was|were|do|does|did|can|could|should|would|will|has|have|tell|show|list|find|summari[sz]e|explain)\b[^.!]*$)/iu;

/** Questions, headings of a turn, and what is left of quotes when their sentences are gone say nothing of their own. */
export function saysSomething(sentence: string): boolean {
  const text = sentence.trim();
  if (/\?["”'’)]*$/u.test(text) || ASKING.test(text)) return false;
  if (/^(?:question|answer|context|user|assistant|q|a)\s*:?$/iu.test(text)) return false;
  const words = (text.match(/[\p{L}\p{N}]+/gu) ?? []).length;
  // `(notes)`: where a quote is from.
  if (/^[([][^()[\]]*[)\]]\.?$/u.test(text)) return words >= MIN_WORDS;
  return words > 1;
}
