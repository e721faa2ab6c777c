import { z } from 'zod';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { defineRoute, json, type Route } from '../../common/platform/http/route.ts';
import { SUPERUSER } from '../../common/platform/http/route-permission.ts';
import { lenientInteger } from '../../common/platform/http/schema.ts';
import { onDemand } from '../../common/platform/lifecycle/on-demand.ts';
import type { CognifyDependencies } from '../dependencies.ts';
import { presentDeadJob } from '../presenters/dead-job.ts';

const discardDeadJob = onDemand(async () => (await import('../runs/dead-jobs.ts')).discardDeadJob);
const readDeadJob = onDemand(async () => (await import('../runs/dead-jobs.ts')).readDeadJob);
const replayDeadJob = onDemand(async () => (await import('../runs/dead-jobs.ts')).replayDeadJob);

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
const page = z.object({ jobs: z.array(job), next: text.describe('Goes into `after` for the page that follows') });
const jobWithPayload = job.extend({ payload: z.record(z.string(), z.unknown()).describe('What it was to do') });

const PATH = '/api/v1/activity/jobs';
const ONE = {
  path: `${PATH}/:jobId`,
  tag: 'activity',
  auth: 'superuser',
  permission: SUPERUSER,
  params: z.object({ jobId: z.string() }),
} as const;
const UNKNOWN = { 404: { description: 'No job of this id was given up' } } as const;

/** Work that failed for good, of every tenant: the operator of the service has it done again, or removes it. */
export function jobRoutes(dependencies: CognifyDependencies): readonly Route[] {
  return [list(dependencies), show(dependencies), replay(dependencies), discard(dependencies)];
}

function list({ workQueue }: CognifyDependencies): Route {
  return defineRoute({
    method: 'GET',
    path: PATH,
    tag: 'activity',
    summary: 'Jobs that were given up, oldest first',
    auth: 'superuser',
    permission: SUPERUSER,
    query: z.object({
      limit: lenientInteger({ min: 1, max: 500 }).default(50),
      after: z.string().optional(),
    }),
    responses: { 200: { description: 'A page of them', schema: page } },
    async handle({ query: { limit, after } }) {
      const found = await workQueue.deadLetters.list(SYSTEM_SCOPE, { limit, after: after ?? null });
      return json({ jobs: found.items.map(presentDeadJob), next: found.next });
    },
  });
}

function show(dependencies: CognifyDependencies): Route {
  return defineRoute({
    ...ONE,
    method: 'GET',
    summary: 'A job that was given up, with what it was to do',
    responses: { 200: { description: 'The job', schema: jobWithPayload }, ...UNKNOWN },
    async handle({ params: { jobId } }) {
      const letter = await readDeadJob(dependencies, jobId);
      return json({ ...presentDeadJob(letter), payload: letter.payload });
    },
  });
}

function replay(dependencies: CognifyDependencies): Route {
  return defineRoute({
    ...ONE,
    path: `${PATH}/:jobId/replay`,
    method: 'POST',
    summary: 'Queue a job anew that was given up',
    responses: {
      200: { description: 'The job as it was given up; it is queued now', schema: job },
      ...UNKNOWN,
      409: { description: 'It was replayed already, or a newer job does its work' },
    },
    async handle({ params: { jobId }, principal }) {
      const letter = await replayDeadJob(dependencies, jobId, principal.id);
      dependencies.logger.info('jobs.replayed', { jobId, kind: letter.kind, userId: principal.id });
      return json(presentDeadJob(letter));
    },
  });
}

function discard(dependencies: CognifyDependencies): Route {
  return defineRoute({
    ...ONE,
    method: 'DELETE',
    summary: 'Remove a job for good that was given up; its run ends with an error',
    responses: {
      200: { description: 'The job that was removed', schema: job },
      ...UNKNOWN,
      409: { description: 'It was replayed meanwhile' },
    },
    async handle({ params: { jobId }, principal }) {
      const letter = await discardDeadJob(dependencies, jobId, principal.id);
      dependencies.logger.info('jobs.discarded', { jobId, kind: letter.kind, userId: principal.id });
      return json(presentDeadJob(letter));
    },
  });
}
