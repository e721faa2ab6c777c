import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { isEngramError } from '../../common/kernel/errors.ts';
import { heldError } from '../../common/platform/jobs/job-failure.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import type { ClaimedJob } from '../../common/ports/work-queue.ts';
import type {
  ConnectionChange,
  ImportChanges,
  ImportCounts,
  ImportFailure,
} from '../../common/records/integrations/connections.ts';
import type { SourceItem } from '../../common/records/integrations/source-items.ts';
import type { Write } from '../../common/storage/ports/document-store.ts';
import type { SourceDependencies } from '../dependencies.ts';
import { type Connector, type SourceAccess, SourceRevokedError } from '../providers/connector.ts';
import type { PermissionNotes } from './source-permissions.ts';

export interface ImportAttempt {
  readonly job: ClaimedJob;
  readonly connector: Connector;
  readonly access: SourceAccess;
  readonly dataset: DatasetRef;
  readonly context: CallContext;
  readonly tally: ImportTally;
  /** Null: the source has no permissions of its own. */
  readonly permissions: PermissionNotes;
  requireStill(): Promise<void>;
}

/** Result of an attempt so far. */
export interface ImportTally {
  counts: ImportCounts;
  done: number;
  total: number | null;
  /** The first failure, for the person. */
  error: string | null;
  /** Goes on over the attempts of a job. */
  changes: ImportChanges;
}

/** Changes of one commit. */
export const SLICE = 100;

export function countFailure(tally: ImportTally, failure: ImportFailure, times = 1): void {
  const { counts } = tally;
  tally.counts = { ...counts, failed: counts.failed + times, [failure]: (counts[failure] ?? 0) + times };
}

/** The kind of a failure that ends an import, or the reading of one feed. */
export function failureOf(error: unknown): ImportFailure {
  if (error instanceof SourceRevokedError) return 'failed_auth';
  if (!isEngramError(error)) return 'failed_source';
  if (error.wireName === 'PermissionDeniedError') return 'failed_auth';
  const isBudget = error.wireName === 'LLMPaymentRequiredError' || error.wireName === 'TooManyRequestsError';
  return isBudget ? 'failed_budget' : 'failed_ingestion';
}

/** Commits as the holder of the job: `LeaseLostError` once another worker has it. */
export async function commit(
  { store, workQueue, connections }: SourceDependencies,
  { job, tally, access, dataset }: ImportAttempt,
  writes: readonly Write[],
  change: ConnectionChange = {},
): Promise<void> {
  const { done, total, changes } = tally;
  const progress = connections.changeWrite(access.connection.id, { done, total, changes, ...change });
  try {
    await store.commit(scopeOf(dataset), [...workQueue.heldWrites(job), progress, ...writes]);
  } catch (error) {
    throw heldError(error, job);
  }
}

/** Has the document stored again, under its own name. */
export function toRename({ version, renamedVersion = null }: SourceItem): Partial<SourceItem> {
  return { version: null, renamedVersion: version ?? renamedVersion };
}
