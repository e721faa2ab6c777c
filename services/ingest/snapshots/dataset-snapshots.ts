import { isSnapshotName } from '../../common/domain/snapshot.ts';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import { checkSnapshot } from '../../common/platform/messaging/methods/snapshots.ts';
import type { AuditLog } from '../../common/ports/audit-log.ts';
import { DuplicateKeyError } from '../../common/storage/ports/document-store.ts';
import { placeText } from '../../common/storage/ports/snapshot-places.ts';
import { partPlace } from '../../common/storage/snapshots/manifest.ts';
import { createLeasedWork, type WorkWatch } from '../forgetting/leased-work.ts';
import type { SnapshotRecord } from '../repositories/snapshots.ts';
import { carryOutSnapshot, removeSnapshot, type SnapshotDependencies, saveSnapshot } from './managed-snapshots.ts';
import { type SnapshotFile, snapshotFile } from './snapshot-file.ts';

export type DatasetSnapshotDependencies = Omit<SnapshotDependencies, 'managedResources'> & {
  readonly audit: AuditLog;
};

export interface TakingRequest {
  readonly principal: Principal;
  readonly dataset: DatasetRef;
  /** Null: the time. One of the name is not taken twice. */
  readonly name: string | null;
}

/** Snapshots in the installation's own store that users take of datasets. Whoever calls has looked at permissions. */
export interface DatasetSnapshots {
  /**
   * Takes one, or goes on with it; answers after a few seconds at the latest, and then it goes on by itself. Errors:
   * `InvalidRequestError` (a name that is none), `ConflictError` (there are too many), and what it failed of.
   */
  take(request: TakingRequest, context: CallContext): Promise<SnapshotRecord>;
  /** Also resources' and those that are being taken; newest first. */
  list(dataset: DatasetRef): Promise<readonly SnapshotRecord[]>;
  /** `EntityNotFoundError`. */
  get(dataset: DatasetRef, id: string): Promise<SnapshotRecord>;
  /** All of one as a file. `ConflictError` when it is not complete, lies elsewhere, or is damaged. */
  file(principal: Principal, record: SnapshotRecord, context: CallContext): Promise<SnapshotFile>;
  /** `ConflictError` for a resource's. */
  remove(principal: Principal, record: SnapshotRecord): Promise<void>;
  /** Goes on with what a process that died was at. */
  resume(): Promise<void>;
  stop(): Promise<void>;
}

/** Of a dataset, by users: each is a copy of all of it, which the installation pays for. */
const MOST = 20;
const NAME = /^[a-z0-9](?:[a-z0-9._-]{0,58}[a-z0-9])?$/;

export function createDatasetSnapshots(
  deps: DatasetSnapshotDependencies,
  options: { readonly answerAfterMs?: number } = {},
): DatasetSnapshots {
  const { snapshots, store, clock } = deps;
  const work = createLeasedWork<SnapshotRecord, undefined>({
    ...{ clock, logger: deps.logger, what: 'snapshot', ...options },
    isShared: store.capabilities.sharedBetweenProcesses,
    save: (record) => saveSnapshot(deps, record),
    work: (record, _, watch) => carryOut(deps, record, watch),
  });
  const asked = (record: Pick<SnapshotRecord, 'tenant' | 'name' | 'datasetId'>, requestId: string) => ({
    ...{ id: `${record.tenant}/${record.name}`, input: undefined, requestId },
    read: () => read(deps, record),
  });
  return {
    async take({ principal, dataset, name }, { requestId }) {
      const id = idOf(dataset, name ?? timeName(clock.now()));
      const of = { tenant: dataset.tenant, name: id, datasetId: dataset.id };
      await open(deps, { principal, dataset }, id);
      return work.progress(asked(of, requestId));
    },
    list: ({ tenant, id }) => snapshots.list({ tenant }, id),
    get: ({ tenant, id: datasetId }, name) => read(deps, { tenant, name, datasetId }),
    file: (principal, record, context) => file(deps, { principal, record, context }),
    async remove({ id: actor }, record) {
      if (record.takenBy === undefined)
        throw engramError('ConflictError', `The snapshot ${record.name} belongs to the resource of the dataset.`);
      await removeSnapshot(deps, record, null);
      const { tenant, datasetId: subject, name: snapshot } = record;
      await deps.audit.record({ tenant, action: 'snapshot.removed', actor, subject, details: { snapshot } });
    },
    async resume() {
      const now = clock.now().getTime();
      const beforeMs = store.capabilities.sharedBetweenProcesses ? now : Number.MAX_SAFE_INTEGER;
      for (const record of await snapshots.abandoned(SYSTEM_SCOPE, beforeMs))
        if (record.takenBy !== undefined && record.failure === null) work.goOn(asked(record, 'resumed'));
    },
    stop: () => work.stop(),
  };
}

function idOf({ id }: DatasetRef, name: string): string {
  if (!NAME.test(name))
    throw engramError('InvalidRequestError', 'A snapshot is named by up to 60 of a-z, 0-9, dot, dash and underscore.');
  // Everybody's personal space is one tenant: names of one dataset say nothing about another.
  return `${id}.${name}`;
}

function timeName(at: Date): string {
  return at.toISOString().toLowerCase().replaceAll(':', '-');
}

async function read(
  { snapshots }: DatasetSnapshotDependencies,
  { tenant, name, datasetId }: Pick<SnapshotRecord, 'tenant' | 'name' | 'datasetId'>,
): Promise<SnapshotRecord> {
  const record = isSnapshotName(name) ? await snapshots.get({ tenant }, name) : null;
  if (record === null || record.datasetId !== datasetId)
    throw engramError('EntityNotFoundError', `The dataset has no snapshot ${JSON.stringify(name)}.`);
  return record;
}

async function open(
  deps: DatasetSnapshotDependencies,
  { principal, dataset }: Pick<TakingRequest, 'principal' | 'dataset'>,
  name: string,
): Promise<void> {
  const { tenant, id: datasetId } = dataset;
  const found = await deps.snapshots.list({ tenant }, datasetId);
  if (found.some((record) => record.name === name)) return;
  if (found.filter(({ takenBy }) => takenBy !== undefined).length >= MOST)
    throw engramError('ConflictError', `The dataset has ${MOST} snapshots, which is the most; delete one first.`);
  const now = deps.clock.now();
  const write = deps.snapshots.insertWrite({
    ...{ name, datasetId, at: now.toISOString(), items: 0, sizeBytes: 0, sha256: '' },
    ...{ place: placeText(null), isInstalled: true, takenBy: principal.id },
    ...{ worker: null, leasedUntilMs: now.getTime(), done: 0, total: 0, failure: null, isComplete: false },
  });
  const entry = {
    tenant,
    action: 'snapshot.taken',
    actor: principal.id,
    subject: datasetId,
    details: { snapshot: name },
  };
  await deps.audit.commit({ tenant }, [write], [entry]).catch((error: unknown) => {
    if (!(error instanceof DuplicateKeyError)) throw error;
  });
}

async function carryOut(
  deps: DatasetSnapshotDependencies,
  record: SnapshotRecord,
  watch: WorkWatch<SnapshotRecord>,
): Promise<Partial<SnapshotRecord>> {
  const { tenant, datasetId, name } = record;
  const change = await carryOutSnapshot(deps, {
    record,
    request: { tenantId: tenant, datasetId, name, place: null },
    watch,
  });
  if ((await deps.datasets.get({ tenant }, datasetId)) === null)
    throw engramError('DatasetNotFoundError', `Dataset ${datasetId} not found.`);
  return change;
}

async function file(
  deps: DatasetSnapshotDependencies,
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
    async (signed) => (await deps.messenger.call(checkSnapshot, signed, { requestId })).isOurs,
  );
  if (found === null) throw engramError('EntityNotFoundError', `The dataset has no snapshot ${JSON.stringify(name)}.`);
  const details = { what: 'snapshot', snapshot: name };
  await deps.audit.record({ tenant, action: 'export.made', actor: principal.id, subject, details });
  return found;
}

/** `ConflictError` for what cannot be read here. */
export function requireAtHand(record: SnapshotRecord): SnapshotRecord {
  if (!record.isComplete) throw engramError('ConflictError', `The snapshot ${record.name} is not complete yet.`);
  if (record.isInstalled) return record;
  throw engramError(
    'ConflictError',
    `The snapshot ${record.name} is in ${record.place}, which the server has no credentials for.`,
  );
}
