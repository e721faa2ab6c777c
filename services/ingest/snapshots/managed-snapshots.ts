import { isSnapshotName, MANIFEST_NAME, type SnapshotPart } from '../../common/domain/snapshot.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import {
  type ListSnapshotsRequest,
  type PruneSnapshotsRequest,
  type SnapshotInfo,
  type SnapshotProgress,
  signSnapshot,
  type TakeSnapshotRequest,
} from '../../common/platform/messaging/methods/snapshots.ts';
import { datasetRef } from '../../common/records/auth/datasets.ts';
import type { ManagedResources } from '../../common/records/auth/managed-resources.ts';
import { eraserOfTenant, requireManager } from '../../common/records/auth/require-managed.ts';
import { DuplicateKeyError, VersionConflictError } from '../../common/storage/ports/document-store.ts';
import { placeText, type SnapshotPlace, type SnapshotPlaces } from '../../common/storage/ports/snapshot-places.ts';
import { partPlace } from '../../common/storage/snapshots/manifest.ts';
import { type PartPlace, readPart } from '../../common/storage/snapshots/part-stream.ts';
import type { IngestDependencies } from '../dependencies.ts';
import { createLeasedWork, type LeasedWork, type WorkWatch } from '../forgetting/leased-work.ts';
import type { SnapshotRecord, Snapshots } from '../repositories/snapshots.ts';
import { type SnapshotSources, writeSnapshot } from './write-snapshot.ts';

export type SnapshotDependencies = SnapshotSources &
  Pick<IngestDependencies, 'datasets' | 'messenger' | 'logger'> & {
    readonly snapshots: Snapshots;
    readonly managedResources: Pick<ManagedResources, 'of'>;
    readonly places: SnapshotPlaces;
  };

/** Snapshots for the operator, which asks again until each is complete. See common/platform/messaging/methods/snapshots.ts. */
export interface ManagedSnapshots {
  take(request: TakeSnapshotRequest, context: CallContext): Promise<SnapshotProgress>;
  list(request: ListSnapshotsRequest): Promise<readonly SnapshotInfo[]>;
  prune(request: PruneSnapshotsRequest): Promise<readonly string[]>;
  /** Removes what was begun in the installation's own store and is not gone on with. */
  sweep(): Promise<void>;
  stop(): Promise<void>;
}

/** Whoever asks does so every few seconds, or minutes after a failure. */
const ABANDONED_AFTER_MS = 24 * 3_600_000;

export function createManagedSnapshots(
  deps: SnapshotDependencies,
  options: { readonly answerAfterMs?: number } = {},
): ManagedSnapshots {
  const { snapshots, store } = deps;
  const work = createLeasedWork<SnapshotRecord, TakeSnapshotRequest>({
    ...{ clock: deps.clock, logger: deps.logger, what: 'snapshot', ...options },
    isShared: store.capabilities.sharedBetweenProcesses,
    save: (record) => saveSnapshot(deps, record),
    work: (record, request, watch) => carryOutSnapshot(deps, { record, request, watch }),
  });
  return {
    take: (request, context) => progress(deps, work, request, context),
    async list({ tenantId, datasetId }) {
      const found = await snapshots.list({ tenant: tenantId }, datasetId);
      return found.filter(({ isComplete }) => isComplete).map(infoOf);
    },
    prune: (request) => prune(deps, request),
    async sweep() {
      const since = deps.clock.now().getTime() - ABANDONED_AFTER_MS;
      for (const record of await snapshots.abandoned(SYSTEM_SCOPE, since)) {
        if (record.isInstalled) await removeSnapshot(deps, record, null);
      }
    },
    stop: () => work.stop(),
  };
}

async function progress(
  deps: SnapshotDependencies,
  work: LeasedWork<SnapshotRecord, TakeSnapshotRequest>,
  request: TakeSnapshotRequest,
  { requestId }: CallContext,
): Promise<SnapshotProgress> {
  const { tenantId: tenant, datasetId, crUid, name, place } = request;
  if (!isSnapshotName(name)) throw engramError('InvalidRequestError', `${JSON.stringify(name)} is no snapshot's name.`);
  const known = await deps.snapshots.get({ tenant }, name);
  if (known !== null && known.datasetId !== datasetId)
    throw engramError('ConflictError', `The snapshot ${name} is one of another dataset.`);
  // Also while the dataset is being erased: it is told what there is.
  if ((await eraserOfTenant(deps, tenant, crUid)) === null)
    await requireManager(deps, { tenant, dataset: datasetId }, crUid);
  if (known?.isComplete !== true) {
    if ((await deps.datasets.get({ tenant }, datasetId)) === null)
      throw engramError('DatasetNotFoundError', `Dataset ${datasetId} not found.`);
    await open(deps, request);
  }
  const read = async (): Promise<SnapshotRecord> => {
    const record = await deps.snapshots.get({ tenant }, name);
    if (record === null) throw engramError('ConflictError', `The snapshot ${name} was removed meanwhile.`);
    return record;
  };
  const record = await work.progress({ id: `${tenant}/${name}/${placeText(place)}`, input: request, requestId, read });
  const { done, total, failure, isComplete } = record;
  return { snapshot: isComplete ? infoOf(record) : null, done, total, failure };
}

async function open(deps: SnapshotDependencies, request: TakeSnapshotRequest): Promise<void> {
  const { tenantId: tenant, datasetId, name, place } = request;
  if ((await deps.snapshots.get({ tenant }, name)) !== null) return;
  const write = deps.snapshots.insertWrite({
    ...{ name, datasetId, at: deps.clock.now().toISOString(), items: 0, sizeBytes: 0, sha256: '' },
    ...{ place: placeText(place), isInstalled: place === null },
    ...{ worker: null, leasedUntilMs: deps.clock.now().getTime(), done: 0, total: 0, failure: null, isComplete: false },
  });
  await deps.store.commit({ tenant }, [write]).catch((error: unknown) => {
    if (!(error instanceof DuplicateKeyError)) throw error;
  });
}

interface Taking {
  readonly record: SnapshotRecord;
  readonly request: Omit<TakeSnapshotRequest, 'crUid'>;
  readonly watch: WorkWatch<SnapshotRecord>;
}

/** Writes it; resolves to what its record says then. */
export async function carryOutSnapshot(
  deps: Omit<SnapshotDependencies, 'managedResources'>,
  { record, request, watch }: Taking,
): Promise<Partial<SnapshotRecord>> {
  const { tenantId: tenant, datasetId, name, place } = request;
  const dataset = await deps.datasets.get({ tenant }, datasetId);
  if (dataset === null) throw engramError('DatasetNotFoundError', `Dataset ${datasetId} not found.`);
  // A later attempt may be told another place.
  const isInstalled = place === null;
  if (record.place !== placeText(place)) await watch.update({ place: placeText(place), isInstalled });
  const opened = await deps.places.open(place);
  try {
    let sha256 = '';
    const manifest = await writeSnapshot(deps, {
      ...{ dataset: datasetRef(dataset), name, place: partPlace(opened.blobs, tenant, name), signal: watch.signal },
      progress: (step) => watch.update(step),
      sign(hash) {
        sha256 = hash;
        return deps.messenger.call(signSnapshot, { sha256: hash }, { requestId: watch.requestId });
      },
    });
    if (request.verify) await checkParts(partPlace(opened.blobs, tenant, name), manifest.parts, watch.signal);
    const { watermark, counts, parts } = manifest;
    const sizeBytes = parts.reduce((sum, part) => sum + part.sizeBytes, 0);
    const { items } = counts;
    return { ...watermark, items, sizeBytes, sha256, done: items, total: items };
  } catch (error) {
    if (isInstalled) await removeUnlessListed(deps, record);
    throw error;
  } finally {
    await opened.close();
  }
}

/** `VersionConflictError` when it changed since it was read. */
export async function saveSnapshot(deps: Removal, record: SnapshotRecord): Promise<void> {
  try {
    await deps.store.commit({ tenant: record.tenant }, [deps.snapshots.replaceWrite(record)]);
  } catch (error) {
    if (error instanceof VersionConflictError && record.isInstalled) await removeUnlessListed(deps, record);
    throw error;
  }
}

type Removal = Pick<SnapshotDependencies, 'places' | 'snapshots' | 'store'>;

/**
 * Of one in the installation's own store: whoever removed it, or the dataset, could not know what was still to be written. What
 * is in a bucket may outlive the index.
 */
export async function removeUnlessListed(
  { snapshots, places }: Omit<Removal, 'store'>,
  { tenant, name }: SnapshotRecord,
): Promise<void> {
  if ((await snapshots.get({ tenant }, name)) !== null) return;
  const opened = await places.open(null);
  try {
    const { blobs, scope, folder } = partPlace(opened.blobs, tenant, name);
    await blobs.removeAll(scope, folder);
  } finally {
    await opened.close();
  }
}

async function checkParts(place: PartPlace, parts: readonly SnapshotPart[], signal: AbortSignal): Promise<void> {
  for (const part of parts) for await (const _ of readPart(place, part)) signal.throwIfAborted();
}

/** Of the place alone: what lies elsewhere needs other credentials. */
async function prune(
  deps: SnapshotDependencies,
  { tenantId: tenant, datasetId, crUid, keep, place }: PruneSnapshotsRequest,
): Promise<readonly string[]> {
  await requireManager(deps, { tenant, dataset: datasetId }, crUid);
  const found = await deps.snapshots.list({ tenant }, datasetId);
  const complete = found.filter((record) => record.isComplete && record.place === placeText(place));
  const removed: string[] = [];
  for (const record of complete.slice(Math.max(1, keep))) {
    await removeSnapshot(deps, record, place);
    removed.push(record.name);
  }
  return removed;
}

/** First what makes it one: half a snapshot is none. Also one that is being taken: whoever is at it finds that it is gone. */
export async function removeSnapshot(deps: Removal, record: SnapshotRecord, place: SnapshotPlace): Promise<void> {
  const opened = await deps.places.open(place);
  try {
    const { blobs, scope, folder } = partPlace(opened.blobs, record.tenant, record.name);
    const removeObjects = async () => {
      await blobs.remove(scope, [`${folder}${MANIFEST_NAME}`]);
      await blobs.removeAll(scope, folder);
    };
    await removeObjects();
    // It may have become complete meanwhile.
    if ((await unlist(deps, record)) > 1) await removeObjects();
  } finally {
    await opened.close();
  }
}

/** However often whoever is at it says how far it is. Resolves to the number of attempts. */
async function unlist({ snapshots, store }: Removal, record: SnapshotRecord): Promise<number> {
  const { tenant, name } = record;
  let attempts = 0;
  for (let current: SnapshotRecord | null = record; current !== null; current = await snapshots.get({ tenant }, name)) {
    attempts += 1;
    try {
      await store.commit({ tenant }, [snapshots.removeWrite(current)]);
    } catch (error) {
      if (!(error instanceof VersionConflictError)) throw error;
    }
  }
  return attempts;
}

function infoOf({ name, tenant, datasetId, at, items, sizeBytes, sha256, place }: SnapshotRecord): SnapshotInfo {
  return { name, tenantId: tenant, datasetId, at, items, sizeBytes, sha256, place };
}
