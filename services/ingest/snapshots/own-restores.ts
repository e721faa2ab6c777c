import { dataBill } from '../../common/domain/budget.ts';
import { requireCreatableDatasetName, requireDatasetCreation } from '../../common/domain/permissions.ts';
import type { DatasetId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { asId } from '../../common/kernel/ids.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { asAccount } from '../../common/platform/messaging/account-authority.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import { admitOwnDataset, checkSnapshot } from '../../common/platform/messaging/methods/snapshots.ts';
import type { AuditLog } from '../../common/ports/audit-log.ts';
import type { Logger } from '../../common/ports/logger.ts';
import type { Clock, IdSource } from '../../common/ports/system.ts';
import type { UploadedFile } from '../../common/ports/upload.ts';
import type { Datasets } from '../../common/records/auth/datasets.ts';
import type { SnapshotPlaces } from '../../common/storage/ports/snapshot-places.ts';
import { type CheckSignature, partPlace } from '../../common/storage/snapshots/manifest.ts';
import { createLeasedWork, type LeasedWork, type WorkWatch } from '../forgetting/leased-work.ts';
import { wholeDataset } from '../items/whole-dataset.ts';
import type { OwnRestore, OwnRestores } from '../repositories/own-restores.ts';
import type { SnapshotRecord } from '../repositories/snapshots.ts';
import { requireAtHand } from './dataset-snapshots.ts';
import { discardRestored, type RestoreSources, restoreSnapshot } from './restore-snapshot.ts';
import { keepSnapshotFile, manifestOfFile } from './snapshot-file.ts';

export type OwnRestoreDependencies = RestoreSources & {
  readonly restores: OwnRestores;
  /** Of auth, which writes them. */
  readonly datasets: Pick<Datasets, 'get' | 'ownedByName'>;
  readonly places: SnapshotPlaces;
  readonly audit: AuditLog;
  readonly ids: IdSource;
  readonly clock: Clock;
  readonly logger: Logger;
};

export interface RestoringRequest {
  readonly principal: Principal;
  /** Of the new dataset. */
  readonly name: string;
}

/**
 * Both answer after a few seconds at the latest, and then it goes on by itself. Errors: `PermissionDeniedError` (a limited
 * key), `InvalidRequestError` (no name), `EntityAlreadyExistsError`, `TooManyRequestsError` (others are under way), those of
 * the budget, and `ConflictError` with what is wrong with the snapshot.
 */
export interface SnapshotRestores {
  fromSnapshot(request: RestoringRequest, record: SnapshotRecord, context: CallContext): Promise<OwnRestore>;
  fromFile(request: RestoringRequest, file: UploadedFile, context: CallContext): Promise<OwnRestore>;
  /** The caller's own. `EntityNotFoundError`. */
  get(principal: Principal, id: string): Promise<OwnRestore>;
  /** Goes on with what a process that died was at. */
  resume(): Promise<void>;
  /** Removes what nobody asks for any more. */
  sweep(): Promise<void>;
  stop(): Promise<void>;
}

/** Each makes a copy of a dataset before it counts against the quota. */
const MOST_AT_ONCE = 3;
/** An upload that is being kept for longer has ended with its process. */
const KEEPING_MS = 3_600_000;
const KEPT_MS = 24 * 3_600_000;

export function createSnapshotRestores(
  deps: OwnRestoreDependencies,
  options: { readonly answerAfterMs?: number } = {},
): SnapshotRestores {
  const { restores, store, clock } = deps;
  const work: LeasedWork<OwnRestore, undefined> = createLeasedWork<OwnRestore, undefined>({
    ...{ clock, logger: deps.logger, what: 'restore', ...options },
    isShared: store.capabilities.sharedBetweenProcesses,
    save: (restore) => store.commit({ tenant: restore.tenant }, [restores.replaceWrite(restore)]),
    work: (restore, _, watch) => carryOut(deps, restore, watch),
  });
  const asked = ({ id, tenant }: OwnRestore, requestId: string) => ({
    ...{ id, input: undefined, requestId },
    read: () => read(deps, tenant, id),
  });
  return {
    async fromSnapshot(request, record, context) {
      const { tenant, datasetId, name, items } = requireAtHand(record);
      await requireRoom(deps, request, items);
      const source = { tenantId: tenant, name, datasetId };
      return work.progress(asked(await admit(deps, await begin(deps, request, source)), context.requestId));
    },
    async fromFile(request, file, context) {
      const check = signatureCheck(deps, context.requestId);
      const { counts } = await manifestOfFile(file.open(), check);
      await requireRoom(deps, request, counts.items);
      const { tenant } = request.principal;
      const source = { tenantId: tenant, name: `upload-${deps.ids.uuid()}`, datasetId: null };
      const opened = await begin(deps, request, source);
      return work.progress(asked(await keepFile(deps, opened, { file, check, context }), context.requestId));
    },
    async get({ id: userId, tenant, key }, id) {
      const restore = await read(deps, tenant, id);
      // A key of some datasets alone has made none.
      if (restore.userId !== userId || (key?.datasets ?? null) !== null) throw unknown(id);
      return restore;
    },
    async resume() {
      const now = clock.now().getTime();
      const beforeMs = store.capabilities.sharedBetweenProcesses ? now : Number.MAX_SAFE_INTEGER;
      for (const restore of await restores.untouched(SYSTEM_SCOPE, beforeMs, false))
        if (restore.isReady && restore.failure === null) work.goOn(asked(restore, 'resumed'));
    },
    async sweep() {
      const now = clock.now().getTime();
      for (const isComplete of [true, false])
        for (const restore of await restores.untouched(SYSTEM_SCOPE, now - KEPT_MS, isComplete))
          await remove(deps, restore);
      for (const restore of await restores.untouched(SYSTEM_SCOPE, now, false))
        if (!restore.isReady) await remove(deps, restore);
    },
    stop: () => work.stop(),
  };
}

function signatureCheck({ messenger }: Pick<OwnRestoreDependencies, 'messenger'>, requestId: string): CheckSignature {
  return async (signed) => (await messenger.call(checkSnapshot, signed, { requestId })).isOurs;
}

async function read(
  { restores }: OwnRestoreDependencies,
  tenant: Principal['tenant'],
  id: string,
): Promise<OwnRestore> {
  const restore = await restores.get({ tenant }, id);
  if (restore === null) throw unknown(id);
  return restore;
}

function unknown(id: string) {
  return engramError('EntityNotFoundError', `There is no restore ${id}.`);
}

/** What can be refused before anything is done. */
async function requireRoom(
  { datasets, restores, budgets }: OwnRestoreDependencies,
  { principal, name }: RestoringRequest,
  items: number,
): Promise<void> {
  const { id: ownerId, tenant, key } = principal;
  requireDatasetCreation(principal);
  requireCreatableDatasetName(name);
  if ((await datasets.ownedByName({ tenant }, ownerId, [name])).length > 0)
    throw engramError('EntityAlreadyExistsError', `You have a dataset ${name} already; choose another name.`);
  if ((await restores.countOpen({ tenant }, ownerId)) >= MOST_AT_ONCE) throw tooMany();
  await budgets.check(dataBill({ tenant, ownerId }, key?.id, { datasets: 1, items }));
}

function tooMany() {
  return engramError('TooManyRequestsError', `${MOST_AT_ONCE} of your restores are under way; wait for one of them.`);
}

/** Nobody takes it up before it is admitted. */
async function begin(
  deps: OwnRestoreDependencies,
  { principal, name }: RestoringRequest,
  source: OwnRestore['source'],
): Promise<OwnRestore> {
  const { id: userId, tenant, key } = principal;
  const ids = { id: deps.ids.uuid(), userId, keyId: key?.id ?? null, datasetId: asId<DatasetId>(deps.ids.uuid()) };
  const begun = {
    ...{ ...ids, name, source, isReady: false, step: source.datasetId === null ? 'keeping the file' : 'waiting' },
    ...{ worker: null, failure: null, isComplete: false },
    ...{ leasedUntilMs: deps.clock.now().getTime() + KEEPING_MS, done: 0, total: 0 },
  };
  const restore = { ...begun, tenant, version: 1 };
  await deps.store.commit({ tenant }, [deps.restores.insertWrite(begun)]);
  // Others may have begun in the same moment.
  if ((await deps.restores.countOpen({ tenant }, userId)) <= MOST_AT_ONCE) return restore;
  await deps.store.commit({ tenant }, [deps.restores.removeWrite(restore)]);
  throw tooMany();
}

/** All that it needs is there. */
async function admit({ audit, restores, clock }: OwnRestoreDependencies, restore: OwnRestore): Promise<OwnRestore> {
  const { tenant, source, userId: actor, datasetId: subject } = restore;
  const ready = { ...restore, isReady: true, step: 'waiting', leasedUntilMs: clock.now().getTime() };
  const details = { snapshot: source.name, from: source.datasetId ?? 'a file' };
  const entry = { tenant, action: 'dataset.restored', actor, subject, details };
  await audit.commit({ tenant }, [restores.replaceWrite(ready)], [entry]);
  return { ...ready, version: restore.version + 1 };
}

/** The file is gone when the request ends; what is kept of it is not. */
async function keepFile(
  deps: OwnRestoreDependencies,
  restore: OwnRestore,
  {
    file,
    check,
    context,
  }: { readonly file: UploadedFile; readonly check: CheckSignature; readonly context: CallContext },
): Promise<OwnRestore> {
  const { source } = restore;
  try {
    const { blobs } = await deps.places.open(null);
    const signal = context.signal ?? new AbortController().signal;
    await keepSnapshotFile(file.open(), partPlace(blobs, asId(source.tenantId), source.name), { check, signal });
    return await admit(deps, restore);
  } catch (error) {
    await remove(deps, restore);
    throw error;
  }
}

/** Begins anew each time: what an attempt before left is removed first, and what this one leaves when it fails. */
async function carryOut(
  deps: OwnRestoreDependencies,
  restore: OwnRestore,
  { requestId, signal, update }: WorkWatch<OwnRestore>,
): Promise<Partial<OwnRestore>> {
  const { tenant: tenantId, datasetId, name, source, userId: ownerId } = restore;
  if ((await deps.datasets.get({ tenant: tenantId }, datasetId)) !== null) return { step: '' };
  const snapshot = { tenantId: asId<typeof tenantId>(source.tenantId), name: source.name };
  const key = restore.keyId === null ? {} : { keyId: restore.keyId };
  const target = { tenantId, datasetId, snapshot, place: null, requestId, ownerId, keepsOwners: false, ...key };
  try {
    await asUser(deps, restore, requestId);
    await discardRestored(deps, target);
    const { blobs } = await deps.places.open(null);
    const from = partPlace(blobs, snapshot.tenantId, snapshot.name);
    await restoreSnapshot(deps, { ...target, from, isUploaded: source.datasetId === null, signal, progress: update });
    // Whoever has taken over began anew under the same id.
    await update({ step: 'registering' });
    const context = await asUser(deps, restore, requestId);
    await deps.messenger.call(admitOwnDataset, { datasetId, name }, context);
  } catch (error) {
    // Its answer alone may have been lost.
    if ((await deps.datasets.get({ tenant: tenantId }, datasetId)) === null) {
      if (!signal.aborted) {
        await discardRestored(deps, target);
        await removeUpload(deps, restore);
      }
      throw error;
    }
  }
  await removeUpload(deps, restore);
  return { step: '' };
}

/** Speaks for the user, if there still is one that may read all that the snapshot shows. */
async function asUser(
  { messenger }: OwnRestoreDependencies,
  { userId, tenant, keyId, source }: OwnRestore,
  requestId: string,
): Promise<CallContext> {
  const account = { userId, tenant, keyId };
  const context = await asAccount(messenger, account, { requestId }, 'The user of this restore is no longer admitted.');
  if (source.datasetId !== null) await wholeDataset(messenger, context.principal, source.datasetId, context);
  return context;
}

async function remove(deps: OwnRestoreDependencies, restore: OwnRestore): Promise<void> {
  const { tenant, datasetId, source, userId: ownerId, keyId, isComplete } = restore;
  if (!isComplete && (await deps.datasets.get({ tenant }, datasetId)) === null) {
    const snapshot = { tenantId: asId<typeof tenant>(source.tenantId), name: source.name };
    await discardRestored(deps, {
      tenantId: tenant,
      datasetId,
      snapshot,
      place: null,
      requestId: deps.ids.uuid(),
      ownerId,
      ...(keyId === null ? {} : { keyId }),
    });
  }
  await removeUpload(deps, restore);
  await deps.store.commit({ tenant }, [deps.restores.removeWrite(restore)]);
}

async function removeUpload({ places }: OwnRestoreDependencies, { source }: OwnRestore): Promise<void> {
  if (source.datasetId !== null) return;
  const { blobs } = await places.open(null);
  const place = partPlace(blobs, asId(source.tenantId), source.name);
  await blobs.removeAll(place.scope, place.folder);
}
