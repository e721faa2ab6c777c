import { createHash } from 'node:crypto';
import { billOf, payerOf } from '../../common/domain/budget.ts';
import type { DataItem } from '../../common/domain/data-item.ts';
import { isTerminal, type RunState } from '../../common/domain/run.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { isEngramError } from '../../common/kernel/errors.ts';
import { dataItemId } from '../../common/kernel/ids.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import { awaitRun } from '../../common/platform/jobs/await-run.ts';
import { failedItems } from '../../common/platform/jobs/run-error.ts';
import { isPermitted } from '../../common/platform/messaging/is-permitted.ts';
import type { AnswerOf, CognifyOptions, RequestOf } from '../../common/platform/messaging/messages.ts';
import { type CallContext, callerOf } from '../../common/platform/messaging/messenger.ts';
import type { IngestDependencies } from '../dependencies.ts';
import { type AddRequest, addData } from './add-data.ts';
import type { RefusedInput } from './refused-input.ts';
import { addTarget } from './target-dataset.ts';
import { trackedRun } from './tracked-run.ts';

export interface RememberOutcome {
  readonly dataset: DatasetRef;
  /** The terminal state of the cognify run. */
  readonly run: RunState;
  /** Every item the run reports, present ones only; for who may not read the dataset, those of the request. */
  readonly items: readonly DataItem[];
  /** Added items that could not be built, by id. */
  readonly failed: ReadonlyMap<string, string>;
  /** Nothing of what was added is built. */
  readonly isErrored: boolean;
  readonly refused: readonly RefusedInput[];
  readonly elapsedSeconds: number;
  /** Result of improving the dataset; null when it was not improved. */
  readonly improved: Improved | null;
}

/** How the graph is built from what was added. */
export interface BuildRequest {
  readonly options: CognifyOptions;
  /** Improves the dataset when the graph is built, unless that is switched off. */
  readonly selfImprovement: boolean;
}

interface Improved {
  /** ImproveResult of the wire; null when there is none. */
  readonly result: JsonObject | null;
  readonly error: string | null;
}

/** Adds, builds the graph and improves it. */
export async function rememberData(
  dependencies: IngestDependencies,
  request: AddRequest & BuildRequest,
): Promise<RememberOutcome> {
  const { messenger, clock, ids, items } = dependencies;
  const { principal, context, isThere, create = async () => request.dataset } = request;
  // Before the data is taken in: a request that is refused changes nothing.
  await dependencies.budgets.check(billOf(payerOf(request.principal), { concurrentRuns: 1 }));
  const startedMs = clock.monotonicMs();
  const tracked = { id: ids.uuid(), pipeline: 'add_pipeline', principal, dataset: request.dataset, context };
  const { refused, added } = await trackedRun(messenger, { ...tracked, isThere }, async () => {
    const result = await addData(dependencies, request);
    return { result, items: result.added.map(({ item }) => item.id) };
  });
  const dataset = await create();
  const own = new Set(added.map(({ item }) => item.id));
  const { run, failed, isErrored, improved } = await buildAdded(dependencies, { ...request, dataset, items: own });
  const maySeeAll = await isPermitted(messenger, 'read', dataset.id, { ...context, principal });
  const shown = run.items.map(({ item }) => item).filter((id) => maySeeAll || own.has(id));
  const built = await items.getMany(scopeOf(dataset), shown);
  const elapsedSeconds = (clock.monotonicMs() - startedMs) / 1000;
  return { dataset, run, items: built, failed, isErrored, refused, elapsedSeconds, improved };
}

/** Remembers a text that another service was given, in a dataset by name. Throws the errors of a request that remembers it. */
export async function rememberText(
  dependencies: IngestDependencies,
  { datasetName, text, nodeSets }: RequestOf<'ingest.RememberText'>,
  context: CallContext,
): Promise<AnswerOf<'ingest.RememberText'>> {
  const principal = callerOf(context);
  const target = await addTarget(dependencies.messenger, principal, { name: datasetName }, context);
  const fileName = `text_${createHash('md5').update(text).digest('hex')}.txt`;
  const outcome = await rememberData(dependencies, {
    ...target,
    principal,
    context,
    inputs: [{ kind: 'document', id: dataItemId(dependencies.ids.uuid()), fileName, text }],
    annotations: { labels: [], nodeSets, externalMetadata: [] },
    signal: context.signal ?? new AbortController().signal,
    options: {},
    selfImprovement: true,
  });
  return { dataset: outcome.dataset, itemId: outcome.items[0]?.id ?? '', runStatus: outcome.run.status };
}

/** Builds the graph of the dataset with the items that were added, and improves it. */
export async function buildAdded(
  dependencies: IngestDependencies,
  request: AddRequest & BuildRequest & { readonly items: ReadonlySet<string>; readonly background?: boolean },
): Promise<Pick<RememberOutcome, 'run' | 'failed' | 'isErrored' | 'improved'>> {
  const { messenger, settings } = dependencies;
  const { principal, dataset, context, options, items, background = false, selfImprovement } = request;
  const started = await messenger.call('cognify.StartRun', { dataset, options, background }, { ...context, principal });
  const run = isTerminal(started.run.status) ? started.run : await awaitRun(messenger, started.run.id, context);
  const failed = new Map(
    failedItems(run, [...items]).map(({ item, failure }) => [item as string, failure?.message ?? 'no reason was kept']),
  );
  const isAllFailed = failed.size > 0 && [...items].every((item) => failed.has(item));
  const isErrored = run.status === 'DATASET_PROCESSING_ERRORED' || isAllFailed;
  const isBuilt = run.status === 'DATASET_PROCESSING_COMPLETED' && !isErrored;
  const isImproved = selfImprovement && settings.sessions.autoImprove !== null;
  const improved = isImproved && isBuilt ? await improveBuilt(dependencies, request) : null;
  return { run, failed, isErrored, improved };
}

/** Reports a failure without failing the call: the data is in the graph already. */
async function improveBuilt({ messenger, logger }: IngestDependencies, { dataset, principal, context }: AddRequest) {
  try {
    return await messenger.call('improve.Improve', { dataset, sessions: [] }, { ...context, principal });
  } catch (error) {
    if (!isEngramError(error)) throw error;
    logger.warn('remember.improve.failed', { datasetId: dataset.id, error });
    return { result: null, error: error.detail };
  }
}
