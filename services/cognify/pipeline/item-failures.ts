import type { DataItem } from '../../common/domain/data-item.ts';
import type { ItemFailure } from '../../common/domain/run.ts';
import { EngramError } from '../../common/kernel/errors.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import { describeItemError, describeRunError } from '../../common/platform/jobs/run-recorder.ts';
import type { Logger } from '../../common/ports/logger.ts';
import { failedBuild, type Ledger, type LedgerEntry, MAX_TRIES } from '../../common/records/cognify/ledger.ts';
import type { ActiveRun, RunReport, StagePosition } from '../runs/run-executor.ts';
import { blameOf } from './item-fault.ts';

/** The wire counts an item when the last of four tasks has ended. */
export const LAST_STAGE: StagePosition = { name: 'add_data_points', index: 4, total: 4 };

/** Items in a row that a store or a provider failed, without one that was built between them: it is not there. */
const MAX_PASSING = 3;
/** Failures that a run keeps in full: its answer must fit into a message. */
const MAX_DESCRIBED = 500;
/** Names in the history's one line. */
const MAX_NAMED = 3;

/** The items of one run that could not be built. Each is reported and leaves the others alone. */
export interface ItemFailures {
  /** Throws the error when it concerns more than the item, which ends the run. */
  add(item: DataItem, error: unknown, tries: number): Promise<void>;
  /** Reports an item that is not tried any more. */
  setAside(item: DataItem, entry: LedgerEntry): Promise<void>;
  /** An item was built: stores and models are there. */
  succeeded(): void;
  /** Throws what the run shall be put off for, and, when nothing of the dataset could be built, the first failure. */
  end(): Promise<void>;
  counts(): JsonObject;
  report(): Pick<RunReport, 'itemError'>;
}

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
    readonly ledger: Pick<Ledger, 'forgive'>;
    readonly logger: Logger;
    readonly settings: { readonly raiseItemErrors: boolean };
  },
  run: ActiveRun,
  { isNothingBuilt }: { readonly isNothingBuilt: boolean },
): ItemFailures {
  const failed: Failed[] = [];
  let passingInRow = 0;
  let hasSucceeded = !isNothingBuilt;
  const note = async (item: DataItem, error: unknown, failure: ItemFailure): Promise<void> => {
    failed.push({ item, error, failure });
    const { errorClass, message: reason, isSetAside } = failure;
    const fields = { runId: run.id, datasetId: run.dataset.id, itemId: item.id, name: item.name, errorClass, reason };
    logger.error(isSetAside ? 'cognify.item.set_aside' : 'cognify.item.failed', { ...fields, error });
    const described = failed.length > MAX_DESCRIBED ? {} : { failure };
    await run.itemEnded({ item: item.id, status: 'errored', ...described }, LAST_STAGE);
  };
  return {
    async add(item, error, tries) {
      const blame = blameOf(error);
      passingInRow = blame === 'passing' ? passingInRow + 1 : 0;
      const isSetAside = blame === 'item' && tries >= MAX_TRIES;
      const { errorClass, message } = describeItemError(error);
      await note(item, error, { name: item.name, errorClass, message, isSetAside });
      if (settings.raiseItemErrors || blame === 'run' || passingInRow >= MAX_PASSING) throw error;
    },
    async setAside(item, entry) {
      const { errorClass = 'Error', message = '' } = failedBuild(entry, item) ?? {};
      const failure = { name: item.name, errorClass, message, isSetAside: true };
      await note(item, new EngramError(errorClass, 500, message), failure);
    },
    succeeded() {
      hasSucceeded = true;
      passingInRow = 0;
    },
    async end() {
      const [first] = failed;
      const passing = run.goesOnLater ? failed.find(({ error }) => blameOf(error) === 'passing') : undefined;
      if (passing !== undefined) throw passing.error;
      if (first === undefined || hasSucceeded) return;
      await forgiveAlike(ledger, run, failed);
      throw named(first);
    },
    counts: () => (failed.length === 0 ? {} : { failed_items: failed.length }),
    report: () =>
      failed.length === 0 ? {} : { itemError: { errorClass: 'PipelineRunFailedError', message: lineOf(failed) } },
  };
}

/** The error of the run says which item it is of. */
function named({ item, error }: Failed): unknown {
  if (blameOf(error) !== 'item') return error;
  const { errorClass, message, status } = describeRunError(error);
  return new EngramError(errorClass, status, `'${item.name}' could not be built: ${message}`, { cause: error });
}

/** When all items fail alike, whatever they all need is missing: none of them is set aside for it. */
async function forgiveAlike(ledger: Pick<Ledger, 'forgive'>, run: ActiveRun, failed: readonly Failed[]): Promise<void> {
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
