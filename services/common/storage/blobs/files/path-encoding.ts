/**
 * Blob keys as paths. Names use `a`–`z`, digits, `.`, `_`, `-` and `%xx` only, so they mean the same on case-insensitive
 * and Unicode-normalising file systems, and none of them can climb (`../..`) or be a device of Windows (`con`).
 *
 * Each segment becomes a directory, the last one a file ending in `=`, so that the keys `a` and `a/b` live side by side.
 * A name too long for a file system goes on below a directory ending in `+`.
 */
const MAX_NAME_LENGTH = 180;
const FILE_MARK = '=';
const CONTINUED_MARK = '+';
const DEVICE = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)/;

type PathEntry =
  | { readonly kind: 'file' | 'directory'; readonly encoded: string }
  | { readonly kind: 'continued'; readonly encoded: string };

/** Path steps below the place of a scope. */
export function encodeKey(key: string): readonly string[] {
  const segments = key.split('/').map(encodeSegment);
  return segments.flatMap((encoded, index) => {
    const steps: string[] = [];
    let rest = encoded;
    for (; rest.length > MAX_NAME_LENGTH; rest = rest.slice(MAX_NAME_LENGTH)) {
      steps.push(rest.slice(0, MAX_NAME_LENGTH) + CONTINUED_MARK);
    }
    return [...steps, index === segments.length - 1 ? rest + FILE_MARK : rest];
  });
}

export function encodeSegment(segment: string): string {
  let encoded = '';
  for (const byte of Buffer.from(segment, 'utf8')) {
    const character = String.fromCharCode(byte);
    encoded += /[a-z0-9._-]/.test(character) ? character : percent(byte);
  }
  if (encoded.endsWith('.')) encoded = `${encoded.slice(0, -1)}${percent(0x2e)}`;
  const first = encoded.charCodeAt(0);
  return encoded.startsWith('.') || DEVICE.test(encoded) ? percent(first) + encoded.slice(1) : encoded;
}

export function decodeSegment(encoded: string): string {
  return decodeURIComponent(encoded);
}

/** Meaning of a directory entry. */
export function readEntry(name: string): PathEntry {
  if (name.endsWith(FILE_MARK)) return { kind: 'file', encoded: name.slice(0, -1) };
  if (name.endsWith(CONTINUED_MARK)) return { kind: 'continued', encoded: name.slice(0, -1) };
  return { kind: 'directory', encoded: name };
}

function percent(byte: number): string {
  return `%${byte.toString(16).padStart(2, '0')}`;
}
