/** Name of the owner of a dataset in its graph: who says `I` in a note without another author. */
export const OWNER_NAME = 'Me';

/** Returns the name of a person by a mail address: `Ann Lee` for `Ann Lee <al@example.com>` and for `ann.lee@example.com`. */
export function personOfAddress(address: string): string {
  const named = /^\s*"?([^"<>]*?)"?\s*<[^<>]*>\s*$/u.exec(address)?.[1]?.trim() ?? '';
  if (named !== '') return named.replace(/^([^,]+), ([^,]+)$/u, '$2 $1');
  const bare = address.replace(/^\s*<|>\s*$/gu, '').trim();
  const words = (bare.split('@')[0] ?? '').split(/[._+-]+/u).filter((word) => /\p{L}/u.test(word));
  return words.length === 0 ? bare : words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(' ');
}
