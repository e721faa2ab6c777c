import { saysSomething } from './fingerprint.ts';

/** A sentence of a text, and whether its writer was shown it before. */
interface ReadSentence {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly isEcho: boolean;
}

/** Refers to the sentence before it. */
const REFERS_BACK =
  /^(?:["“(*-]\s*)*(?:he|she|it|they|this|that|these|those|his|her|its|their|there|then|however|but|and|so|also|therefore|instead|otherwise|such|both)\b/iu;

/**
 * Returns the new parts of a text: null when everything is an echo, the text itself when nothing is. An echoed sentence stays
 * when the next one refers to it.
 */
export function newParts(text: string, read: readonly ReadSentence[]): string | null {
  if (!read.some(({ isEcho }) => isEcho)) return text;
  if (!read.some((sentence) => !sentence.isEcho && saysSomething(sentence.text))) return null;
  let kept = '';
  let end = 0;
  for (const [at, sentence] of read.entries()) {
    const next = read[at + 1];
    const isNeeded = next !== undefined && !next.isEcho && REFERS_BACK.test(next.text);
    if (!sentence.isEcho || isNeeded) continue;
    kept += text.slice(end, sentence.start);
    end = sentence.end;
  }
  return `${kept}${text.slice(end)}`
    .replaceAll(/[ \t]{2,}/gu, ' ')
    .replaceAll(/\n{3,}/gu, '\n\n')
    .trim();
}
