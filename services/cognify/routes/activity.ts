import { z } from 'zod';
import { json, routesOf } from '../../common/platform/http/route.ts';
import { own } from '../../common/platform/http/route-permission.ts';
import { lenientInteger, uuid } from '../../common/platform/http/schema.ts';
import { listRunRecords, type RecordDependencies, type RunRecordPage } from '../runs/read-runs.ts';

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
  stages: z
    .array(
      z.object({
        stage: z.string(),
        status: z.string(),
        reason: text,
        error: text,
        counts: z.record(z.string(), z.int()),
        duration_ms: z.int(),
      }),
    )
    .optional()
    .describe('Of an improve that ended: what its stages did'),
});

const { routes, get } = routesOf<RecordDependencies>({ tag: 'activity' });

export const activityRoutes = routes(
  get('/api/v1/activity/pipeline-runs', 'listPipelineRuns', {
    summary: 'History of pipeline runs and operations, newest first',
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
    async handle({ principal, query, context }, dependencies) {
      const { dataset_id: datasetId, pipeline_name: pipeline, limit, offset } = query;
      const page = await listRunRecords(dependencies, { principal, datasetId, pipeline, limit, offset }, context);
      return json(presentRunRecords(page));
    },
  }),
);

/** Presents rows of `/activity/pipeline-runs` (ingest.md §8.3). Name and owner are those of readable datasets only. */
function presentRunRecords({ rows, datasets, owners }: RunRecordPage): readonly object[] {
  return rows.map(({ id, record }) => {
    const dataset = datasets.get(record.datasetId ?? '');
    return {
      id,
      kind: record.pipeline === null ? 'operation' : 'pipeline',
      pipeline_name: record.pipeline,
      status: record.status,
      dataset_id: record.datasetId,
      dataset_name: dataset?.name ?? null,
      owner_id: dataset?.ownerId ?? null,
      owner_email: owners.get(dataset?.ownerId ?? '') ?? null,
      created_at: record.createdAt,
      pipeline_run_id: record.runId,
      operation_name: record.operation,
      origin: record.origin,
      outcome: record.outcome,
      background: record.background,
      error_class: record.errorClass,
      error_message: record.errorMessage,
      tokens_in: record.tokensIn,
      tokens_out: record.tokensOut,
      embedding_tokens: record.embeddingTokens,
      started_at: record.startedAt,
      ended_at: record.endedAt,
      user_id: record.userId,
      session_id: record.sessionId ?? null,
      parent_operation_id: null,
      ...(record.stages === undefined ? {} : { stages: record.stages }),
    };
  });
}
