import { z } from 'zod';
import { defineRoute, json, type Route } from '../../common/platform/http/route.ts';
import { own } from '../../common/platform/http/route-permission.ts';
import { lenientInteger, uuid } from '../../common/platform/http/schema.ts';
import { onDemand } from '../../common/platform/lifecycle/on-demand.ts';
import type { CognifyDependencies } from '../dependencies.ts';
import { presentRunRecords } from '../presenters/run-record.ts';

const listRunRecords = onDemand(async () => (await import('../runs/read-runs.ts')).listRunRecords);

const text = z.string().nullable();
const count = z.int().nullable();
const row = z.object({
  id: z.uuid(),
  kind: z.enum(['pipeline', 'operation']),
  pipeline_name: text,
  status: text,
  dataset_id: text,
  dataset_name: text,
  owner_id: text,
  owner_email: text,
  created_at: z.string(),
  pipeline_run_id: z.uuid(),
  operation_name: z.string(),
  origin: z.string(),
  outcome: text,
  background: z.boolean().nullable(),
  error_class: text,
  error_message: text,
  tokens_in: count,
  tokens_out: count,
  embedding_tokens: count,
  started_at: z.string(),
  ended_at: text,
  user_id: z.uuid(),
  session_id: text,
  parent_operation_id: text,
});

export function activityRoutes(dependencies: CognifyDependencies): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/activity/pipeline-runs',
      tag: 'activity',
      summary: 'History of pipeline runs and operations, newest first',
      auth: 'user',
      permission: own('rows, and rows on datasets with read'),
      query: z.object({
        dataset_id: uuid().optional(),
        pipeline_name: z.string().optional(),
        limit: lenientInteger({ min: 1, max: 500 }).default(50),
        offset: lenientInteger({ min: 0, max: 100_000 }).default(0),
      }),
      responses: {
        200: { description: 'A bare array of rows', schema: z.array(row) },
        403: { description: 'The dataset is not readable' },
      },
      async handle({ principal, query, context }) {
        const { dataset_id: datasetId, pipeline_name: pipeline, limit, offset } = query;
        const page = await listRunRecords(dependencies, { principal, datasetId, pipeline, limit, offset }, context);
        return json(presentRunRecords(page));
      },
    }),
  ];
}
