import type { SnapshotPart } from '../../common/domain/snapshot.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { datasetRef } from '../../common/records/auth/datasets.ts';
import { VersionConflictError } from '../../common/storage/ports/document-store.ts';
import { placeText, type SnapshotPlace } from '../../common/storage/ports/snapshot-places.ts';
import { partPlace } from '../../common/storage/snapshots/manifest.ts';
import { type PartPlace, readPart } from '../../common/storage/snapshots/part-stream.ts';
import type { IngestDependencies } from '../dependencies.ts';
import {
  createRecordedWork,
  type RecordedWork,
  type RecordedWorkDependencies,
  type WorkKey,
  type WorkProgress,
} from '../jobs/recorded-work.ts';
import type { SnapshotIndex, SnapshotRecord } from '../repositories/snapshots.ts';
import { removeUnlessListed } from './remove-snapshots.ts';
import { type SnapshotSources, writeSnapshot } from './write-snapshot.ts';

/** Kind of the jobs that take snapshots. */
export const SNAPSHOT_JOB = 'snapshot';

export type SnapshotDependencies = SnapshotSources &
  Omit<RecordedWorkDependencies, 'store'> &
  Pick<IngestDependencies, 'datasets' | 'messenger'> &
  Pick<SnapshotIndex, 'snapshots' | 'places'>;

/** Input of the operator's requests; users' snapshots are in the installation's own store. */
interface SnapshotInput {
  readonly place: SnapshotPlace;
  /** All parts are read again before it is complete. */
  readonly verify: boolean;
}

export type SnapshotWork = RecordedWork<SnapshotRecord, SnapshotInput>;

export function createSnapshotWork(
  deps: SnapshotDependencies,
  { answerAfterMs }: { readonly answerAfterMs?: number } = {},
): SnapshotWork {
  return createRecordedWork<SnapshotRecord, SnapshotInput>(deps, {
    kind: SNAPSHOT_JOB,
    answerAfterMs,
    read: ({ scope, payload }) => deps.snapshots.get(scope, String(payload['name'])),
    async save(_, record, writes) {
      try {
        await deps.store.commit({ tenant: record.tenant }, [...writes, deps.snapshots.replaceWrite(record)]);
      } catch (error) {
        if (error instanceof VersionConflictError && record.isInstalled) await removeUnlessListed(deps, record);
        throw error;
      }
    },
    work: (record, input, progress) => takeSnapshot(deps, record, input ?? { place: null, verify: false }, progress),
  });
}

/** The key of the work; a user's snapshot needs no further requests. */
export function snapshotKey({ tenant, name, takenBy }: Pick<SnapshotRecord, 'tenant' | 'name' | 'takenBy'>): WorkKey {
  return { scope: { tenant }, key: name, payload: { name }, onRequest: takenBy === undefined };
}

/** The record of a snapshot before anything of it is written. */
export function newSnapshot(
  { clock }: SnapshotDependencies,
  of: Pick<SnapshotRecord, 'name' | 'datasetId' | 'takenBy' | 'operationId'>,
  place: SnapshotPlace,
): Omit<SnapshotRecord, 'version' | 'tenant'> {
  const now = clock.now();
  return {
    ...of,
    at: now.toISOString(),
    items: 0,
    sizeBytes: 0,
    sha256: '',
    place: placeText(place),
    isInstalled: place === null,
    done: 0,
    total: 0,
    failure: null,
    isComplete: false,
    touchedAtMs: now.getTime(),
  };
}

async function takeSnapshot(
  deps: SnapshotDependencies,
  record: SnapshotRecord,
  { place, verify }: SnapshotInput,
  { signal, requestId, update }: WorkProgress<SnapshotRecord>,
): Promise<Partial<SnapshotRecord>> {
  const { tenant, datasetId, name } = record;
  const dataset = await requireDataset(deps, record);
  // A later request may name another place.
  const isInstalled = place === null;
  if (record.place !== placeText(place)) await update({ place: placeText(place), isInstalled });
  const opened = await deps.places.open(place);
  try {
    let sha256 = '';
    const manifest = await writeSnapshot(deps, {
      dataset: datasetRef(dataset),
      name,
      place: partPlace(opened.blobs, tenant, name),
      signal,
      progress: update,
      sign(hash) {
        sha256 = hash;
        return deps.messenger.call('auth.SignSnapshot', { sha256: hash }, { requestId });
      },
    });
    if (verify) await checkParts(partPlace(opened.blobs, tenant, name), manifest.parts, signal);
    await requireDataset(deps, { tenant, datasetId });
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

/** `DatasetNotFoundError`. */
export async function requireDataset(
  { datasets }: SnapshotDependencies,
  { tenant, datasetId }: Pick<SnapshotRecord, 'tenant' | 'datasetId'>,
) {
  const dataset = await datasets.get({ tenant }, datasetId);
  if (dataset === null) throw engramError('DatasetNotFoundError', `Dataset ${datasetId} not found.`);
  return dataset;
}

async function checkParts(place: PartPlace, parts: readonly SnapshotPart[], signal: AbortSignal): Promise<void> {
  for (const part of parts) for await (const _ of readPart(place, part)) signal.throwIfAborted();
}
