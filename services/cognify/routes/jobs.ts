import { z } from 'zod';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { json, routesOf } from '../../common/platform/http/route.ts';
import { SUPERUSER } from '../../common/platform/http/route-permission.ts';
import { lenientInteger } from '../../common/platform/http/schema.ts';
import type { DeadLetter } from '../../common/ports/work-queue.ts';
import { discardDeadJob, type JobDependencies, readDeadJob, replayDeadJob } from '../runs/dead-jobs.ts';

const text = z.string().nullable();
const job = z.object({
  id: z.string(),
  kind: z.string(),
  tenant_id: z.string(),
  dataset_id: text,
  pipeline_run_id: text,
  attempts: z.int(),
  error_class: z.string(),
  error_message: z.string(),
  failed_at: z.string(),
});
const page = z.object({ jobs: z.array(job), next: text.describe('Value of `after` for the next page') });
const jobWithPayload = job.extend({ payload: z.record(z.string(), z.unknown()).describe('The work of the job') });

const PATH = '/api/v1/activity/jobs';
const params = z.object({ jobId: z.string() });
const UNKNOWN = { 404: { description: 'No failed job has this id' } } as const;

const { routes, get, post, remove } = routesOf<JobDependencies>({
  tag: 'activity',
  auth: 'superuser',
  permission: SUPERUSER,
});

/** Routes for dead letters of every tenant: a superuser lists, replays or discards them. */
export const jobRoutes = routes(
  get(PATH, 'listJobs', {
    summary: 'Jobs that failed for good, oldest first',
    query: z.object({
      limit: lenientInteger({ min: 1, max: 500 }).default(50),
      after: z.string().optional(),
    }),
    responses: { 200: { description: 'A page of jobs', schema: page } },
    async handle({ query: { limit, after } }, { workQueue }) {
      const found = await workQueue.deadLetters.list(SYSTEM_SCOPE, { limit, after: after ?? null });
      return json({ jobs: found.items.map(presentDeadJob), next: found.next });
    },
  }),
  get(`${PATH}/:jobId`, 'getJob', {
    params,
    summary: 'A job that failed for good, with its payload',
    responses: { 200: { description: 'The job', schema: jobWithPayload }, ...UNKNOWN },
    async handle({ params: { jobId } }, dependencies) {
      const letter = await readDeadJob(dependencies, jobId);
      return json({ ...presentDeadJob(letter), payload: letter.payload });
    },
  }),
  post(`${PATH}/:jobId/replay`, 'replayJob', {
    params,
    summary: 'Queue a failed job again',
    responses: {
      200: { description: 'The job as it failed; it is queued now', schema: job },
      ...UNKNOWN,
      409: { description: 'It was replayed already, or a newer job does the same work' },
    },
    async handle({ params: { jobId }, principal }, dependencies) {
      const letter = await replayDeadJob(dependencies, jobId, principal.id);
      dependencies.logger.info('jobs.replayed', { jobId, kind: letter.kind, userId: principal.id });
      return json(presentDeadJob(letter));
    },
  }),
  remove(`${PATH}/:jobId`, 'deleteJob', {
    params,
    summary: 'Discard a failed job; its run ends with an error',
    responses: {
      200: { description: 'The job that was removed', schema: job },
      ...UNKNOWN,
      409: { description: 'The job was replayed meanwhile' },
    },
    async handle({ params: { jobId }, principal }, dependencies) {
      const letter = await discardDeadJob(dependencies, jobId, principal.id);
      dependencies.logger.info('jobs.discarded', { jobId, kind: letter.kind, userId: principal.id });
      return json(presentDeadJob(letter));
    },
  }),
);

/** Presents a row of `/activity/jobs`. */
function presentDeadJob({ id, kind, tenant, dataset, attempts, error, failedAt, payload }: DeadLetter): object {
  return {
    id,
    kind,
    tenant_id: tenant,
    dataset_id: dataset,
    attempts,
    pipeline_run_id: typeof payload['runId'] === 'string' ? payload['runId'] : null,
    error_class: error.name,
    error_message: error.message,
    failed_at: failedAt,
  };
}
