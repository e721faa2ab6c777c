import type { BudgetAccount } from '../../domain/budget.ts';
import type { RunEvent, RunItem, RunOrigin, RunOutcome, RunState } from '../../domain/run.ts';
import type { RunId } from '../../kernel/brand.ts';
import type { DatasetRef } from '../../kernel/dataset.ts';
import { clientMessage, isEngramError } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { type DatasetScope, datasetScope } from '../../kernel/scope.ts';
import type { Budgets } from '../../ports/budgets.ts';
import type { EventLog } from '../../ports/event-log.ts';
import type { Logger } from '../../ports/logger.ts';
import type { TokenUsage } from '../../ports/models.ts';
import type { Clock, IdSource } from '../../ports/system.ts';
import type { RunRecord, RunRecords } from '../../records/cognify/run-records.ts';
import {
  type RunDocument,
  type RunExtraction,
  type Runs,
  runHeadsCollection,
  type StoredRun,
} from '../../records/cognify/runs.ts';
import {
  type DocumentStore,
  DuplicateKeyError,
  VersionConflictError,
  type Write,
} from '../../storage/ports/document-store.ts';
import { retry } from '../async/retry.ts';
import type { Messenger } from '../messaging/messenger.ts';
import { createErrorDeduplicator } from './error-deduplicator.ts';
import { scrubErrorText } from './run-error.ts';

interface RunRecorderDependencies {
  readonly store: DocumentStore;
  readonly runs: Runs;
  readonly records: RunRecords;
  readonly eventLog: EventLog;
  readonly messenger: Messenger;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  /** Refunds the charge of a run when it ends. */
  readonly budgets?: Budgets | undefined;
  /** Called for every state that a run enters. */
  readonly metrics?: { runState(pipeline: string, status: string): void } | undefined;
}

interface NewRun {
  readonly id: RunId;
  readonly pipeline: string;
  readonly dataset: DatasetRef;
  readonly userId: string;
  readonly background: boolean;
  /** Accounts that are charged. Absent: none is. */
  readonly paidBy?: readonly BudgetAccount[];
  /** The one session that it is about. */
  readonly sessionId?: string;
  readonly extraction?: RunExtraction;
  readonly origin?: RunOrigin;
}

/** How a run ended. Without `error` it is COMPLETED. */
export interface RunEnd {
  readonly error?: RunError;
  readonly outcome?: RunOutcome;
  /** Error of some items of a COMPLETED run, for the history. */
  readonly itemError?: { readonly errorClass: string; readonly message: string };
  readonly items?: readonly RunItem[];
  readonly counts?: JsonObject | null;
  readonly usage?: RunUsage;
}

/** Tokens that the models of a run used. */
export interface RunUsage extends TokenUsage {
  readonly embeddingTokens: number;
}

interface RunError {
  readonly errorClass: string;
  /** Scrubbed. */
  readonly message: string;
  readonly status: number;
}

/**
 * Records the transitions of runs. Each is one commit of the run's state, its history row, its domain event and the caller's
 * writes (the job), which is then published; a run that has ended never changes again.
 */
export type RunRecorder = ReturnType<typeof createRunRecorder>;

export interface WholeRun {
  readonly run: NewRun;
  readonly end: RunEnd;
}

interface StartedWith {
  readonly jobId: string;
  readonly writes: readonly Write[];
}

export function createRunRecorder(dependencies: RunRecorderDependencies) {
  const { store, runs, records, eventLog, clock, ids, metrics, budgets } = dependencies;
  const publish = createRunPublisher(dependencies);
  const record = (run: RunId, dataset: DatasetRef, document: RunDocument, usage?: RunUsage): Write =>
    records.appendWrite(ids.uuid(), recordOf(run, dataset, document, { now: clock.now().toISOString(), usage }));
  const notify = async (kind: 'started' | 'completed' | 'errored', run: RunState): Promise<RunState> => {
    metrics?.runState(run.pipeline, run.status);
    await publish({ kind, run });
    return run;
  };
  return {
    /** Publishes an event; never fails. */
    publish,
    /** `DuplicateKeyError` of the runs when the run is recorded already, for example because the request came twice. */
    async started(run: NewRun, also?: (scope: DatasetScope) => StartedWith) {
      const { id, pipeline, dataset } = run;
      const scope = datasetScope(dataset.tenant, dataset.id);
      const job = also?.(scope);
      const document = newDocument(run, clock.now().toISOString(), job?.jobId ?? null);
      await racing(async () => {
        await store.commit(scope, [
          runs.insertWrite(id, document),
          record(id, dataset, document),
          ...(await runs.headWrites(scope, new Map([[pipeline, id]]))),
          ...eventLog.appendWrites(scope, [startEvent(id, pipeline)]),
          ...(job?.writes ?? []),
        ]);
      });
      return notify('started', stateOf(id, dataset, document, []));
    },
    /** Resolves to null when the run had ended before: nothing is written then, not even `also`. */
    async ended(run: StoredRun, dataset: DatasetRef, end: RunEnd, also: readonly Write[] = []) {
      const { id, pipeline } = run.state;
      const now = clock.now().toISOString();
      const change = endChange(run.state.startedAt, end, now);
      const document: RunDocument = { ...run.document, ...change };
      const items = end.items ?? [];
      try {
        await racing(async () => {
          await store.commit(run.scope, [
            runs.updateWrite(id, change),
            record(id, dataset, document, end.usage),
            ...(await runs.headWrites(run.scope, new Map([[pipeline, id]]))),
            ...runs.resultWrites(now, [{ run: id, pipeline, items }]),
            ...eventLog.appendWrites(run.scope, [endEvent(id, document)]),
            ...(budgets?.returnWrites(run.paidBy, { concurrentRuns: 1 }) ?? []),
            ...also,
          ]);
        });
      } catch (error) {
        if (!(error instanceof VersionConflictError)) throw error;
        const present = await runs.get(run.scope, id);
        if (present?.state.status === 'DATASET_PROCESSING_STARTED') throw error;
        return null;
      }
      return notify(end.error ? 'errored' : 'completed', stateOf(id, dataset, document, items));
    },
    /**
     * Records runs of one dataset that ended before their start was recorded, in the order of their ends, in one commit; the
     * history gets both rows of each. Errors as `started`.
     */
    async whole(dataset: DatasetRef, given: readonly WholeRun[]) {
      const scope = datasetScope(dataset.tenant, dataset.id);
      const now = clock.now().toISOString();
      const whole = given.map((each) => wholeDocuments(each, now));
      const newest = new Map(whole.map(({ id, pipeline }) => [pipeline, id]));
      const results = whole.map(({ id: run, pipeline, items }) => ({ run, pipeline, items }));
      const events = whole.flatMap(({ id, pipeline, ended }) => [startEvent(id, pipeline), endEvent(id, ended)]);
      await racing(async () => {
        await store.commit(scope, [
          ...whole.map(({ id, ended }) => runs.insertWrite(id, ended)),
          ...whole.flatMap(({ id, begun, ended, end }) => [
            record(id, dataset, begun),
            record(id, dataset, ended, end.usage),
          ]),
          ...(await runs.headWrites(scope, newest)),
          ...runs.resultWrites(now, results),
          ...eventLog.appendWrites(scope, events),
        ]);
      });
      for (const { id, begun, ended, end, items } of whole) {
        await notify('started', stateOf(id, dataset, begun, []));
        await notify(end.error ? 'errored' : 'completed', stateOf(id, dataset, ended, items));
      }
    },
  };
}

/** Documents of a run that started and ended at `now`. */
function wholeDocuments({ run, end }: WholeRun, now: string) {
  const begun = newDocument(run, now, null);
  const ended: RunDocument = { ...begun, ...endChange(now, end, now) };
  return { id: run.id, pipeline: run.pipeline, begun, ended, end, items: end.items ?? [] };
}

function startEvent(id: RunId, pipeline: string) {
  return { type: 'run.started', subjectId: id, data: { pipeline } };
}

function endEvent(id: RunId, { pipeline, status, outcome, errorClass }: RunDocument) {
  const type = status === 'DATASET_PROCESSING_ERRORED' ? 'run.errored' : 'run.completed';
  return { type, subjectId: id, data: { pipeline, outcome, errorClass } };
}

/** Returns what is stored of an error: class, scrubbed text and the status for a blocking caller. */
export function describeRunError(error: unknown): RunError {
  if (isEngramError(error)) {
    return { errorClass: error.wireName, message: scrubErrorText(clientMessage(error)), status: error.status };
  }
  if (error instanceof Error) return { errorClass: error.name, message: scrubErrorText(error.message), status: 500 };
  return { errorClass: 'Error', message: scrubErrorText(String(error)), status: 500 };
}

/** The same for one item, without the status. */
export function describeItemError(error: unknown): { readonly errorClass: string; readonly message: string } {
  const { errorClass, message } = describeRunError(error);
  return { errorClass, message };
}

/** Two starts of a pipeline on a new dataset race for the same head document. */
function racing(commit: () => Promise<void>): Promise<void> {
  return retry(commit, {
    isRetryable: (error) => error instanceof DuplicateKeyError && error.collection === runHeadsCollection.name,
  });
}

function newDocument(run: NewRun, now: string, jobId: string | null): RunDocument {
  return {
    pipeline: run.pipeline,
    datasetName: run.dataset.name,
    userId: run.userId,
    status: 'DATASET_PROCESSING_STARTED',
    outcome: null,
    totalItems: 0,
    completedItems: 0,
    stage: null,
    counts: null,
    errorClass: null,
    errorMessage: null,
    errorStatus: null,
    background: run.background,
    startedAt: now,
    endedAt: null,
    jobId,
    stalledClaims: 0,
    ...(run.paidBy === undefined ? {} : { paidBy: run.paidBy }),
    ...(run.sessionId === undefined ? {} : { sessionId: run.sessionId }),
    ...(run.extraction === undefined ? {} : { extraction: run.extraction }),
    ...(run.origin === undefined ? {} : { origin: run.origin }),
  };
}

function endChange(startedAt: string, { error, itemError, outcome, counts }: RunEnd, now: string) {
  const duration = { duration_ms: Math.max(0, Date.parse(now) - Date.parse(startedAt)) };
  return {
    status: error ? 'DATASET_PROCESSING_ERRORED' : 'DATASET_PROCESSING_COMPLETED',
    outcome: error ? 'failed' : (outcome ?? 'succeeded'),
    counts: counts ? { ...counts, ...duration } : null,
    errorClass: (error ?? itemError)?.errorClass ?? null,
    errorMessage: (error ?? itemError)?.message ?? null,
    errorStatus: error?.status ?? null,
    endedAt: now,
  } satisfies Partial<RunDocument>;
}

function recordOf(
  runId: RunId,
  dataset: DatasetRef,
  document: RunDocument,
  { now, usage }: { readonly now: string; readonly usage: RunUsage | undefined },
): RunRecord {
  const measured = document.endedAt === null ? null : 0;
  const stages = document.counts?.['stages'];
  return {
    runId,
    pipeline: document.pipeline,
    status: document.status,
    datasetId: dataset.id,
    userId: document.userId,
    operation: document.pipeline,
    origin: document.origin ?? 'background',
    outcome: document.outcome,
    background: document.background,
    sessionId: document.sessionId ?? null,
    errorClass: document.errorClass,
    errorMessage: document.errorMessage,
    createdAt: now,
    startedAt: document.startedAt,
    endedAt: document.endedAt,
    tokensIn: usage?.inputTokens ?? measured,
    tokensOut: usage?.outputTokens ?? measured,
    embeddingTokens: usage?.embeddingTokens ?? measured,
    ...(stages === undefined ? {} : { stages }),
  };
}

function stateOf(id: RunId, dataset: DatasetRef, document: RunDocument, items: readonly RunItem[]): RunState {
  return {
    id,
    pipeline: document.pipeline,
    dataset: dataset.id,
    datasetName: document.datasetName,
    status: document.status,
    progress: null,
    items,
    counts: document.counts,
    errorClass: document.errorClass,
    errorMessage: document.errorMessage,
    errorStatus: document.errorStatus,
    startedAt: document.startedAt,
    endedAt: document.endedAt,
  };
}

/** Publishes the events of runs. Never fails: a subscriber that misses an event reads the run after a while. */
function createRunPublisher({
  messenger,
  logger,
}: {
  readonly messenger: Messenger;
  readonly logger: Logger;
}): (event: RunEvent) => Promise<void> {
  const faults = createErrorDeduplicator();
  return async (event) => {
    try {
      await messenger.publish('runs', event.run.id, event);
      faults.forget();
    } catch (error) {
      // An unavailable bus would otherwise fill the log with a line for each step of each item.
      if (faults.isNew(error)) logger.warn('run.event.publish_failed', { error, runId: event.run.id });
    }
  };
}
