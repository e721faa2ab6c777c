import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { asAccount } from '../../common/platform/messaging/account-authority.ts';
import type { Messenger } from '../../common/platform/messaging/messenger.ts';
import type { Logger } from '../../common/ports/logger.ts';
import type { Clock, IdSource } from '../../common/ports/system.ts';
import type { Datasets } from '../../common/records/auth/datasets.ts';
import { createIndexRebuilds, type StoredRebuild } from '../../common/records/cognify/index-rebuilds.ts';
import type { DocumentStore } from '../../common/storage/ports/document-store.ts';
import { type StartDependencies, startCognify } from './start-cognify.ts';

interface Dependencies extends StartDependencies {
  readonly store: DocumentStore;
  readonly datasets: Datasets;
  readonly messenger: Messenger;
  readonly ids: IdSource;
  readonly clock: Clock;
  readonly logger: Logger;
}

const FIRST_RETRY_MS = 5_000;
const LONGEST_RETRY_MS = 600_000;

/** Rebuilds lost indexes: starts a run for each dataset on behalf of its owner, and again until one is completed. */
export async function rebuildLost(dependencies: Dependencies): Promise<void> {
  const { store, logger } = dependencies;
  for (const stored of await createIndexRebuilds(store).all(SYSTEM_SCOPE)) {
    try {
      await advance(dependencies, stored);
    } catch (error) {
      logger.warn('index.rebuild.failed', { error, datasetId: stored.scope.dataset });
      await retryLater(dependencies, stored);
    }
  }
}

async function advance(dependencies: Dependencies, stored: StoredRebuild): Promise<void> {
  const { store, datasets, runs, messenger, ids, clock, logger } = dependencies;
  const { scope, rebuild } = stored;
  const rebuilds = createIndexRebuilds(store);
  const dataset = await datasets.get({ tenant: scope.tenant }, scope.dataset);
  if (dataset === null) return rebuilds.remove(scope);
  if (rebuild.runId !== null) {
    const run = await runs.get(scope, rebuild.runId as Parameters<typeof runs.get>[1]);
    if (run?.state.status === 'DATASET_PROCESSING_STARTED') return;
    if (run?.state.status === 'DATASET_PROCESSING_COMPLETED') {
      logger.info('index.rebuilt', { datasetId: dataset.id, items: rebuild.lost });
      return rebuilds.remove(scope);
    }
    return retryLater(dependencies, stored);
  }
  if (rebuild.retryAtMs > clock.now().getTime()) return;
  const { principal } = await asAccount(
    messenger,
    { userId: dataset.ownerId, tenant: dataset.tenant },
    { requestId: ids.uuid(), signal: AbortSignal.timeout(FIRST_RETRY_MS) },
    'The owner of the dataset no longer exists.',
  );
  const run = await startCognify(dependencies, { principal, dataset, options: {}, background: true });
  await rebuilds.change(scope, { runId: run.id });
  logger.info('index.rebuilding', { datasetId: dataset.id, items: rebuild.lost, runId: run.id });
}

async function retryLater({ store, clock }: Dependencies, { scope, rebuild }: StoredRebuild): Promise<void> {
  const failures = rebuild.failures + 1;
  const delayMs = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** (failures - 1));
  await createIndexRebuilds(store).change(scope, {
    runId: null,
    failures,
    retryAtMs: clock.now().getTime() + delayMs,
  });
}
