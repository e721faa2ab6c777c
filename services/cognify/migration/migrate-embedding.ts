import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { clientMessage, isEngramError } from '../../common/kernel/errors.ts';
import { type DatasetScope, datasetScope } from '../../common/kernel/scope.ts';
import { scrubErrorText } from '../../common/platform/jobs/scrub-error.ts';
import type { DatasetEmbedding, EmbeddingState, RequestOf } from '../../common/platform/messaging/messages.ts';
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

/** It is let go then, lest one that nobody asks for any more goes on. */
const WORK_MS = 8_000;
const LOOK_AGAIN_MS = 200;
const FIRST_RETRY_MS = 2_000;
/** A key that was corrected is noticed then, too. */
const LAST_RETRY_MS = 60_000;

/** See `cognify.MigrateEmbedding` in proto/: rules and errors. */
export async function migrateEmbedding(
  deps: Dependencies,
  { tenantId, datasetId, crUid, embedding }: RequestOf<'cognify.MigrateEmbedding'>,
  follow: (scope: DatasetScope) => Promise<EmbeddingState>,
): Promise<EmbeddingState> {
  await requireManagedDataset(deps, { tenant: tenantId, dataset: datasetId, crUid });
  const scope = datasetScope(tenantId, datasetId);
  const asked = wishOf(embedding);
  await deps.vectorVersions.update(scope, ({ wish }) => (isSameWish(wish, asked) ? null : { wish: asked }));
  return follow(scope);
}

/**
 * Works for a while on bringing the dataset's vectors to the model that is wanted, and tells how far that is. `workMs` 0: begins
 * it at most. `isAlone`: leaves it to somebody else who is at it, for whom others wait.
 */
export async function followWish(
  given: MigrationDependencies,
  scope: DatasetScope,
  { signal, workMs = WORK_MS, isAlone = false }: FollowOptions = {},
): Promise<EmbeddingState> {
  // It knows which index versions it works on.
  const deps = { ...given, vectors: given.vectorVersions.inVersions };
  const endsAtMs = deps.clock.now().getTime() + workMs;
  for (;;) {
    signal?.throwIfAborted();
    const state = await deps.vectorVersions.state(scope);
    const wanted = await wantedEmbedder(deps, scope, state);
    // The one in use stays, and whoever set the other is told what to do.
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
      await sleep(LOOK_AGAIN_MS);
      continue;
    }
    if (await carryOn(deps, work)) continue;
    const after = await deps.vectorVersions.state(scope);
    return stateOf(deps, scope, after, after.migration?.failure ?? null);
  }
}

interface FollowOptions {
  readonly signal?: AbortSignal;
  readonly workMs?: number;
  readonly isAlone?: boolean;
}

function wishOf(embedding: DatasetEmbedding | undefined): VectorVersionsState['wish'] {
  return embedding === undefined ? null : { model: embedding.model, dimensions: embedding.dimensions };
}

function isSameWish(left: VectorVersionsState['wish'], right: VectorVersionsState['wish']): boolean {
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

/** False when there is nothing to do: no vectors, or those of the model that is wanted. */
async function begin({ vectorVersions, clock }: MigrationDependencies, scope: DatasetScope, { space: to }: Embedder) {
  const { space: from, number } = await vectorVersions.active(scope);
  if (from === null || isSameSpace(from, to)) return false;
  await vectorVersions.forgetReembedded(scope, null);
  await vectorVersions.update(scope, ({ migration, active, last }) => {
    if (migration !== null || active !== number) return null;
    return {
      last: last + 1,
      migration: {
        ...{ home: last + 1, from: { ...from }, to: { ...to }, startedAt: clock.now().toISOString() },
        ...{ done: 0, total: 0, inHand: [], worker: null, leasedUntilMs: 0, isStopping: false },
        ...{ failures: 0, retryAtMs: 0, failure: null, former: null },
      },
    };
  });
  return true;
}

/** The spec went back, or on to another model, before the new index version was read. */
async function abandon(
  { vectorVersions, clock }: MigrationDependencies,
  scope: DatasetScope,
  home: number,
): Promise<void> {
  for (;;) {
    let isBusy = false;
    const state = await vectorVersions.update(scope, ({ migration }) => {
      isBusy = false;
      if (migration === null || migration.home !== home || migration.former !== null) return null;
      isBusy = migration.worker !== null && migration.leasedUntilMs > clock.now().getTime();
      if (!isBusy) return { migration: null };
      return migration.isStopping ? null : { migration: { ...migration, isStopping: true } };
    });
    if (!isBusy) {
      if (state.migration !== null || state.active === home) return;
      await vectorVersions.dropVersion(scope, home);
      await vectorVersions.forgetReembedded(scope, null);
      return;
    }
    await sleep(LOOK_AGAIN_MS);
  }
}

/** Null when somebody else is at it. */
async function claim(
  { vectorVersions, clock }: MigrationDependencies,
  {
    scope,
    endsAtMs,
    migration: { home },
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
    if (migration === null || migration.home !== home) return null;
    // Whoever wanted it stopped may have died since, too.
    if (migration.worker !== null && migration.leasedUntilMs > now) return null;
    return { migration: { ...migration, worker, leasedUntilMs: now + LEASE_MS, isStopping: false } };
  });
  if (state.migration?.worker !== worker) return null;
  const context = { scope, purpose: 'extraction' as const, ...(signal === undefined ? {} : { signal }) };
  return { scope, worker, endsAtMs, context, embedder };
}

/** A step of it, whichever is next; false when it is to be asked for again later. */
async function carryOn(deps: MigrationDependencies, work: MigrationWork): Promise<boolean> {
  const { scope } = work;
  let home: number | null = null;
  try {
    const { migration } = await keep(deps, work);
    if (migration === null) return true;
    home = migration.home;
    if (migration.former === null) {
      const isReady = (await catchUp(deps, work, migration.home)) && (await verify(deps, work, migration.home));
      if (isReady) await swap(deps, work);
      await release(deps, work, { failures: 0, retryAtMs: 0, failure: null });
      return isReady;
    }
    // A wish of the meantime has to wait: the model of the index version that is read makes what is missing there.
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
      // Whoever ended the migration did not wait for one that seemed dead.
      if (home !== null) await deps.vectorVersions.written(scope, home);
      return true;
    }
    const isStopped = work.context.signal?.aborted === true;
    if (!isStopped) deps.logger.warn('cognify.migration.failed', { error, datasetId: scope.dataset });
    await release(deps, work, isStopped ? {} : { failure: failureOf(error) });
    if (isStopped) throw error;
    return false;
  }
}

/** One document says which index version is read: readers see the old one or the new one, and writers ask before they commit. */
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

/** The former index version goes when nobody can be reading it any more, and nothing is missing in the one that is read. */
async function finish(
  deps: MigrationDependencies,
  work: MigrationWork,
  { home, former }: VectorMigration,
  { withoutModel = false }: { readonly withoutModel?: boolean } = {},
): Promise<boolean> {
  const { vectorVersions, clock } = deps;
  const { scope, worker } = work;
  if (former === null) return false;
  const isSettled = withoutModel || (await settle(deps, work, home));
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
    return { name: 'CogneeSystemError', message: 'An unexpected error; see the log of cognify' };
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
            ...{ from: migration.from, to: migration.to, done: migration.done, total: migration.total },
            ...{ startedAt: migration.startedAt, phase: migration.former === null ? 'copying' : 'settling' },
          },
    failure,
  };
}
