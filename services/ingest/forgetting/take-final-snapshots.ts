import { isCanaryDataset } from '../../common/domain/canary.ts';
import { finalSnapshotName } from '../../common/domain/snapshot-name.ts';
import type { TenantId } from '../../common/kernel/brand.ts';
import { clientMessage, engramError, isEngramError } from '../../common/kernel/errors.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import { datasetScope } from '../../common/kernel/scope.ts';
import type { AnswerOf, ErasedThing, RequestOf } from '../../common/platform/messaging/messages.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import type { IngestDependencies } from '../dependencies.ts';
import type { ForgettingCounts } from '../model.ts';
import type { Erasure } from '../repositories/erasures.ts';

/** Records of an erasure beside its counts. */
type ErasureNotes = Pick<Erasure, 'finalSnapshots' | 'kept'>;

/** Records how far an erasure is. */
export interface ErasureWatch extends ForgettingCounts, Readonly<ErasureNotes> {
  /** Records notes for later attempts. Throws when another worker has taken over. */
  note(notes: Partial<ErasureNotes>): Promise<void>;
  /** Records the current step, in a few words. Throws when another worker has taken over. */
  step(name: string): Promise<void>;
  /** The counts of what was removed, by kind, with those of earlier attempts. */
  total(): JsonObject;
  readonly begunAt: string;
  readonly jobId: string;
  readonly context: CallContext;
}

/** The dataset or tenant to erase, and what is to become of its snapshots. */
export type ErasureRequest = ErasedThing &
  Pick<RequestOf<'ingest.EraseDataset'>, 'keepSnapshots' | 'finalSnapshot' | 'withoutSnapshots'> &
  Pick<RequestOf<'ingest.EraseTenant'>, 'finalSnapshots'>;

export interface FinalSnapshotDependencies extends IngestDependencies {
  /** Absent: none are taken here. */
  readonly takeSnapshot?: (
    request: RequestOf<'ingest.TakeSnapshot'>,
    context: CallContext,
  ) => Promise<AnswerOf<'ingest.TakeSnapshot'>>;
}

type Wanted = Pick<RequestOf<'ingest.TakeSnapshot'>, 'datasetId' | 'name' | 'place'>;

/**
 * Takes all wanted snapshots and verifies them before anything is erased: the erasure has begun, so nothing can be
 * written any more. Once something may have been erased none is taken. `FinalSnapshotFailed`, with the reason, when one
 * cannot be taken, and when the request says neither where they go nor that none are wanted: the process that began the
 * erasure may have been killed before it recorded that they are. The step names the snapshot.
 */
export async function takeFinalSnapshots(
  deps: FinalSnapshotDependencies,
  request: ErasureRequest,
  watch: ErasureWatch,
): Promise<void> {
  if (watch.finalSnapshots === 'over') return;
  const { finalSnapshot, finalSnapshots, withoutSnapshots = false } = request;
  if (finalSnapshot !== undefined || finalSnapshots !== undefined) await takeAll(deps, request, watch);
  else if (!withoutSnapshots) throw failed('The request says neither where to keep them nor that none are wanted.');
  await watch.note({ finalSnapshots: 'over' });
}

/** Writes that were in flight when credentials ended are over by then. */
const MOST = 9;

/**
 * Repeats until no snapshot lacks anything: a last request may have been in flight, and been answered after the
 * snapshot. Then there is another one, and both stay.
 */
async function takeAll(deps: FinalSnapshotDependencies, request: ErasureRequest, watch: ErasureWatch): Promise<void> {
  const taken = new Map<string, number>();
  for (let isComplete = false; !isComplete; ) {
    isComplete = true;
    for (const wanted of await wantedOf(deps, request, watch)) {
      const count = taken.get(wanted.datasetId) ?? 0;
      if (count > 0 && !(await hasChanged(deps, request.tenantId, numbered(wanted, count)))) continue;
      if (count === MOST) throw failed(`Dataset ${wanted.datasetId} keeps changing.`);
      isComplete = false;
      await take(deps, { ...request, ...numbered(wanted, count + 1) }, watch);
      taken.set(wanted.datasetId, count + 1);
    }
  }
}

function numbered(wanted: Wanted, count: number): Wanted {
  return count === 1 ? wanted : { ...wanted, name: `${wanted.name}-${count}` };
}

/** Whether the dataset has changed since the snapshot: every write is an event of it. */
async function hasChanged(
  { snapshotIndex, eventLog }: FinalSnapshotDependencies,
  tenant: TenantId,
  { datasetId, name }: Wanted,
): Promise<boolean> {
  const { event } = (await snapshotIndex?.snapshots.get({ tenant }, name)) ?? {};
  if (event === undefined) return false;
  return (await eventLog.read(datasetScope(tenant, datasetId), { after: event ?? 0, limit: 1 })).length > 0;
}

async function wantedOf(
  { datasets }: FinalSnapshotDependencies,
  { tenantId, datasetId, finalSnapshot, finalSnapshots }: ErasureRequest,
  { begunAt }: ErasureWatch,
): Promise<readonly Wanted[]> {
  if (datasetId !== undefined) return finalSnapshot === undefined ? [] : [{ datasetId, ...finalSnapshot }];
  if (finalSnapshots === undefined) return [];
  const found = await datasets.allOfTenant({ tenant: tenantId });
  return found
    .filter((dataset) => !isCanaryDataset(dataset))
    .map((dataset) => ({
      datasetId: dataset.id,
      name: finalSnapshotName(dataset, new Date(begunAt)),
      place: finalSnapshots.place,
    }));
}

async function take(
  { takeSnapshot }: FinalSnapshotDependencies,
  { tenantId, crUid, datasetId, name, place }: ErasureRequest & Wanted,
  watch: ErasureWatch,
): Promise<void> {
  if (takeSnapshot === undefined) throw failed('No snapshots are taken here.');
  const wanted = { tenantId, datasetId, crUid, name, place, verify: true };
  for (;;) {
    await watch.step(`snapshot ${name}`);
    const { snapshot, failure } = await takeSnapshot(wanted, watch.context).catch((error: unknown) => {
      if (isEngramError(error)) throw failed(clientMessage(error));
      throw error;
    });
    if (failure !== null) throw failed(failure.message);
    if (snapshot !== null) return;
  }
}

function failed(message: string) {
  return engramError('FinalSnapshotFailed', message, { retryable: true });
}
