import type { DataItemId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { slices } from '../../common/kernel/slices.ts';
import type { Embedder, ModelCallContext } from '../../common/ports/models.ts';
import type { VectorMigration, VectorVersionsState } from '../../common/records/cognify/vector-index-versions.ts';
import type { Provenance } from '../../common/storage/ports/index-entry.ts';
import type { CognifyDependencies } from '../dependencies.ts';
import { copyItem } from './copy-vectors.ts';
import { incompleteItems, isComplete, requireFindable } from './verify-version.ts';

export type MigrationDependencies = Pick<
  CognifyDependencies,
  'text' | 'graph' | 'vectors' | 'vectorVersions' | 'embedders' | 'ledger' | 'clock' | 'settings' | 'logger'
>;

export interface MigrationWork {
  readonly scope: DatasetScope;
  readonly worker: string;
  readonly embedder: Embedder;
  /** No new batch is started after this time. */
  readonly endsAtMs: number;
  readonly context: ModelCallContext;
}

/** Another worker has taken over, or the migration was stopped. */
export class MigrationLeftError extends Error {
  override readonly name = 'MigrationLeftError';
}

export const LEASE_MS = 12_000;
/** Searches that began before the new index version became active have ended by then. */
export const FORMER_KEPT_MS = 15_000;
const ITEMS_AT_ONCE = 8;
/** Rounds of copying vectors that verification found missing. */
const ATTEMPTS = 3;

/** Renews the lease together with changes; throws when another worker has the migration. */
export async function keep(
  { vectorVersions, clock }: MigrationDependencies,
  { scope, worker }: MigrationWork,
  changes: Partial<VectorMigration> = {},
): Promise<VectorVersionsState> {
  const leasedUntilMs = clock.now().getTime() + LEASE_MS;
  let isLeft = false;
  const state = await vectorVersions.update(scope, ({ migration }) => {
    isLeft = migration === null || migration.worker !== worker || migration.isStopping;
    return migration === null || isLeft ? null : { migration: { ...migration, leasedUntilMs, ...changes } };
  });
  if (isLeft) throw new MigrationLeftError('the migration is left');
  return state;
}

/**
 * Updates the index version to what the ledger has committed, batch by batch: adds vectors of new items, removes those of
 * forgotten ones. True when it is complete, false when the time is up.
 */
export async function catchUp(deps: MigrationDependencies, work: MigrationWork, version: number): Promise<boolean> {
  const { vectorVersions, ledger, vectors, clock } = deps;
  const { scope } = work;
  const versionScope = vectorVersions.scopeOf(scope, version);
  await cleanLastBatch(deps, work, version);
  for (;;) {
    const [committed, known] = await Promise.all([
      ledger.allCommitted(scope),
      vectorVersions.reembedded(scope, version),
    ]);
    const gone = [...known.keys()].filter((item) => !committed.has(item));
    for (const item of gone) await vectors.remove(versionScope, { item });
    if (gone.length > 0) await vectorVersions.forgetReembedded(scope, gone);
    const origins = [...committed].map(([item, generation]) => ({ item, generation }));
    const open = origins.filter(({ item, generation }) => known.get(item) !== generation);
    const total = origins.length;
    if (open.length === 0) {
      await keep(deps, work, { inHand: [], done: total, total });
      return true;
    }
    let done = total - open.length;
    for (const batch of slices(open, ITEMS_AT_ONCE)) {
      work.context.signal?.throwIfAborted();
      if (clock.now().getTime() >= work.endsAtMs) {
        await keep(deps, work, { inHand: [], done, total });
        return false;
      }
      await keep(deps, work, { inHand: batch.map(({ item }) => item), done, total });
      await copyBatch(deps, work, version, batch);
      done += batch.length;
    }
  }
}

/** Copies a batch of items; removes the vectors of items that were forgotten or built again meanwhile. */
async function copyBatch(
  deps: MigrationDependencies,
  work: MigrationWork,
  version: number,
  batch: readonly Provenance[],
): Promise<void> {
  const { vectorVersions, ledger, vectors, clock } = deps;
  const { scope, context, embedder } = work;
  const target = { scope: vectorVersions.scopeOf(scope, version), embedder };
  let renewedAtMs = clock.now().getTime();
  const onPage = async (): Promise<void> => {
    if (clock.now().getTime() - renewedAtMs < LEASE_MS / 4) return;
    renewedAtMs = clock.now().getTime();
    await keep(deps, work);
  };
  try {
    for (const origin of batch) await copyItem(deps, scope, origin, { target, context, onPage });
  } finally {
    await removeGone(deps, scope, target.scope, batch);
  }
  const committed = await ledger.committed(
    scope,
    batch.map(({ item }) => item),
  );
  const present = batch.filter(({ item, generation }) => committed.get(item) === generation);
  // Vectors of an older generation may be left when the generation was replaced in between.
  for (const { item, generation } of present) {
    await vectors.remove(target.scope, { item, beforeGeneration: generation });
  }
  await vectorVersions.keepReembedded(scope, version, present);
}

async function removeGone(
  { ledger, vectors }: MigrationDependencies,
  scope: DatasetScope,
  versionScope: DatasetScope,
  batch: readonly Provenance[],
): Promise<void> {
  const items = batch.map(({ item }) => item);
  const committed = await ledger.committed(scope, items);
  for (const { item, generation } of batch) {
    if (committed.get(item) !== generation) await vectors.remove(versionScope, { item, generation });
  }
}

/** Removes vectors of the last batch of a crashed worker whose items were forgotten since. */
async function cleanLastBatch(deps: MigrationDependencies, work: MigrationWork, version: number): Promise<void> {
  const { vectorVersions, ledger, vectors } = deps;
  const { migration } = await vectorVersions.state(work.scope);
  const inHand = (migration?.inHand ?? []) as readonly DataItemId[];
  if (inHand.length === 0) return;
  const committed = await ledger.committed(work.scope, inHand);
  for (const item of inHand) {
    if (!committed.has(item)) await vectors.remove(vectorVersions.scopeOf(work.scope, version), { item });
  }
}

/** Verifies that the index version is complete and finds its own texts. False when the time is up. */
export async function verify(deps: MigrationDependencies, work: MigrationWork, version: number): Promise<boolean> {
  const { vectorVersions, ledger } = deps;
  const { scope, embedder, context } = work;
  const target = { scope: vectorVersions.scopeOf(scope, version), embedder };
  for (let attempt = 1; ; attempt++) {
    const origins = [...(await ledger.allCommitted(scope))].map(([item, generation]) => ({ item, generation }));
    const incomplete = await incompleteItems(deps, scope, target.scope, origins);
    if (incomplete.length === 0) {
      await keep(deps, work);
      await requireFindable(deps, scope, { target, origins, context });
      return catchUp(deps, work, version);
    }
    if (attempt > ATTEMPTS) {
      const text = `${incomplete.length} items have fewer vectors than texts; the migration tries again.`;
      throw engramError('ServiceUnavailableError', text, { retryable: true });
    }
    await vectorVersions.forgetReembedded(scope, incomplete);
    if (!(await catchUp(deps, work, version))) return false;
  }
}

/**
 * Completes the active index version after the switch with items of builds that had begun before it. Builds that wrote there
 * themselves are recognised. True when nothing is missing.
 */
export async function settle(deps: MigrationDependencies, work: MigrationWork, version: number): Promise<boolean> {
  const { vectorVersions, ledger } = deps;
  const { scope } = work;
  const [committed, known] = await Promise.all([ledger.allCommitted(scope), vectorVersions.reembedded(scope, version)]);
  const versionScope = vectorVersions.scopeOf(scope, version);
  for (const [item, generation] of committed) {
    if (known.get(item) === generation) continue;
    if (deps.clock.now().getTime() >= work.endsAtMs) return false;
    if (await isComplete(deps, scope, versionScope, { item, generation })) {
      await vectorVersions.keepReembedded(scope, version, [{ item, generation }]);
    }
  }
  if (!(await catchUp(deps, work, version))) return false;
  const origins = [...(await ledger.allCommitted(scope))].map(([item, generation]) => ({ item, generation }));
  const incomplete = await incompleteItems(deps, scope, versionScope, origins);
  if (incomplete.length === 0) return true;
  await vectorVersions.forgetReembedded(scope, incomplete);
  return catchUp(deps, work, version);
}
