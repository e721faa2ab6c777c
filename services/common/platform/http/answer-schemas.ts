import { z } from 'zod';

/** Schemas of answers that several services give, under the names that clients of the contract know. */

/** The answer is `null`. */
export const nothing = z.null();

/** A text, a page or a file. */
export const textAnswer = z.string();
export const fileAnswer = z.string().meta({ format: 'binary' });

export const refusedInput = z
  .object({
    index: z.int().describe('Position among the inputs: uploads first, then strings'),
    name: z.string().nullable().describe('File name or address; null for a text'),
    error_class: z.string(),
    message: z.string(),
  })
  .meta({ id: 'RefusedInput' });

/** ingest.md §0.6. */
export const runInfo = z
  .object({
    status: z.string(),
    pipeline_run_id: z.uuid(),
    dataset_id: z.uuid(),
    dataset_name: z.string(),
    payload: z.unknown().describe('A blocking cognify: documents, chunks, entities, relationships, duration_ms'),
    data_ingestion_info: z
      .array(z.object({ run_info: z.unknown().describe('PipelineRunInfo of the item'), data_id: z.uuid().optional() }))
      .nullable(),
    error_class: z.string().nullish(),
    error_message: z.string().nullish(),
    warnings: z.array(z.string()).optional().describe('What had no effect, and why'),
    refused: z.array(refusedInput).optional().describe('Inputs that were not stored; absent when all were'),
  })
  .meta({
    id: 'PipelineRunInfo',
    examples: [
      {
        status: 'PipelineRunCompleted',
        pipeline_run_id: '0d9e2f6c-93a4-5a0e-9a0f-0a4b8a8a3c11',
        dataset_id: '5f88722c-101b-4e65-8dd9-b41b679c0235',
        dataset_name: 'notes',
        payload: null,
        data_ingestion_info: null,
      },
    ],
  });

/** A question and its answer as a session shows them (search-recall.md §4.5). */
export const qaRow = z
  .object({
    time: z.string(),
    question: z.string().nullable(),
    context: z.string().nullable(),
    answer: z.string().nullable(),
    qa_id: z.string(),
    feedback_text: z.string().nullable(),
    feedback_score: z.int().nullable(),
    used_graph_element_ids: z.record(z.string(), z.array(z.string())).nullable(),
    memify_metadata: z.unknown(),
    used_session_context_ids: z.unknown(),
  })
  .meta({ id: 'SessionQA' });

/** A step of an agent as a session shows it (ingest.md §8.1). */
export const traceRow = z
  .object({
    trace_id: z.string(),
    origin_function: z.string(),
    status: z.string(),
    memory_query: z.string().nullable(),
    memory_context: z.string().nullable(),
    method_params: z.unknown(),
    method_return_value: z.unknown(),
    error_message: z.string().nullable(),
    session_feedback: z.string().nullable(),
  })
  .meta({ id: 'SessionTrace' });
