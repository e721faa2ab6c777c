import { saysSomething } from './fingerprint.ts';

/** A sentence of a text, and whether its writer was shown it before. */
interface ReadSentence {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly isEcho: boolean;
}

/** It points at the sentence before it and says little without. */
const POINTS_BACK =
  /^(?:["“(*-]\s*)*(?:he|she|it|they|this|that|these|those|his|her|its|their|there|then|however|but|and|so|also|therefore|instead|otherwise|such|both)\b/iu;

/**
 * What of a text is new: null when nothing is, the text itself when nothing comes back in it. A sentence that came back
 * stays where the next one points at it.
 */
export function newParts(text: string, read: readonly ReadSentence[]): string | null {
  if (!read.some(({ isEcho }) => isEcho)) return text;
  if (!read.some((sentence) => !sentence.isEcho && saysSomething(sentence.text))) return null;
  let kept = '';
  let end = 0;
  for (const [at, sentence] of read.entries()) {
    const next = read[at + 1];
    const isNeeded = next !== undefined && !next.isEcho && POINTS_BACK.test(next.text);
    if (!sentence.isEcho || isNeeded) continue;
    kept += text.slice(end, sentence.start);
    end = sentence.end;
  }
  return `${kept}${text.slice(end)}`
    .replaceAll(/[ \t]{2,}/gu, ' ')
    .replaceAll(/\n{3,}/gu, '\n\n')
    .trim();
}
