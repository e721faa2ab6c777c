import { randomUUID } from 'node:crypto';
import { parseCron } from '../../../services/common/domain/cron.ts';
import type { DatasetRef } from '../../../services/common/kernel/dataset.ts';
import { isEngramError } from '../../../services/common/kernel/errors.ts';
import { asAccount } from '../../../services/common/platform/messaging/account-authority.ts';
import type { CallContext, MessageCaller } from '../../../services/common/platform/messaging/messenger.ts';
import type { Dataset, DatasetStatusSchedule } from '../../api/dataset.ts';
import type { Services } from '../../installation/services.ts';
import { toSeconds } from '../../kube-runtime/conditions.ts';
import { done } from '../../kube-runtime/steps.ts';
import {
  type DatasetContext,
  type DatasetIds,
  type DatasetParts,
  type DatasetStep,
  idsOf,
  readTenant,
  uidOf,
  wireName,
} from '../model.ts';
import { STATISTICS_MS } from './read-statistics.ts';

const MINUTE_MS = 60_000;

/** Pipelines that are started by a schedule, or because data was added. */
type ScheduledPipeline = 'cognify' | 'improve';

const PIPELINES: readonly ScheduledPipeline[] = ['cognify', 'improve'];

/**
 * Starts the runs that are due: by the schedule (once for any number of missed times), and cognify when data waits and `OnAdd`
 * is declared. A refused start is recorded as an event and retried a minute later; the resource stays ready.
 */
export function startRuns(parts: DatasetParts): DatasetStep {
  return {
    name: 'start-runs',
    async run(context) {
      const schedules: DatasetStatusSchedule[] = [];
      const waits: number[] = [];
      for (const plan of PIPELINES.flatMap((pipeline) => planOf(pipeline, context))) {
        const outcome = plan.due ? await start(parts, context, plan) : 'not due';
        if (outcome === 'refused') waits.push(STATISTICS_MS);
        if (plan.schedule === undefined) continue;
        const schedule = scheduleAfter(plan.schedule, outcome, context);
        schedules.push(schedule);
        const nextMs = Date.parse(schedule.nextStartAt ?? '') - context.now.getTime();
        if (nextMs > 0) waits.push(nextMs);
      }
      return done({
        status: { schedules: schedules.length === 0 ? undefined : schedules },
        ...(waits.length === 0 ? {} : { requeueAfterMs: Math.min(...waits) }),
      });
    },
  };
}

type Start = 'started' | 'skipped' | 'refused';

function scheduleAfter(schedule: DatasetStatusSchedule, outcome: Start | 'not due', { object, now }: DatasetContext) {
  if (outcome === 'not due' || outcome === 'refused') return schedule;
  const lastStartedAt = outcome === 'started' ? { lastStartedAt: toSeconds(now) } : lastOf(schedule);
  return { pipeline: schedule.pipeline, ...lastStartedAt, ...nextTime(object, schedule.pipeline, now) };
}

interface Plan {
  readonly pipeline: ScheduledPipeline;
  readonly due: boolean;
  /** Absent: the pipeline has no schedule. */
  readonly schedule?: DatasetStatusSchedule;
}

function planOf(pipeline: ScheduledPipeline, { object, status, now }: DatasetContext): Plan[] {
  const { trigger } = object.spec.pipeline?.[pipeline] ?? {};
  if (trigger === 'OnAdd') {
    return [{ pipeline, due: (status.stats?.pending ?? 0) > 0 && status.activeRun === undefined }];
  }
  if (trigger !== 'Schedule') return [];
  const held = status.schedules?.find((schedule) => schedule.pipeline === pipeline);
  // The next time is computed with each reconcile, so a changed schedule applies at once; a time that has passed is kept
  // until the run was started, unless it is of an earlier schedule.
  const changed = status.observedGeneration !== object.metadata.generation;
  const schedule =
    held === undefined || changed || !hasPassed(held, object, now)
      ? { pipeline, ...lastOf(held), ...nextTime(object, pipeline, now) }
      : held;
  const due = schedule.nextStartAt !== undefined && Date.parse(schedule.nextStartAt) <= now.getTime();
  return [{ pipeline, due, schedule }];
}

/** Whether the next time has passed and belongs to the present schedule. */
function hasPassed({ pipeline, nextStartAt }: DatasetStatusSchedule, dataset: Dataset, now: Date): boolean {
  const at = Date.parse(nextStartAt ?? '');
  return at <= now.getTime() && nextTime(dataset, pipeline, new Date(at - MINUTE_MS)).nextStartAt === nextStartAt;
}

function lastOf(held: DatasetStatusSchedule | undefined): Pick<DatasetStatusSchedule, 'lastStartedAt'> {
  return held?.lastStartedAt === undefined ? {} : { lastStartedAt: held.lastStartedAt };
}

function nextTime({ spec }: Dataset, pipeline: ScheduledPipeline, now: Date) {
  const cron = parseCron(spec.pipeline?.[pipeline]?.schedule ?? '');
  const next = 'fault' in cron ? null : cron.nextAfter(now);
  return next === null ? {} : { nextStartAt: toSeconds(next) };
}

/** States of a tenant in which runs are not started. */
const NOT_RUNNING: ReadonlySet<string | undefined> = new Set(['Hibernated', 'Fenced']);

/** Also returns `started` when a run is already under way. */
async function start(parts: DatasetParts, context: DatasetContext, { pipeline, schedule }: Plan): Promise<Start> {
  const { object, event, signal } = context;
  const dueAt = schedule?.nextStartAt;
  const place = `${uidOf(object)} ${pipeline}`;
  // The cached object that makes it due may be older than the last start.
  if (parts.memory.starts.holds(place, '')) return 'started';
  // For example `cognify_pipeline`. Only one run of a pipeline at a time.
  if (context.status.activeRun?.pipeline?.startsWith(pipeline) === true) return 'skipped';
  const tenant = await readTenant(parts.client, object, signal);
  // A schedule does not wake a hibernated tenant.
  if (tenant?.spec.state !== 'Active' || NOT_RUNNING.has(tenant.status?.state)) return 'skipped';
  const due = dueAt === undefined ? {} : { dueAt };
  const request = { ...idsOf(context), pipeline, name: wireName(object), crUid: uidOf(object), ...due };
  try {
    await startPipeline(parts.services, request, signal);
  } catch (error) {
    if (!isEngramError(error)) throw error;
    if (error.wireName === 'ConflictError') return 'started';
    parts.logger.warn('schedule.start.failed', { dataset: request.datasetId, pipeline, error });
    event({ type: 'Warning', reason: 'RunNotStarted', message: `${pipeline} could not be started: ${error.message}` });
    return 'refused';
  }
  parts.memory.starts.remember(place, '');
  parts.memory.statistics.forget(uidOf(object));
  return 'started';
}

interface StartRequest extends DatasetIds {
  readonly pipeline: ScheduledPipeline;
  readonly name: string;
  /** `metadata.uid` of the resource. */
  readonly crUid: string;
  /** Time of the schedule, ISO-8601: only one run is started for it. Absent: because data was added. */
  readonly dueAt?: string;
}

/**
 * Starts a run on behalf of the dataset's owner; resolves when it is under way. Throws the `EngramError` of the service, and
 * `PermissionDeniedError` when the account of the owner is inactive.
 */
export async function startPipeline(
  services: Pick<Services, 'call'>,
  { pipeline, tenantId, datasetId, name, crUid, dueAt }: StartRequest,
  signal: AbortSignal,
): Promise<void> {
  const context = { requestId: randomUUID(), signal };
  const { dataset } = await services.call('auth.EnsureDataset', { crUid, tenantId, name, datasetId }, context);
  const owner = await asDatasetOwner(services, dataset, context);
  const due = dueAt === undefined ? {} : { dueAt };
  if (pipeline === 'improve') await services.call('improve.Improve', { dataset, sessions: [], ...due }, owner);
  else await services.call('cognify.StartRun', { dataset, options: {}, background: true, ...due }, owner);
}

/**
 * A context that speaks for the owner of the dataset, who needs no grant, as long as one token lasts.
 * `PermissionDeniedError` when the account is inactive; as `getPrincipal` when auth cannot say.
 */
async function asDatasetOwner(messenger: MessageCaller, { ownerId, tenant }: DatasetRef, context: CallContext) {
  return asAccount(messenger, { userId: ownerId, tenant }, context, "The account of the dataset's owner is inactive.");
}
