import { isSnapshotName } from '../../common/domain/snapshot.ts';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { ignoreDuplicate } from '../../common/platform/async/retry-on-conflict.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import type { AuditLog } from '../../common/ports/audit-log.ts';
import type { Write } from '../../common/storage/ports/document-store.ts';
import { partPlace } from '../../common/storage/snapshots/manifest.ts';
import type { SnapshotRecord } from '../repositories/snapshots.ts';
import { removeSnapshot } from './remove-snapshots.ts';
import { type SnapshotFile, snapshotFile } from './snapshot-file.ts';
import { newSnapshot, type SnapshotDependencies, type SnapshotWork, snapshotKey } from './take-snapshot.ts';

type Dependencies = SnapshotDependencies & { readonly audit: AuditLog };

interface TakingRequest {
  readonly principal: Principal;
  readonly dataset: DatasetRef;
  /** Null: the current time. A snapshot of one name is taken once. */
  readonly name: string | null;
}

export type DatasetSnapshots = ReturnType<typeof createDatasetSnapshots>;

/** Maximum number of users' snapshots of one dataset: each is a full copy. */
const MOST = 20;
const NAME = /^[a-z0-9](?:[a-z0-9._-]{0,58}[a-z0-9])?$/;

/** Snapshots in the installation's own store that users take of datasets. The caller has checked permissions. */
export function createDatasetSnapshots(deps: Dependencies, work: SnapshotWork) {
  const { snapshots, clock } = deps;
  return {
    /**
     * Takes a snapshot, or resumes it; resolves after a few seconds at the latest, and a job continues then. Errors:
     * `InvalidRequestError` (malformed name), `ConflictError` (too many snapshots), and the error of the attempt.
     */
    async take(request: TakingRequest, { requestId, operationId }: CallContext): Promise<SnapshotRecord> {
      const { principal, dataset, name } = request;
      const found = await snapshots.list({ tenant: dataset.tenant }, dataset.id);
      const operation = name === null && operationId !== undefined ? { operationId } : {};
      const isOurs = (record: SnapshotRecord): boolean =>
        operation.operationId !== undefined && record.operationId === operation.operationId;
      const id = found.find(isOurs)?.name ?? idOf(dataset, name ?? timeName(clock.now()));
      const key = snapshotKey({ tenant: dataset.tenant, name: id, takenBy: principal.id });
      if (!found.some((record) => record.name === id)) {
        requireRoom(found);
        await open(deps, { principal, dataset, name: id, ...operation }, await work.jobWrites(key));
      }
      return work.progress({ work: key, input: null, requestId, read: () => read(deps, dataset, id) });
    },
    /** Returns all snapshots, also those of resources and incomplete ones; newest first. */
    list: ({ tenant, id }: DatasetRef): Promise<readonly SnapshotRecord[]> => snapshots.list({ tenant }, id),
    /** `EntityNotFoundError`. */
    get: (dataset: DatasetRef, name: string): Promise<SnapshotRecord> => read(deps, dataset, name),
    /** Returns the snapshot as one file. `ConflictError` when it is incomplete, stored elsewhere, or damaged. */
    file: (principal: Principal, record: SnapshotRecord, context: CallContext): Promise<SnapshotFile> =>
      file(deps, { principal, record, context }),
    /** Removes the snapshot; `ConflictError` for one of a resource. */
    async remove({ id: actor }: Principal, record: SnapshotRecord): Promise<void> {
      if (record.takenBy === undefined)
        throw engramError('ConflictError', `The snapshot ${record.name} belongs to the resource of the dataset.`);
      await removeSnapshot(deps, record, null);
      const { tenant, datasetId: subject, name: snapshot } = record;
      await deps.audit.record({ tenant, action: 'snapshot.removed', actor, subject, details: { snapshot } });
    },
  };
}

function idOf({ id }: DatasetRef, name: string): string {
  if (!NAME.test(name))
    throw engramError('InvalidRequestError', 'A snapshot is named by up to 60 of a-z, 0-9, dot, dash and underscore.');
  // All personal spaces are one tenant, so the name contains the dataset.
  return `${id}.${name}`;
}

function timeName(at: Date): string {
  return at.toISOString().toLowerCase().replaceAll(':', '-');
}

async function read({ snapshots }: Dependencies, { tenant, id: datasetId }: DatasetRef, name: string) {
  const record = isSnapshotName(name) ? await snapshots.get({ tenant }, name) : null;
  if (record === null || record.datasetId !== datasetId)
    throw engramError('EntityNotFoundError', `The dataset has no snapshot ${JSON.stringify(name)}.`);
  return record;
}

function requireRoom(found: readonly SnapshotRecord[]): void {
  if (found.filter(({ takenBy }) => takenBy !== undefined).length >= MOST)
    throw engramError('ConflictError', `The dataset has ${MOST} snapshots, the maximum; delete one first.`);
}

async function open(
  deps: Dependencies,
  { principal, dataset, ...named }: TakingRequest & Pick<SnapshotRecord, 'name' | 'operationId'>,
  jobWrites: readonly Write[],
): Promise<void> {
  const { tenant, id: datasetId } = dataset;
  const record = newSnapshot(deps, { ...named, datasetId, takenBy: principal.id }, null);
  const entry = {
    tenant,
    action: 'snapshot.taken',
    actor: principal.id,
    subject: datasetId,
    details: { snapshot: named.name },
  };
  const writes = [deps.snapshots.insertWrite(record), ...jobWrites];
  await ignoreDuplicate(deps.audit.commit({ tenant }, writes, [entry]));
}

async function file(
  deps: Dependencies,
  {
    principal,
    record,
    context: { requestId },
  }: { readonly principal: Principal; readonly record: SnapshotRecord; readonly context: CallContext },
): Promise<SnapshotFile> {
  const { tenant, datasetId: subject, name } = requireAtHand(record);
  const { blobs } = await deps.places.open(null);
  const found = await snapshotFile(
    partPlace(blobs, tenant, name),
    async (signed) => (await deps.messenger.call('auth.CheckSnapshot', signed, { requestId })).isOurs,
  );
  if (found === null) throw engramError('EntityNotFoundError', `The dataset has no snapshot ${JSON.stringify(name)}.`);
  const details = { what: 'snapshot', snapshot: name };
  await deps.audit.record({ tenant, action: 'export.made', actor: principal.id, subject, details });
  return found;
}

/** Requires a complete snapshot in the installation's store: `ConflictError`. */
export function requireAtHand(record: SnapshotRecord): SnapshotRecord {
  if (!record.isComplete) throw engramError('ConflictError', `The snapshot ${record.name} is not complete yet.`);
  if (record.isInstalled) return record;
  throw engramError(
    'ConflictError',
    `The snapshot ${record.name} is in ${record.place}, which the server has no credentials for.`,
  );
}
