import { z } from 'zod';
import type { EntryKind } from './entry-kind.ts';
import { feedbackKind, feedbackSchema } from './feedback.ts';
import { qaKind, qaSchema } from './qa.ts';
import { skillRunKind, skillRunSchema } from './skill-run.ts';
import { traceKind, traceSchema } from './trace.ts';

/** Every kind of entry, told apart by `type`; an unknown one is a fault that names these. */
export const entrySchema = z.discriminatedUnion('type', [qaSchema, traceSchema, feedbackSchema, skillRunSchema]);
export type Entry = z.output<typeof entrySchema>;

/** What is done with each. */
const KINDS: { readonly [Type in Entry['type']]: EntryKind<Extract<Entry, { type: Type }>> } = {
  qa: qaKind,
  trace: traceKind,
  feedback: feedbackKind,
  skill_run: skillRunKind,
};

export function kindOf(entry: Entry): EntryKind<Entry> {
  // The table pairs each type with the handler of its entries.
  return KINDS[entry.type] as EntryKind<Entry>;
}
