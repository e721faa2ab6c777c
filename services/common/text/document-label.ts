import { isGeneratedName } from '../domain/index-rows.ts';

const MAX_LENGTH = 60;

/** Returns the beginning of a text on one line, cut between words. */
export function firstWords(text: string): string {
  // Reads no more of a long text than needed.
  const words = text
    .slice(0, 20 * MAX_LENGTH)
    .replaceAll(/\s+/g, ' ')
    .trim();
  if (words.length <= MAX_LENGTH) return words;
  const cut = words.slice(0, MAX_LENGTH + 1).replace(/ [^ ]*$/, '');
  return `${cut.slice(0, MAX_LENGTH).toWellFormed()} …`;
}

/** Returns a document as a person knows it: its file name with the extension, else its name, else the first words of its text. */
export function documentLabel({
  name,
  fileName,
  text,
}: {
  readonly name: string;
  readonly fileName: string;
  /** Its beginning; '' when it is not known. */
  readonly text: string;
}): string {
  if (name === '' || isGeneratedName(name)) {
    const first =
      /^(?:[ \t]*\[[^\]\n]*\d[^\]\n]*\][ \t])?[^\p{L}\p{N}\n]*([^\n]+)/mu.exec(text.slice(0, 20 * MAX_LENGTH))?.[1] ??
      '';
    if (first.trim() !== '') return firstWords(first);
  }
  return fileName.startsWith(`${name}.`) ? fileName : name;
}
