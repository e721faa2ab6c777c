import { createHash } from 'node:crypto';

/** Minimum length: shorter sentences (`Yes.`, `Thank you!`) are too common to be a repetition. */
const MIN_WORDS = 4;
/** Phrases before a repeated sentence. */
const FRAME =
  /^(?:(?:answer|a|context|memory|recalled|result|evidence|note|fact|assistant|summary)\s*:|(?:according to (?:my|the|your) (?:memory|notes|records)|from (?:my |the )?memory|i (?:recall|remember)(?: that)?|as (?:i|you) (?:recall|remember)|i found(?: that)?|memory says(?: that)?)[,:]?)\s+/iu;

/**
 * Returns the fingerprint of a sentence: of its words in order, without punctuation and introductions. Every word counts,
 * numbers and negations too. Null for a sentence that is too short.
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

/** Whether a text has content of its own, unlike questions, headings of a turn, and remains of quotes. */
export function saysSomething(sentence: string): boolean {
  const text = sentence.trim();
  if (/\?["”'’)]*$/u.test(text) || ASKING.test(text)) return false;
  if (/^(?:question|answer|context|user|assistant|q|a)\s*:?$/iu.test(text)) return false;
  const words = (text.match(/[\p{L}\p{N}]+/gu) ?? []).length;
  // `(notes)`: where a quote is from.
  if (/^[([][^()[\]]*[)\]]\.?$/u.test(text)) return words >= MIN_WORDS;
  return words > 1;
}
