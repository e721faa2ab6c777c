import { z } from 'zod';
import { engramError } from '../../../common/kernel/errors.ts';
import { lenientInteger, optional } from '../../../common/platform/http/schema.ts';
import type { SessionTarget } from '../session-target.ts';
import type { EntryRequest } from './entry-kind.ts';

/** Larger answers are documents: `POST /add` takes those. */
const MAX_ENTRY_BYTES = 4 * 1024 * 1024;
const MIN_SCORE = 1;
const MAX_SCORE = 5;

/** The range is an error of its own class and status, so it is not the schema's. */
export const scoreSchema = optional(lenientInteger()).transform((score) => score ?? null);

/** Pins the session; absent, null and empty pin nothing. */
export const nodeSetSchema = optional(
  z.array(z.string()).refine((names) => names.every((name) => name.trim() !== ''), 'node_set names must not be empty'),
).transform((names) => names ?? null);

export function checkScore(score: number | null): void {
  if (score === null || (score >= MIN_SCORE && score <= MAX_SCORE)) return;
  throw engramError('SessionQAEntryValidationError', 'feedback_score must be between 1 and 5');
}

export function checkSize(entry: unknown): void {
  const size = Buffer.byteLength(JSON.stringify(entry));
  if (size <= MAX_ENTRY_BYTES) return;
  throw engramError(
    'PayloadTooLargeError',
    `An entry of a session is limited to ${MAX_ENTRY_BYTES} bytes; this one has ${size}.`,
  );
}

/** Of kinds that need a session, which the use case has seen to. */
export function targetOf({ target }: Pick<EntryRequest<unknown>, 'target'>): SessionTarget {
  if (target === null) throw new Error('an entry of a session came without one');
  return target;
}
