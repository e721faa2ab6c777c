import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { clientMessage, isEngramError } from '../../common/kernel/errors.ts';
import { type DatasetScope, datasetScope } from '../../common/kernel/scope.ts';
import { scrubErrorText } from '../../common/platform/jobs/run-error.ts';
import type { EmbeddingState, RequestOf } from '../../common/platform/messaging/messages.ts';
import type { EmbeddingChoice } from '../../common/ports/embedders.ts';
import type { Embedder } from '../../common/ports/models.ts';
import type { VectorMigration, VectorVersionsState } from '../../common/records/cognify/vector-index-versions.ts';
import { isSameSpace } from '../../common/storage/ports/vector-index.ts';
import { requireManagedDataset } from '../built/dataset-configuration.ts';
import type { CognifyDependencies } from '../dependencies.ts';
import {
  catchUp,
  FORMER_KEPT_MS,
  keep,
  LEASE_MS,
  type MigrationDependencies,
  MigrationLeftError,
  type MigrationWork,
  settle,
  verify,
} from './migration-step.ts';

type Dependencies = MigrationDependencies & Pick<CognifyDependencies, 'datasets' | 'managedResources'>;

/** Length of one turn. */
const WORK_MS = 8_000;
const POLL_MS = 200;
const FIRST_RETRY_MS = 2_000;
/** Also the time after which a corrected key is noticed. */
const LAST_RETRY_MS = 60_000;

/** Requests a model for a managed dataset; rules and errors: `cognify.MigrateEmbedding` in proto/. */
export async function migrateEmbedding(
  deps: Dependencies,
  { tenantId, datasetId, crUid, embedding }: RequestOf<'cognify.MigrateEmbedding'>,
  follow: (scope: DatasetScope) => Promise<EmbeddingState>,
): Promise<EmbeddingState> {
  await requireManagedDataset(deps, { tenant: tenantId, dataset: datasetId, crUid });
  const scope = datasetScope(tenantId, datasetId);
  const requested = embedding === undefined ? null : { model: embedding.model, dimensions: embedding.dimensions };
  await deps.vectorVersions.update(scope, ({ wish }) => (isSameChoice(wish, requested) ? null : { wish: requested }));
  return follow(scope);
}

/**
 * Works on the migration of the dataset's vectors to the requested model for `workMs`, and returns its progress. `workMs` 0: only
 * begins it. `isAlone`: returns at once when another worker has it.
 */
export async function followRequest(
  given: MigrationDependencies,
  scope: DatasetScope,
  { signal, workMs = WORK_MS, isAlone = false }: FollowOptions = {},
): Promise<EmbeddingState> {
  // The migration knows which index version it works on.
  const deps = { ...given, vectors: given.vectorVersions.inVersions };
  const endsAtMs = deps.clock.now().getTime() + workMs;
  for (;;) {
    signal?.throwIfAborted();
    const state = await deps.vectorVersions.state(scope);
    const wanted = await wantedEmbedder(deps, scope, state);
    // The model in use stays, and the failure describes the error of the requested one.
    if (!('embedder' in wanted)) return stateOf(deps, scope, state, wanted.failure);
    const { embedder } = wanted;
    const { migration } = state;
    if (migration === null) {
      if (!(await begin(deps, scope, embedder)))
        return stateOf(deps, scope, await deps.vectorVersions.state(scope), null);
      continue;
    }
    if (migration.former === null && !isSameSpace(migration.to, embedder.space)) {
      await abandon(deps, scope, migration.home);
      continue;
    }
    const now = deps.clock.now().getTime();
    if (now >= endsAtMs || migration.retryAtMs > now) return stateOf(deps, scope, state, migration.failure);
    const work = await claim(deps, { scope, endsAtMs, migration, embedder, signal });
    if (work === null && isAlone) return stateOf(deps, scope, state, migration.failure);
    if (work === null) {
      await sleep(POLL_MS);
      continue;
    }
    if (await continueMigration(deps, work)) continue;
    const after = await deps.vectorVersions.state(scope);
    return stateOf(deps, scope, after, after.migration?.failure ?? null);
  }
}

interface FollowOptions {
  readonly signal?: AbortSignal;
  readonly workMs?: number;
  readonly isAlone?: boolean;
}

export function isSameChoice(left: EmbeddingChoice | null, right: EmbeddingChoice | null): boolean {
  return left === null || right === null ? left === right : isSameSpace(left, right);
}

type Failure = NonNullable<VectorMigration['failure']>;

async function wantedEmbedder(
  { embedders }: MigrationDependencies,
  scope: DatasetScope,
  { wish }: VectorVersionsState,
): Promise<{ readonly embedder: Embedder } | { readonly failure: Failure }> {
  try {
    return { embedder: await embedders.wanted(scope.tenant, wish) };
  } catch (error) {
    return { failure: failureOf(error) };
  }
}

/** Begins a migration. False when there is nothing to do: no vectors, or vectors of the requested model. */
async function begin({ vectorVersions, clock }: MigrationDependencies, scope: DatasetScope, { space: to }: Embedder) {
  const { space: from, number } = await vectorVersions.active(scope);
  if (from === null || isSameSpace(from, to)) return false;
  await vectorVersions.forgetReembedded(scope, null);
  await vectorVersions.update(scope, ({ migration, active, last }) => {
    if (migration !== null || active !== number) return null;
    return {
      last: last + 1,
      migration: {
        home: last + 1,
        from: { ...from },
        to: { ...to },
        startedAt: clock.now().toISOString(),
        done: 0,
        total: 0,
        inHand: [],
        worker: null,
        leasedUntilMs: 0,
        isStopping: false,
        failures: 0,
        retryAtMs: 0,
        failure: null,
        former: null,
      },
    };
  });
  return true;
}

/** Ends a migration whose model is not requested any more, before its index version became active. */
async function abandon(
  { vectorVersions, clock }: MigrationDependencies,
  scope: DatasetScope,
  version: number,
): Promise<void> {
  for (;;) {
    let isBusy = false;
    const state = await vectorVersions.update(scope, ({ migration }) => {
      isBusy = false;
      if (migration === null || migration.home !== version || migration.former !== null) return null;
      isBusy = migration.worker !== null && migration.leasedUntilMs > clock.now().getTime();
      if (!isBusy) return { migration: null };
      return migration.isStopping ? null : { migration: { ...migration, isStopping: true } };
    });
    if (!isBusy) {
      if (state.migration !== null || state.active === version) return;
      await vectorVersions.dropVersion(scope, version);
      await vectorVersions.forgetReembedded(scope, null);
      return;
    }
    await sleep(POLL_MS);
  }
}

/** Claims the migration; null when another worker has it. */
async function claim(
  { vectorVersions, clock }: MigrationDependencies,
  {
    scope,
    endsAtMs,
    migration: { home: version },
    embedder,
    signal,
  }: {
    readonly scope: DatasetScope;
    readonly endsAtMs: number;
    readonly migration: VectorMigration;
    readonly embedder: Embedder;
    readonly signal: AbortSignal | undefined;
  },
): Promise<MigrationWork | null> {
  const worker = randomUUID();
  const state = await vectorVersions.update(scope, ({ migration }) => {
    const now = clock.now().getTime();
    if (migration === null || migration.home !== version) return null;
    // The process that wanted it stopped may have died too.
    if (migration.worker !== null && migration.leasedUntilMs > now) return null;
    return { migration: { ...migration, worker, leasedUntilMs: now + LEASE_MS, isStopping: false } };
  });
  if (state.migration?.worker !== worker) return null;
  const context = { scope, purpose: 'extraction' as const, ...(signal === undefined ? {} : { signal }) };
  return { scope, worker, endsAtMs, context, embedder };
}

/** Does the next step of the migration; false when it has to be continued later. */
async function continueMigration(deps: MigrationDependencies, work: MigrationWork): Promise<boolean> {
  const { scope } = work;
  let version: number | null = null;
  try {
    const { migration } = await keep(deps, work);
    if (migration === null) return true;
    version = migration.home;
    if (migration.former === null) {
      const isReady = (await catchUp(deps, work, migration.home)) && (await verify(deps, work, migration.home));
      if (isReady) await swap(deps, work);
      await release(deps, work, { failures: 0, retryAtMs: 0, failure: null });
      return isReady;
    }
    // A request for another model has to wait: missing vectors are made by the model of the active index version.
    const { embedder } = work;
    if (!isSameSpace(embedder.space, migration.to)) {
      const own = await deps.embedders.of(scope.tenant, migration.to);
      if (own !== null) return await finish(deps, { ...work, embedder: own }, migration);
      return await finish(deps, work, migration, { withoutModel: true });
    }
    return await finish(deps, work, migration);
  } catch (error) {
    if (error instanceof MigrationLeftError) {
      await release(deps, work, {});
      // The process that ended the migration did not wait for this worker, which seemed dead.
      if (version !== null) await deps.vectorVersions.written(scope, version);
      return true;
    }
    const isStopped = work.context.signal?.aborted === true;
    if (!isStopped) deps.logger.warn('cognify.migration.failed', { error, datasetId: scope.dataset });
    await release(deps, work, isStopped ? {} : { failure: failureOf(error) });
    if (isStopped) throw error;
    return false;
  }
}

/** Makes the new index version active. Readers see the old or the new one; writers check before they commit. */
async function swap(
  { vectorVersions, clock, logger }: MigrationDependencies,
  { scope, worker }: MigrationWork,
): Promise<void> {
  await vectorVersions.update(scope, ({ active, migration }) => {
    if (migration === null || migration.worker !== worker || migration.isStopping) return null;
    const former = { home: active, leftAtMs: clock.now().getTime() };
    return { active: migration.home, migration: { ...migration, inHand: [], former } };
  });
  logger.info('cognify.migration.swapped', { datasetId: scope.dataset });
}

/** Removes the former index version when no search can be reading it and the active one is complete. */
async function finish(
  deps: MigrationDependencies,
  work: MigrationWork,
  { home: version, former }: VectorMigration,
  { withoutModel = false }: { readonly withoutModel?: boolean } = {},
): Promise<boolean> {
  const { vectorVersions, clock } = deps;
  const { scope, worker } = work;
  if (former === null) return false;
  const isSettled = withoutModel || (await settle(deps, work, version));
  if (!isSettled || clock.now().getTime() < former.leftAtMs + FORMER_KEPT_MS) {
    await release(deps, work, { failures: 0, retryAtMs: 0, failure: null });
    return false;
  }
  await vectorVersions.dropVersion(scope, former.home);
  await vectorVersions.forgetReembedded(scope, null);
  await vectorVersions.update(scope, ({ migration }) => (migration?.worker === worker ? { migration: null } : null));
  deps.logger.info('cognify.migration.finished', { datasetId: scope.dataset });
  return true;
}

async function release(
  { vectorVersions, clock }: MigrationDependencies,
  { scope, worker }: MigrationWork,
  changes: Partial<Pick<VectorMigration, 'failures' | 'retryAtMs' | 'failure'>>,
): Promise<void> {
  await vectorVersions.update(scope, ({ migration }) => {
    if (migration === null || migration.worker !== worker) return null;
    const released = { ...migration, ...changes, worker: null, leasedUntilMs: 0 };
    if (changes.failure == null) return { migration: released };
    const failures = migration.failures + 1;
    const delayMs = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 10));
    return { migration: { ...released, failures, retryAtMs: clock.now().getTime() + delayMs } };
  });
}

function failureOf(error: unknown): Failure {
  if (!isEngramError(error)) {
    return { name: 'CogneeSystemError', message: 'Unexpected error; see the log of cognify' };
  }
  return { name: error.wireName, message: scrubErrorText(clientMessage(error)) };
}

async function stateOf(
  { vectorVersions }: MigrationDependencies,
  scope: DatasetScope,
  { migration }: VectorVersionsState,
  failure: Failure | null,
): Promise<EmbeddingState> {
  const { space } = await vectorVersions.active(scope);
  return {
    embedding: space === null ? null : { model: space.model, dimensions: space.dimensions },
    migration:
      migration === null
        ? null
        : {
            from: migration.from,
            to: migration.to,
            done: migration.done,
            total: migration.total,
            startedAt: migration.startedAt,
            phase: migration.former === null ? 'copying' : 'settling',
          },
    failure,
  };
}
