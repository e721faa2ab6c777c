const MAX_LENGTH = 60;

/** The beginning of a text on one line, ended between words. */
export function firstWords(text: string): string {
  // Long texts are looked at no further than needed.
  const words = text
    .slice(0, 20 * MAX_LENGTH)
    .replaceAll(/\s+/g, ' ')
    .trim();
  if (words.length <= MAX_LENGTH) return words;
  const cut = words.slice(0, MAX_LENGTH + 1).replace(/ [^ ]*$/, '');
  return `${cut.slice(0, MAX_LENGTH).toWellFormed()} …`;
}
