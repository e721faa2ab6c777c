import { z } from 'zod';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { isEngramError } from '../../common/kernel/errors.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import type { IngestDependencies } from '../dependencies.ts';
import { targetDataset } from '../items/target-dataset.ts';
import type { EntryKind, StoredEntry } from './entry-kind.ts';
import { feedbackKind, feedbackSchema, qaKind, qaSchema } from './qa-entries.ts';
import { requireSessionMemory, sessionTarget } from './session-target.ts';
import { skillRunKind, skillRunSchema } from './skill-run-entries.ts';
import { traceKind, traceSchema } from './trace-entries.ts';

/** Every kind of entry, told apart by `type`; an unknown one is a fault that names these. */
export const entrySchema = z.discriminatedUnion('type', [qaSchema, traceSchema, feedbackSchema, skillRunSchema]);
type Entry = z.output<typeof entrySchema>;

/** Handling of each kind. */
const KINDS: { readonly [Type in Entry['type']]: EntryKind<Extract<Entry, { type: Type }>> } = {
  qa: qaKind,
  trace: traceKind,
  feedback: feedbackKind,
  skill_run: skillRunKind,
};

function kindOf(entry: Entry): EntryKind<Entry> {
  // The table pairs each type with the handler of its entries.
  return KINDS[entry.type] as EntryKind<Entry>;
}

export const DEFAULT_DATASET = 'main_dataset';

interface EntryCall {
  readonly entry: Entry;
  readonly principal: Principal;
  readonly datasetId: string | null;
  readonly datasetName: string;
  readonly session: string | null;
  readonly skillImprovement: JsonObject | null;
  readonly context: CallContext;
}

export interface RememberedEntry {
  readonly dataset: DatasetRef;
  readonly stored: StoredEntry;
  readonly elapsedSeconds: number;
}

/**
 * Stores an entry; durable when it resolves. Everything is checked before anything is made. Errors: 400 with a fixed body
 * for a missing session, another dataset than the session's, a name that cannot be created; 503 without session memory, when
 * nothing was written; those of the entry's kind.
 */
export async function rememberEntry(dependencies: IngestDependencies, call: EntryCall): Promise<RememberedEntry> {
  const { clock } = dependencies;
  const { entry, principal, session, skillImprovement, context } = call;
  const startedMs = clock.monotonicMs();
  const kind = kindOf(entry);
  kind.check?.(entry);
  if (kind.needsSession && (session === null || session === '')) throw invalidRequest();
  if (kind.needsSession) requireSessionMemory(dependencies);
  const target = await placeOf(dependencies, call, !kind.needsDataset).catch(translated);
  const request = { entry, principal, dataset: target.dataset, target: target.session, skillImprovement, context };
  const stored = await kind.store(dependencies, request).catch(translated);
  return { dataset: target.dataset, stored, elapsedSeconds: (clock.monotonicMs() - startedMs) / 1000 };
}

async function placeOf(dependencies: IngestDependencies, call: EntryCall, createMissing: boolean) {
  const { principal, datasetId: id, datasetName: name, session, context } = call;
  if (!session || !dependencies.settings.sessions.enabled) {
    const options = { permission: 'write', createMissing, context } as const;
    const dataset = await targetDataset(dependencies.messenger, principal, { id, name }, options);
    return { dataset, session: null };
  }
  const selection = { id, name, session, defaultName: DEFAULT_DATASET, createMissing };
  const target = await sessionTarget(dependencies, principal, selection, context);
  return { dataset: target.dataset, session: target };
}

/** The contract has one text for what is wrong with the session or the dataset. */
function translated(error: unknown): never {
  throw isEngramError(error) && INVALID.has(error.wireName) ? invalidRequest(error) : error;
}

/** A dataset is missing only for a kind that makes none. */
const INVALID = new Set(['InvalidRequestError', 'InvalidDatasetNameError', 'DatasetNotFoundError']);

function invalidRequest(cause?: unknown): HttpError {
  return new HttpError(400, { error: 'Invalid remember request.' }, { cause });
}
