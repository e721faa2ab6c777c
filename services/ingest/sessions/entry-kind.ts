import { z } from 'zod';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { lenientInteger, optional } from '../../common/platform/http/schema.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import type { IngestDependencies } from '../dependencies.ts';
import type { SessionTarget } from './session-target.ts';

/** An entry on its way into memory, with everything it refers to checked: the principal may write to the dataset. */
export interface EntryRequest<Entry> {
  readonly entry: Entry;
  readonly principal: Principal;
  readonly dataset: DatasetRef;
  /** Null for kinds that need no session and came without one. */
  readonly target: SessionTarget | null;
  /** The value as the client sent it; kinds that do not know it ignore it. */
  readonly skillImprovement: JsonObject | null;
  readonly context: CallContext;
}

export interface StoredEntry {
  /** `errored`: nothing was stored, which is no error of the request. */
  readonly status: 'session_stored' | 'completed' | 'errored';
  readonly entryId: string;
  readonly items?: readonly JsonObject[];
  readonly error?: string;
}

/** Handling of one kind of entry of `POST /remember/entry`. */
export interface EntryKind<Entry> {
  readonly needsSession: boolean;
  /** It refers to what a dataset holds, so none is made for it. */
  readonly needsDataset?: boolean;
  /** Checks what the schema cannot; throws before anything is read or written. */
  check?(entry: Entry): void;
  store(dependencies: IngestDependencies, request: EntryRequest<Entry>): Promise<StoredEntry>;
}

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

/** Session of the entry, for kinds that need one; the use case has checked it. */
export function targetOf({ target }: Pick<EntryRequest<unknown>, 'target'>): SessionTarget {
  if (target === null) throw new Error('an entry of a session came without one');
  return target;
}
