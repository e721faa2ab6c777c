/** The least string above all strings with the prefix, by code point; null when there is none. */
export function nextAfterPrefix(prefix: string): string | null {
  const points = Array.from(prefix, (character) => character.codePointAt(0) ?? 0);
  while (points.at(-1) === 0x10ffff) points.pop();
  const last = points.pop();
  if (last === undefined) return null;
  return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1);
}
