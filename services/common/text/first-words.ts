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
