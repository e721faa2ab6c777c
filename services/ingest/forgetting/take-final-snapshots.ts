import { isCanaryDataset } from '../../common/domain/canary.ts';
import { finalSnapshotName } from '../../common/domain/snapshot-name.ts';
import type { TenantId } from '../../common/kernel/brand.ts';
import { clientMessage, engramError, isEngramError } from '../../common/kernel/errors.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import { datasetScope } from '../../common/kernel/scope.ts';
import type { AnswerOf, ErasedThing, RequestOf } from '../../common/platform/messaging/messages.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import type { ItemDependencies } from '../dependencies.ts';
import type { ForgettingCounts } from '../model.ts';
import type { Erasure } from '../repositories/erasures.ts';

/** What an erasure knows of itself beside its counts. */
type ErasureNotes = Pick<Erasure, 'finalSnapshots' | 'kept'>;

/** Is told what is done, and whether to go on. */
export interface ErasureWatch extends ForgettingCounts, Readonly<ErasureNotes> {
  /** For whoever goes on. Throws when somebody else has taken over. */
  note(notes: Partial<ErasureNotes>): Promise<void>;
  /** What is being erased now, in a few words. Throws when somebody else has taken over. */
  step(name: string): Promise<void>;
  /** All that was removed, by kind, also in earlier attempts. */
  total(): JsonObject;
  readonly begunAt: string;
  readonly jobId: string;
  readonly context: CallContext;
}

/** What is to be erased, and what not. */
export type ErasureRequest = ErasedThing &
  Pick<RequestOf<'ingest.EraseDataset'>, 'keepSnapshots' | 'finalSnapshot' | 'withoutSnapshots'> &
  Pick<RequestOf<'ingest.EraseTenant'>, 'finalSnapshots'>;

export interface FinalSnapshotDependencies extends ItemDependencies {
  /** Absent: none are taken here. */
  readonly takeSnapshot?: (
    request: RequestOf<'ingest.TakeSnapshot'>,
    context: CallContext,
  ) => Promise<AnswerOf<'ingest.TakeSnapshot'>>;
}

type Wanted = Pick<RequestOf<'ingest.TakeSnapshot'>, 'datasetId' | 'name' | 'place'>;

/**
 * All snapshots that are wanted of what is erased, each read again, before anything is erased: the erasure has begun, so
 * nobody can write any more. Once something may have been erased none is taken, whoever asks. `FinalSnapshotFailed` when one
 * cannot be taken, with the reason, and when nobody says where, nor that none are wanted: whoever began the erasure may have
 * wanted them, and have been killed before that was written down. The step names the one.
 */
export async function takeFinalSnapshots(
  deps: FinalSnapshotDependencies,
  request: ErasureRequest,
  watch: ErasureWatch,
): Promise<void> {
  if (watch.finalSnapshots === 'over') return;
  const { finalSnapshot, finalSnapshots, withoutSnapshots = false } = request;
  if (finalSnapshot !== undefined || finalSnapshots !== undefined) await takeAll(deps, request, watch);
  else if (!withoutSnapshots) throw failed('Nobody says where to keep them, or that none are wanted.');
  await watch.note({ finalSnapshots: 'over' });
}

/** What was on its way when credentials ended is over by then. */
const MOST = 9;

/**
 * Until none lacks anything: somebody's last request may have been on its way, and have been answered after the snapshot. Then
 * there is another one, and both stay.
 */
async function takeAll(deps: FinalSnapshotDependencies, request: ErasureRequest, watch: ErasureWatch): Promise<void> {
  const taken = new Map<string, number>();
  for (let isComplete = false; !isComplete; ) {
    isComplete = true;
    for (const wanted of await wantedOf(deps, request, watch)) {
      const count = taken.get(wanted.datasetId) ?? 0;
      if (count > 0 && !(await hasChanged(deps, request.tenantId, numbered(wanted, count)))) continue;
      if (count === MOST) throw failed(`Dataset ${wanted.datasetId} goes on changing.`);
      isComplete = false;
      await take(deps, { ...request, ...numbered(wanted, count + 1) }, watch);
      taken.set(wanted.datasetId, count + 1);
    }
  }
}

function numbered(wanted: Wanted, count: number): Wanted {
  return count === 1 ? wanted : { ...wanted, name: `${wanted.name}-${count}` };
}

/** Whatever is written into a dataset is an event of it. */
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
