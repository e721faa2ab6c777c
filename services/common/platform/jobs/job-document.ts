import type { DatasetId, TenantId } from '../../kernel/brand.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Scope } from '../../kernel/scope.ts';
import type { WallClock } from '../../ports/system.ts';
import { type ClaimedJob, LeaseLostError } from '../../ports/work-queue.ts';
import type { Stored } from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';
import { leasesOf } from '../leases/lease.ts';

/** `queued`: to be claimed once it is due. `running`: leased until it is due. `dead`: given up, kept for a replay. */
type JobState = 'queued' | 'running' | 'dead';

/** A stored job; it is removed when it is done. Times are milliseconds since 1970. */
export type JobDocument = {
  readonly kind: string;
  readonly tenant: TenantId;
  readonly dataset: DatasetId | null;
  readonly payload: JsonObject;
  readonly state: JobState;
  /** Time from which a queued job may be claimed, or to which a running one is leased. */
  readonly dueAtMs: number;
  /** Jobs of one key run one after the other. It begins with the tenant: tenants cannot block each other. */
  readonly orderingKey: string | null;
  /** The ordering key while the job runs, else null: the unique index lets only one job of a key run. */
  readonly runningKey: string | null;
  readonly idempotencyKey: string | null;
  /** The idempotency key while the job is unfinished, else null. */
  readonly unfinishedKey: string | null;
  readonly fencingToken: number;
  readonly worker: string | null;
  /** Claims so far; a release takes its claim back. */
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly cancelRequested: boolean;
  readonly error: { readonly name: string; readonly message: string } | null;
  readonly failedAt: string | null;
};

/** Jobs are claimed by workers of the whole installation. The sequence is the enqueue order. */
export const jobsCollection: OwnedCollection<JobDocument> = {
  name: 'jobs',
  level: 'system',
  owner: 'platform',
  readers: ['cognify'],
  belongsTo: { tenant: 'tenant' },
  sequenced: true,
  indexes: [
    { fields: ['state', 'sequence'] },
    { fields: ['state', 'dueAtMs'] },
    { fields: ['orderingKey', 'sequence'] },
    { fields: ['kind', 'state'] },
    { fields: ['tenant', 'dataset'] },
    { fields: ['runningKey'], unique: true },
    { fields: ['unfinishedKey'], unique: true },
  ],
};

export const jobLeases = leasesOf(jobsCollection, { holder: 'worker', leasedUntilMs: 'dueAtMs', fence: 'token' });

export type StoredJob = Stored<JobDocument>;

/** An ordering key begins with the tenant: tenants cannot block each other. */
export function orderingKeyOf(tenant: TenantId, key: string): string {
  return JSON.stringify([tenant, key]);
}

export function claimedJob({ id, value }: Pick<StoredJob, 'id' | 'value'>): ClaimedJob {
  const { tenant, dataset, kind, payload, attempts, maxAttempts, fencingToken, worker, cancelRequested } = value;
  const scope: Scope = dataset === null ? { tenant } : { tenant, dataset };
  return {
    id,
    kind,
    scope,
    payload,
    attempt: attempts,
    maxAttempts,
    fencingToken,
    worker: worker ?? '',
    cancelRequested,
  };
}

export function leaseLost(
  job: ClaimedJob,
  options: ErrorOptions & { readonly isTaken?: boolean } = {},
): LeaseLostError {
  return new LeaseLostError(`job ${job.id} (${job.kind}) is not held by ${job.worker} any more`, options);
}

/** The fields of a queued job that may be claimed from `dueAtMs` on. */
export function waiting(dueAtMs: number): Pick<JobDocument, 'state' | 'dueAtMs' | 'runningKey' | 'worker'> {
  return { state: 'queued', dueAtMs, runningKey: null, worker: null };
}

/** The fields of a dead job. Its keys are free for others. */
export function givenUp(
  clock: WallClock,
  error: { readonly name: string; readonly message: string },
): Partial<JobDocument> {
  const failedAt = clock.now().toISOString();
  return { state: 'dead', runningKey: null, unfinishedKey: null, worker: null, error, failedAt };
}
