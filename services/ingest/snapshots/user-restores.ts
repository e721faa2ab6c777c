import { dataBill } from '../../common/domain/budget.ts';
import { requireCreatableDatasetName, requireDatasetCreation } from '../../common/domain/permissions.ts';
import type { DatasetId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { asId } from '../../common/kernel/ids.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { isRefusal } from '../../common/platform/jobs/job-failure.ts';
import { asAccount } from '../../common/platform/messaging/account-authority.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import type { AuditLog } from '../../common/ports/audit-log.ts';
import type { UploadedFile } from '../../common/ports/upload.ts';
import type { Datasets } from '../../common/records/auth/datasets.ts';
import type { Write } from '../../common/storage/ports/document-store.ts';
import { type CheckSignature, partPlace } from '../../common/storage/snapshots/manifest.ts';
import { wholeDataset } from '../items/target-dataset.ts';
import { createRecordedWork, type WorkKey, type WorkProgress } from '../jobs/recorded-work.ts';
import type { UserRestores as Records, UserRestore } from '../repositories/restores.ts';
import type { SnapshotRecord } from '../repositories/snapshots.ts';
import { carryOutRestore, type RestoreDependencies, type Restoring } from './carry-out-restore.ts';
import { requireAtHand } from './dataset-snapshots.ts';
import { discardRestored } from './restore-snapshot.ts';
import { keepSnapshotFile, manifestOfFile } from './snapshot-file.ts';

/** Kind of the jobs that make datasets from snapshots for users. */
export const RESTORE_JOB = 'restore';

export type UserRestoreDependencies = RestoreDependencies & {
  readonly restores: Records;
  readonly datasets: Datasets;
  readonly audit: AuditLog;
};

interface RestoringRequest {
  readonly principal: Principal;
  /** Name of the new dataset. */
  readonly name: string;
}

export type UserRestores = ReturnType<typeof createUserRestores>;

/** Concurrent restores of a user: each writes a copy before it is charged. */
const MAX_CONCURRENT = 3;
/** An upload that takes longer has ended with its process. */
const KEEPING_MS = 3_600_000;
const KEPT_MS = 24 * 3_600_000;

/**
 * Restores datasets from snapshots for users. `fromSnapshot` and `fromFile` resolve after a few seconds at the latest,
 * and a job continues then. Errors: `PermissionDeniedError` (a limited key), `InvalidRequestError` (no name),
 * `EntityAlreadyExistsError`, `TooManyRequestsError` (others are under way), those of the budget, and `ConflictError`
 * with what is wrong with the snapshot.
 */
export function createUserRestores(deps: UserRestoreDependencies, options: { readonly answerAfterMs?: number } = {}) {
  const { restores, store, clock } = deps;
  const work = createRecordedWork<UserRestore, never>(deps, {
    ...options,
    kind: RESTORE_JOB,
    read: ({ scope, payload }) => restores.get(scope, String(payload['restoreId'])),
    save: (_, restore, writes) => store.commit({ tenant: restore.tenant }, [...writes, restores.replaceWrite(restore)]),
    work: (restore, _, progress) => carryOut(deps, restore, progress),
  });
  const admitted = async (restore: UserRestore): Promise<UserRestore> => {
    await admit(deps, restore, await work.jobWrites(keyOf(restore)));
    return restore;
  };
  const progress = (restore: UserRestore, { requestId }: CallContext): Promise<UserRestore> => {
    const read = () => readRestore(deps, restore.tenant, restore.id);
    return work.progress({ work: keyOf(restore), input: null, requestId, read });
  };
  return {
    handler: work.handler,
    async fromSnapshot(request: RestoringRequest, record: SnapshotRecord, context: CallContext): Promise<UserRestore> {
      const { tenant, datasetId, name, items } = requireAtHand(record);
      await requireRoom(deps, request, items);
      return progress(await admitted(await begin(deps, request, { tenantId: tenant, name, datasetId })), context);
    },
    async fromFile(request: RestoringRequest, file: UploadedFile, context: CallContext): Promise<UserRestore> {
      const check = signatureCheck(deps, context.requestId);
      const { counts } = await manifestOfFile(file.open(), check);
      await requireRoom(deps, request, counts.items);
      const { tenant } = request.principal;
      const restore = await begin(deps, request, {
        tenantId: tenant,
        name: `upload-${deps.ids.uuid()}`,
        datasetId: null,
      });
      try {
        await storeFile(deps, restore, { file, check, context });
        await admitted(restore);
      } catch (error) {
        await remove(deps, restore);
        throw error;
      }
      return progress(restore, context);
    },
    /** Returns a restore of the caller. `EntityNotFoundError`. */
    async get({ id: userId, tenant, key }: Principal, id: string): Promise<UserRestore> {
      const restore = await readRestore(deps, tenant, id);
      // A key that is limited to datasets has started none.
      if (restore.userId !== userId || (key?.datasets ?? null) !== null) throw unknown(id);
      return restore;
    },
    /** Removes old restores, and uploads that ended with their process. */
    async sweep(): Promise<void> {
      const now = clock.now().getTime();
      for (const isComplete of [true, false])
        for (const restore of await restores.untouched(SYSTEM_SCOPE, now - KEPT_MS, isComplete))
          await remove(deps, restore);
      for (const restore of await restores.untouched(SYSTEM_SCOPE, now - KEEPING_MS, false))
        if (!restore.isReady) await remove(deps, restore);
    },
  };
}

function keyOf({ tenant, id }: UserRestore): WorkKey {
  return { scope: { tenant }, key: id, payload: { restoreId: id }, onRequest: false };
}

function signatureCheck({ messenger }: UserRestoreDependencies, requestId: string): CheckSignature {
  return async (signed) => (await messenger.call('auth.CheckSnapshot', signed, { requestId })).isOurs;
}

async function readRestore({ restores }: UserRestoreDependencies, tenant: Principal['tenant'], id: string) {
  const restore = await restores.get({ tenant }, id);
  if (restore === null) throw unknown(id);
  return restore;
}

function unknown(id: string) {
  return engramError('EntityNotFoundError', `There is no restore ${id}.`);
}

/** Refuses what can be refused before anything is written. */
async function requireRoom(
  { datasets, restores, budgets }: UserRestoreDependencies,
  { principal, name }: RestoringRequest,
  items: number,
): Promise<void> {
  const { id: ownerId, tenant, key } = principal;
  requireDatasetCreation(principal);
  requireCreatableDatasetName(name);
  if ((await datasets.ownedByName({ tenant }, ownerId, [name])).length > 0)
    throw engramError('EntityAlreadyExistsError', `You have a dataset ${name} already; choose another name.`);
  if ((await restores.countOpen({ tenant }, ownerId)) >= MAX_CONCURRENT) throw tooMany();
  await budgets.check(dataBill({ tenant, ownerId }, key?.id, { datasets: 1, items }));
}

function tooMany() {
  return engramError(
    'TooManyRequestsError',
    `${MAX_CONCURRENT} of your restores are in progress; wait for one of them.`,
  );
}

/** Inserts the record; no job drives it before `admit`. */
async function begin(
  deps: UserRestoreDependencies,
  { principal, name }: RestoringRequest,
  source: UserRestore['source'],
): Promise<UserRestore> {
  const { id: userId, tenant, key } = principal;
  const begun = {
    id: deps.ids.uuid(),
    tenant,
    userId,
    keyId: key?.id ?? null,
    datasetId: asId<DatasetId>(deps.ids.uuid()),
    name,
    source,
    isReady: false,
    step: source.datasetId === null ? 'keeping the file' : 'waiting',
    done: 0,
    total: 0,
    failure: null,
    isComplete: false,
    touchedAtMs: deps.clock.now().getTime(),
  };
  const restore = { ...begun, version: 1 };
  await deps.store.commit({ tenant }, [deps.restores.insertWrite(begun)]);
  // Others may have started in the same moment.
  if ((await deps.restores.countOpen({ tenant }, userId)) <= MAX_CONCURRENT) return restore;
  await deps.store.commit({ tenant }, [deps.restores.removeWrite(restore)]);
  throw tooMany();
}

/** Queues it: all that it needs is there. */
async function admit(
  { audit, restores, clock }: UserRestoreDependencies,
  restore: UserRestore,
  jobWrites: readonly Write[],
): Promise<void> {
  const { tenant, source, userId: actor, datasetId: subject } = restore;
  const ready = { ...restore, isReady: true, step: 'waiting', touchedAtMs: clock.now().getTime() };
  const details = { snapshot: source.name, from: source.datasetId ?? 'a file' };
  const entry = { tenant, action: 'dataset.restored', actor, subject, details };
  await audit.commit({ tenant }, [restores.replaceWrite(ready), ...jobWrites], [entry]);
}

/** The uploaded file is gone when the request ends. */
async function storeFile(
  { places }: UserRestoreDependencies,
  { source }: UserRestore,
  {
    file,
    check,
    context,
  }: { readonly file: UploadedFile; readonly check: CheckSignature; readonly context: CallContext },
): Promise<void> {
  const { blobs } = await places.open(null);
  const signal = context.signal ?? new AbortController().signal;
  await keepSnapshotFile(file.open(), partPlace(blobs, asId(source.tenantId), source.name), { check, signal });
}

async function carryOut(deps: UserRestoreDependencies, restore: UserRestore, progress: WorkProgress<UserRestore>) {
  const { datasetId, name, source } = restore;
  const { requestId, signal } = progress;
  const restoring: Restoring = {
    target: { ...targetOf(restore), keepsOwners: false, isUploaded: source.datasetId === null },
    async authorise() {
      await asUser(deps, restore, requestId);
    },
    async admit() {
      const context = await asUser(deps, restore, requestId);
      await deps.messenger.call('auth.AdmitOwnDataset', { datasetId, name }, context);
    },
  };
  try {
    await carryOutRestore(deps, restoring, progress);
  } catch (error) {
    // Another attempt needs the file.
    if (isRefusal(error) && !signal.aborted) await removeUpload(deps, restore);
    throw error;
  }
  await removeUpload(deps, restore);
  return { step: '' };
}

function targetOf({ tenant: tenantId, datasetId, source, userId: ownerId, keyId }: UserRestore) {
  const snapshot = { tenantId: asId<typeof tenantId>(source.tenantId), name: source.name };
  return { tenantId, datasetId, snapshot, place: null, ownerId, ...(keyId === null ? {} : { keyId }) };
}

function accountOf({ messenger }: UserRestoreDependencies, { userId, tenant, keyId }: UserRestore, requestId: string) {
  const gone = 'The user of this restore no longer exists or is no longer active.';
  return asAccount(messenger, { userId, tenant, keyId }, { requestId }, gone);
}

/** Returns a context of the user, who must still be allowed to read all that the snapshot shows. */
async function asUser(deps: UserRestoreDependencies, restore: UserRestore, requestId: string): Promise<CallContext> {
  const { messenger } = deps;
  const { source } = restore;
  const context = await accountOf(deps, restore, requestId);
  if (source.datasetId !== null) await wholeDataset(messenger, context.principal, source.datasetId, context);
  return context;
}

async function remove(deps: UserRestoreDependencies, { tenant, id }: UserRestore): Promise<void> {
  const restore = await deps.restores.get({ tenant }, id);
  if (restore === null) return;
  if (!restore.isComplete && (await deps.datasets.get({ tenant }, restore.datasetId)) === null)
    await discardRestored(deps, { ...targetOf(restore), requestId: deps.ids.uuid() });
  await removeUpload(deps, restore);
  await deps.store.commit({ tenant }, [deps.restores.removeWrite(restore)]);
}

async function removeUpload({ places }: UserRestoreDependencies, { source }: UserRestore): Promise<void> {
  if (source.datasetId !== null) return;
  const { blobs } = await places.open(null);
  const place = partPlace(blobs, asId(source.tenantId), source.name);
  await blobs.removeAll(place.scope, place.folder);
}
