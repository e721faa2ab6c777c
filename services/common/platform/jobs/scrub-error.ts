const LOOK_AT = 2048;
const KEEP = 512;

/** Order matters: the specific patterns run before the general ones they contain. */
const RULES: readonly (readonly [RegExp, string])[] = [
  [/[\p{L}\p{N}._%+-]+@[\p{L}\p{N}.-]+\.\p{L}{2,}/gu, '[email]'],
  [/\bbearer\s+[^\s"',;]+/gi, '[secret]'],
  [/\b(?:sk|pk|rk|api|key|token|secret)[-_][\w-]{4,}/gi, '[secret]'],
  [/\b[0-9a-f]{32,}\b/gi, '[secret]'],
  [/(?<![\w+/=-])[\w+/-]{40,}={0,2}(?![\w+/=-])/g, '[secret]'],
  [/((?:^|[\s"'(=:])(?:\/home|\/Users|[A-Za-z]:\\Users)[\\/])[^\s\\/"':]+/g, '$1[user]'],
  [/\d{6,}/g, '[number]'],
];

/**
 * Makes an error text safe to store and show: replaces addresses, secrets, home directories and long numbers, and cuts it to
 * 512 characters, the last one `…` then.
 */
export function scrubErrorText(text: string): string {
  let scrubbed = text.slice(0, LOOK_AT).toWellFormed();
  for (const [pattern, replacement] of RULES) scrubbed = scrubbed.replace(pattern, replacement);
  const cut = text.length > LOOK_AT || scrubbed.length > KEEP;
  return cut ? `${scrubbed.slice(0, KEEP - 1).toWellFormed()}…` : scrubbed;
}
