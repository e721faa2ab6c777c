const SHOWN_CHARACTERS = 10;
/** A form that comes back with so many asterisks in a key was not filled in anew (auth-integrations.md §5.2). */
const MASK = '*****';

/**
 * What may be seen of a provider's key: ten characters and an asterisk for each other one; nothing of a key so short that
 * little would be hidden. Always with enough asterisks to be known for a mask when it comes back.
 */
export function shownKey(key: string): string {
  const isLong = key.length >= SHOWN_CHARACTERS + MASK.length;
  const shown = isLong ? key.slice(0, SHOWN_CHARACTERS) : '';
  return shown + '*'.repeat(Math.max(MASK.length, key.length - shown.length));
}

/** The key that a client sent; null leaves the old one: it is blank, or the mask as it was shown. */
export function newKeyIn(text: string): string | null {
  const key = text.trim();
  return key === '' || key.includes(MASK) ? null : key;
}
