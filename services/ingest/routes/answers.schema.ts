import { z } from 'zod';
import { qaRow, refusedInput, traceRow } from '../../common/platform/http/answer-schemas.ts';

/** Dataset record (ingest.md §5.1). */
export const datasetRecord = z
  .object({
    id: z.uuid(),
    name: z.string(),
    createdAt: z.string(),
    updatedAt: z.string().nullable(),
    ownerId: z.uuid(),
  })
  .meta({ id: 'DatasetDTO' });

/** Data item record (ingest.md §5.1). */
export const dataRecord = z
  .object({
    id: z.uuid(),
    name: z.string(),
    label: z.string().nullable(),
    createdAt: z.string(),
    updatedAt: z.string().nullable(),
    extension: z.string(),
    mimeType: z.string(),
    rawDataLocation: z.string(),
    datasetId: z.uuid(),
    externalMetadata: z.record(z.string(), z.unknown()).nullable(),
    dataSize: z.int().nullable(),
    failure: z
      .object({
        errorClass: z.string(),
        message: z.string(),
        tries: z.int(),
        isSetAside: z.boolean().describe('Not tried again until requested'),
        failedAt: z.string().nullable(),
      })
      .optional()
      .describe('Of an item that could not be built'),
    displayName: z
      .string()
      .optional()
      .describe('Label, else file name, else first words, where `excerpts` asks for it'),
    excerpt: z.string().optional().describe('First words of a text without a name, where `excerpts` asks for them'),
  })
  .meta({ id: 'DataDTO' });

export const dataCount = z.object({ count: z.int() }).meta({ id: 'DataCountDTO' });

/** RememberResult (ingest.md §3): of data, of a session, of an entry and of skills. */
export const rememberResult = z
  .object({
    status: z.enum(['completed', 'running', 'started', 'errored', 'session_stored']),
    dataset_name: z.string(),
    dataset_id: z.uuid().nullable(),
    pipeline_run_id: z.uuid().nullable(),
    items_processed: z.int(),
    elapsed_seconds: z.number().nullable(),
    session_ids: z.array(z.string()).optional(),
    items: z
      .array(z.looseObject({ id: z.string(), name: z.string() }).partial())
      .optional()
      .describe('What was stored'),
    refused: z.array(refusedInput).optional().describe('Inputs that were not stored; absent when all were'),
    warnings: z.array(z.string()).optional().describe('What had no effect, and why'),
    error: z.string().optional(),
    improve: z.record(z.string(), z.unknown()).optional().describe('ImproveResult'),
    improve_error: z.string().optional(),
    entry_type: z.string().optional().describe('Of an entry'),
    entry_id: z.string().nullable().optional().describe('Of an entry'),
  })
  .meta({ id: 'RememberResult' });

/** UpdateResult (ingest.md §2). */
const chunkCount = z.int().nullable();
export const updateResult = z
  .object({
    status: z.enum(['incremental', 'unchanged', 'full_rebuild', 'failed']),
    regions: chunkCount,
    deleted_chunks: chunkCount,
    added_chunks: chunkCount,
    reused_chunks: chunkCount,
    redated_chunks: chunkCount,
    kept_chunks: chunkCount,
    reindexed_chunks: chunkCount,
    total_chunks: chunkCount,
    data_id: z.uuid(),
    dataset_id: z.uuid(),
    duration_seconds: z.number(),
    pipeline_run_id: z.uuid().nullable(),
    fallback: z.object({ reason: z.string(), detail: z.string() }).meta({ id: 'Fallback' }).nullable(),
    error: z.object({ error_class: z.string(), message: z.string() }).meta({ id: 'UpdateError' }).nullable(),
  })
  .meta({ id: 'UpdateResult' });

/** Result of a forget; its fields depend on what was selected. */
export const forgetResult = z
  .object({
    status: z.literal('success'),
    dataset_id: z.uuid().optional(),
    data_id: z.uuid().optional(),
    datasets_removed: z.int().optional(),
    data_records_reset: z.int().optional(),
    removed: z
      .record(z.string(), z.int())
      .describe(
        'Records that were removed, by kind: `items`, `blobs` (files), `text`, `vectors`, `graph`, `learned` …',
      ),
    residue: z.int().describe('Records that were counted afterwards and are there still: 0'),
  })
  .meta({ id: 'ForgetResult' });

export const deleteResult = z.object({ status: z.literal('success') });
export const deletedSkill = z.object({ status: z.literal('deleted'), id: z.string(), dataset_id: z.uuid() });

const cost = z.number().nullable().describe('Null: the price is not known');
const sessionRow = z.object({
  session_id: z.string(),
  user_id: z.uuid(),
  dataset_id: z.uuid().nullable(),
  agent_id: z.string().nullable(),
  status: z.string(),
  started_at: z.string(),
  last_activity_at: z.string(),
  ended_at: z.string().nullable(),
  tokens_in: z.int(),
  tokens_out: z.int(),
  cost_usd: cost,
  embedding_tokens: z.int(),
  embedding_cost_usd: cost,
  error_count: z.int(),
  last_model: z.string().nullable(),
});
const listed = {
  effective_status: z.string(),
  label: z.string().nullable().optional().describe('With `labels`: the first question'),
};
const listedSession = sessionRow.extend(listed).meta({ id: 'SessionRow' });
const sessionWithAgent = sessionRow
  .extend({
    ...listed,
    agent_type: z.string(),
    agent_source: z.string().nullable(),
    agent_session_name: z.string().nullable(),
    origin_function: z.string().nullable(),
  })
  .meta({ id: 'SessionRowWithAgent' });

const page = { total: z.int(), limit: z.int(), offset: z.int(), has_more: z.boolean() };
export const sessionPage = z.object({ sessions: z.array(listedSession), ...page });
export const sessionWithAgentPage = z.object({ sessions: z.array(sessionWithAgent), ...page });
export const sessionDetail = sessionRow
  .extend({
    label: z.string().nullable(),
    msg_count: z.int(),
    tool_calls: z.int(),
    qas: z.array(qaRow),
    traces: z.array(traceRow),
  })
  .meta({ id: 'SessionDetail' });

export const sessionStatistics = z
  .object({
    range: z.string(),
    sessions: z.int(),
    total_spend_usd: cost,
    avg_spend_per_session_usd: cost,
    tokens_in: z.int(),
    tokens_out: z.int(),
    tokens_total: z.int(),
    agent_time_s: z.number(),
    avg_session_s: z.number(),
    success_rate: z.number().nullable(),
    completed: z.int(),
    failed: z.int(),
    abandoned: z.int(),
    running: z.int(),
  })
  .meta({ id: 'SessionStatistics' });

const spent = { session_count: z.int(), cost_usd: cost, tokens_in: z.int(), tokens_out: z.int() };
export const modelCosts = z.array(z.object({ model: z.string(), ...spent }).meta({ id: 'ModelCost' }));
export const agentCosts = z.array(
  z
    .object({
      user_id: z.uuid(),
      user_email: z.string().nullable(),
      agent_type: z.string(),
      ...spent,
      tokens_total: z.int(),
    })
    .meta({ id: 'AgentCost' }),
);

/** ingest.md §8.3. */
export const activeAccounts = z.array(
  z
    .object({
      id: z.uuid(),
      email: z.string(),
      agent_type: z.string(),
      agent_short_id: z.string(),
      is_agent: z.boolean(),
      is_default: z.boolean(),
      status: z.string(),
      api_key_count: z.int(),
      created_at: z.string(),
      last_active: z.string().nullable(),
    })
    .meta({ id: 'ActiveAccount' }),
);
export const accounts = z.array(
  z
    .object({ id: z.uuid(), email: z.string(), is_superuser: z.boolean(), created_at: z.string() })
    .meta({ id: 'Account' }),
);
