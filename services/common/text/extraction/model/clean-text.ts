const MAX_NAME = 200;
const MAX_TEXT = 2000;

/** Names and types of a model as they can be stored: one line, no control characters, bounded. */
export function cleanName(value: unknown): string {
  return cleanText(value).slice(0, MAX_NAME).toWellFormed().trim();
}

export function cleanText(value: unknown): string {
  if (typeof value !== 'string' && typeof value !== 'number') return '';
  return String(value)
    .toWellFormed()
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, MAX_TEXT)
    .toWellFormed();
}

/** `Met With` → `met_with`. */
export function relationName(value: unknown): string {
  return cleanName(value)
    .replaceAll(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1_$2')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '_')
    .replaceAll(/^_+|_+$/g, '');
}
