/** What is looked at of one text: a megabyte of it says no more, and everything after this costs more than linear work. */
const MAX_READ = 4_000;

const SECRETS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:bearer|basic)\s+[\w.~+/=-]{6,}/giu, '[redacted]'],
  [
    /\b[\w-]{0,40}(?:key|token|secret|password|passwd|pwd|authorization|credential)[\w-]{0,40}\s{0,3}[=:]\s{0,3}["']?[^\s"',;&]+/giu,
    '[redacted]',
  ],
  [/\beyJ[\w-]{6,}\.[\w-]+\.[\w-]*/gu, '[redacted]'],
  [/\b[\w+.-]{1,20}:\/\/[^\s/@:]+:[^\s/@]+@/gu, '[redacted]@'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/giu, '[uuid]'],
  [/\b[0-9a-f]{32,}\b/giu, '[redacted]'],
  [/\d{8,}/gu, '[number]'],
];

/**
 * Text of a trace as it may be kept: one line, without credentials and without what is different each time (UUIDs, long
 * numbers), at most `limit` characters (cognify-improve.md §3.9).
 */
export function redacted(text: string, limit: number): string {
  let line = text.slice(0, MAX_READ).replaceAll(/\s+/gu, ' ').trim();
  for (const [pattern, replacement] of SECRETS) line = line.replaceAll(pattern, replacement);
  return line.slice(0, limit).toWellFormed().trim();
}

const SECRET_NAME = /key|token|secret|passw|pwd|authoriz|authentic|credential|cookie|signature/iu;

/** A parameter of this name is never looked at. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}
