import type { DataItem } from '../../common/domain/data-item.ts';
import type { ItemFailure } from '../../common/domain/run.ts';
import { EngramError, isEngramError } from '../../common/kernel/errors.ts';
import { isTransient } from '../../common/platform/jobs/run-error.ts';
import { describeItemError, describeRunError } from '../../common/platform/jobs/run-recorder.ts';
import type { Logger } from '../../common/ports/logger.ts';
import { failedBuild, type Ledger, type LedgerEntry, MAX_TRIES } from '../../common/records/cognify/ledger.ts';
import type { ActiveRun, StagePosition } from '../model.ts';

/** The wire counts an item when the last of four tasks has ended. */
export const LAST_STAGE: StagePosition = { name: 'add_data_points', index: 4, total: 4 };

/** Items in a row that may fail because of a store or a provider; then it counts as down. */
const MAX_TRANSIENT = 3;
/** Failures that a run keeps in full: its answer must fit into a message. */
const MAX_DESCRIBED = 500;
/** Names in the history's one line. */
const MAX_NAMED = 3;

/** The items of one run that could not be built. Each is reported; the other items are still built. */
export type ItemFailures = ReturnType<typeof createItemFailures>;

interface Failed {
  readonly item: DataItem;
  readonly error: unknown;
  readonly failure: ItemFailure;
}

export function createItemFailures(
  {
    ledger,
    logger,
    settings,
  }: {
    readonly ledger: Ledger;
    readonly logger: Logger;
    readonly settings: { readonly raiseItemErrors: boolean };
  },
  run: ActiveRun,
  { isNothingBuilt }: { readonly isNothingBuilt: boolean },
) {
  const failed: Failed[] = [];
  let transientInRow = 0;
  let hasSucceeded = !isNothingBuilt;
  const report = async (item: DataItem, error: unknown, failure: ItemFailure): Promise<void> => {
    failed.push({ item, error, failure });
    const { errorClass, message: reason, isSetAside } = failure;
    const fields = { runId: run.id, datasetId: run.dataset.id, itemId: item.id, name: item.name, errorClass, reason };
    logger.error(isSetAside ? 'cognify.item.set_aside' : 'cognify.item.failed', { ...fields, error });
    const described = failed.length > MAX_DESCRIBED ? {} : { failure };
    await run.itemEnded({ item: item.id, status: 'errored', ...described }, LAST_STAGE);
  };
  return {
    /** Records the failure of an item. Throws the error when it concerns more than the item, which ends the run. */
    async add(item: DataItem, error: unknown, tries: number) {
      const blame = blameOf(error);
      transientInRow = blame === 'transient' ? transientInRow + 1 : 0;
      const isSetAside = blame === 'item' && tries >= MAX_TRIES;
      const { errorClass, message } = describeItemError(error);
      await report(item, error, { name: item.name, errorClass, message, isSetAside });
      if (settings.raiseItemErrors || blame === 'run' || transientInRow >= MAX_TRANSIENT) throw error;
    },
    /** Reports an item that is not tried any more. */
    async setAside(item: DataItem, entry: LedgerEntry) {
      const { errorClass = 'Error', message = '' } = failedBuild(entry, item) ?? {};
      const failure = { name: item.name, errorClass, message, isSetAside: true };
      await report(item, new EngramError(errorClass, 500, message), failure);
    },
    /** Records that an item was built: stores and models are available. */
    succeeded() {
      hasSucceeded = true;
      transientInRow = 0;
    },
    /** Throws the error that the run is postponed for, or the first failure when no item of the dataset is built. */
    async end() {
      const [first] = failed;
      const transient = run.isResumable ? failed.find(({ error }) => blameOf(error) === 'transient') : undefined;
      if (transient !== undefined) throw transient.error;
      if (first === undefined || hasSucceeded) return;
      await forgiveAlike(ledger, run, failed);
      throw named(first);
    },
    counts: () => (failed.length === 0 ? {} : { failed_items: failed.length }),
    report: () =>
      failed.length === 0 ? {} : { itemError: { errorClass: 'PipelineRunFailedError', message: lineOf(failed) } },
  };
}

/** Returns the error with the name of its item. */
function named({ item, error }: Failed): unknown {
  if (blameOf(error) !== 'item') return error;
  const { errorClass, message, status } = describeRunError(error);
  return new EngramError(errorClass, status, `'${item.name}' could not be built: ${message}`, { cause: error });
}

/** Takes back the tries of items that all failed alike: something that they all need is missing. */
async function forgiveAlike(ledger: Ledger, run: ActiveRun, failed: readonly Failed[]): Promise<void> {
  const isAlike = new Set(failed.map(({ failure }) => `${failure.errorClass}\n${failure.message}`)).size === 1;
  if (failed.length > 1 && isAlike && !failed.some(({ failure }) => failure.isSetAside)) {
    await ledger.forgive(
      run.scope,
      failed.map(({ item }) => item.id),
    );
  }
}

function lineOf(failed: readonly Failed[]): string {
  const named = failed.slice(0, MAX_NAMED).map(({ failure: { name, message } }) => `'${name}': ${message}`);
  const more = failed.length > named.length ? ` and ${failed.length - named.length} more` : '';
  const items = failed.length === 1 ? '1 item' : `${failed.length} items`;
  return describeRunError(new Error(`${items} could not be built. ${named.join(' ')}${more}`)).message;
}

/** Failures that concern all items: money, keys, permissions, a damaged store. */
const RUN_FAILURES = new Set([
  'LLMPaymentRequiredError',
  'LLMQuotaExceededError',
  'LLMAPIKeyNotSetError',
  'TooManyRequestsError',
  'EmbeddingDimensionMismatchError',
  'CorruptStoreError',
  'PermissionDeniedError',
  'CancelledError',
  'LeaseLostError',
]);

/**
 * Classifies a failure: `item` fails this item alone, `run` would fail all others too, and `transient` comes from a store or
 * a provider that may answer again: it ends the run only when it repeats.
 */
export function blameOf(error: unknown): 'item' | 'run' | 'transient' {
  if (isTransient(error)) return 'transient';
  const name = isEngramError(error) ? error.wireName : error instanceof Error ? error.name : '';
  return RUN_FAILURES.has(name) ? 'run' : 'item';
}
