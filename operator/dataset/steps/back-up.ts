import { type Cron, parseCron } from '../../../services/common/domain/cron.ts';
import { snapshotName } from '../../../services/common/domain/snapshot-name.ts';
import { isEngramError } from '../../../services/common/kernel/errors.ts';
import type { SnapshotInfo } from '../../../services/common/platform/messaging/messages.ts';
import type { SnapshotPlace } from '../../../services/common/storage/ports/snapshot-places.ts';
import type { DatasetStatus, DatasetStatusBackup } from '../../api/dataset.ts';
import type { TenantBackup } from '../../api/tenant.ts';
import { findPlace } from '../../erasure/snapshots.ts';
import { callService } from '../../installation/services.ts';
import { type ConditionDraft, toSeconds } from '../../kube-runtime/conditions.ts';
import { done, type StepOutcome } from '../../kube-runtime/steps.ts';
import {
  type DatasetContext,
  type DatasetParts,
  type DatasetStep,
  idsOf,
  readTenant,
  uidOf,
  wireName,
} from '../model.ts';

const MINUTE_MS = 60_000;
const SOON_MS = 1_000;
/** A snapshot is overdue when it is not complete this long after it was due. */
const LATE_MS = 3_600_000;

/**
 * Takes the snapshots that `backup` of the Tenant declares. A snapshot is named by the time it was due, so it is never taken
 * twice, even when the status was not written. A failure is shown in `BackupHealthy` and retried a minute later; the dataset
 * stays ready.
 */
export function backUp(parts: DatasetParts): DatasetStep {
  return {
    name: 'back-up',
    async run(context): Promise<StepOutcome<DatasetStatus>> {
      const tenant = await readTenant(parts.client, context.object, context.signal);
      const backup = tenant?.spec.backup;
      if (backup === undefined) return done({ status: { backup: undefined }, removed: ['BackupHealthy'] });
      const cron = parseCron(backup.schedule);
      if ('fault' in cron) {
        return failed(context, `spec.backup.schedule of the Tenant is invalid: ${cron.fault}`);
      }
      const { backup: held } = context.status;
      const nextAt = dueTime(cron, held, context.now);
      if (nextAt === null) return failed(context, 'spec.backup.schedule of the Tenant names no time to come');
      if (nextAt.getTime() > context.now.getTime()) return waiting(context, nextAt);
      const found = await findPlace(parts.client, tenant, backup.destinationRef?.name, context.signal);
      if ('fault' in found) return failed(context, found.fault, nextAt);
      try {
        return await take(parts, context, { backup, cron, nextAt, place: found.place });
      } catch (error) {
        if (!isEngramError(error)) throw error;
        parts.logger.warn('backup.failed', { dataset: context.status.datasetId, error });
        return failed(context, error.message, nextAt);
      }
    },
  };
}

/** Returns the time in the status, unless the schedule has changed. */
function dueTime(cron: Cron, held: DatasetStatusBackup | undefined, now: Date): Date | null {
  const promised = Date.parse(held?.nextAt ?? '');
  const isOfSchedule = cron.nextAfter(new Date(promised - MINUTE_MS))?.getTime() === promised;
  return Number.isNaN(promised) || !isOfSchedule ? cron.nextAfter(now) : new Date(promised);
}

interface Due {
  readonly backup: TenantBackup;
  readonly cron: Cron;
  readonly nextAt: Date;
  readonly place: SnapshotPlace;
}

async function take(parts: DatasetParts, context: DatasetContext, { backup, cron, nextAt, place }: Due) {
  const { services } = parts;
  const { object, now, signal, event } = context;
  const ids = idsOf(context);
  // Takes one snapshot for any number of missed times.
  const name = snapshotName({ name: wireName(object), id: ids.datasetId }, nextAt);
  const managed = { ...ids, crUid: uidOf(object), place };
  const {
    snapshot,
    failure,
    done: items,
    total,
  } = await callService(services, 'ingest.TakeSnapshot', { ...managed, name }, signal);
  if (failure !== null) return failed(context, failure.message, nextAt);
  if (snapshot === null) {
    const message = `A snapshot is being taken: ${items} of ${total} items`;
    return underWay(context, nextAt, message);
  }
  const { removed } = await callService(services, 'ingest.PruneSnapshots', { ...managed, keep: backup.keep }, signal);
  const { snapshots } = await callService(services, 'ingest.ListSnapshots', ids, signal);
  event({ type: 'Normal', reason: 'SnapshotTaken', message: `Snapshot ${name} is complete` });
  if (removed.length > 0) parts.logger.info('backup.pruned', { dataset: ids.datasetId, removed });
  const next = cron.nextAfter(now);
  return done({
    status: { backup: { ...(next === null ? {} : { nextAt: toSeconds(next) }), ...shown(snapshot, snapshots) } },
    conditions: [healthy('True', 'Succeeded', `Snapshot ${name} is complete`)],
    ...(next === null ? {} : { requeueAfterMs: next.getTime() - now.getTime() }),
  });
}

function shown(last: SnapshotInfo, all: readonly SnapshotInfo[]): Omit<DatasetStatusBackup, 'nextAt'> {
  const { name, at, items, sizeBytes, place } = last;
  return {
    lastSnapshot: { name, at: toSeconds(new Date(at)), items, sizeBytes, place },
    snapshots: all.map((snapshot) => snapshot.name),
  };
}

/** Outcome before the next snapshot is due. */
function waiting({ status, now }: DatasetContext, nextAt: Date): StepOutcome<DatasetStatus> {
  const isFirst = status.backup?.lastSnapshot === undefined;
  const message = 'The first snapshot is not due yet';
  return done({
    status: { backup: { ...status.backup, nextAt: toSeconds(nextAt) } },
    ...(isFirst ? { conditions: [healthy('True', 'NotDue', message)] } : {}),
    requeueAfterMs: nextAt.getTime() - now.getTime(),
  });
}

function underWay({ status, now }: DatasetContext, nextAt: Date, message: string): StepOutcome<DatasetStatus> {
  const isLate = now.getTime() - nextAt.getTime() > LATE_MS;
  return done({
    status: { backup: { ...status.backup, nextAt: toSeconds(nextAt) } },
    ...(isLate ? { conditions: [healthy('False', 'Overdue', message)] } : {}),
    requeueAfterMs: SOON_MS,
  });
}

function failed({ status, now }: DatasetContext, why: string, nextAt?: Date): StepOutcome<DatasetStatus> {
  const isLate = nextAt !== undefined && now.getTime() - nextAt.getTime() > LATE_MS;
  const reason = isLate ? 'Overdue' : 'Failed';
  const message = `No snapshot could be taken: ${why}`.replace(/\.$/, '').slice(0, 200);
  return done({
    ...(nextAt === undefined ? {} : { status: { backup: { ...status.backup, nextAt: toSeconds(nextAt) } } }),
    conditions: [healthy('False', reason, message)],
    requeueAfterMs: MINUTE_MS,
  });
}

function healthy(status: ConditionDraft['status'], reason: string, message: string): ConditionDraft {
  return { type: 'BackupHealthy', status, reason, message };
}
