import { z } from 'zod';
import { lenientBoolean, lenientInteger, optional, stringList, uuidList } from '../../common/http/schema.ts';

export const cognifyBody = z.object({
  datasets: optional(stringList()),
  dataset_ids: optional(uuidList()),
  run_in_background: optional(lenientBoolean()),
  graph_model: optional(z.record(z.string(), z.unknown())),
  custom_prompt: optional(z.string()),
  chunk_size: optional(lenientInteger()),
  ontology_key: optional(stringList()),
  chunks_per_batch: optional(lenientInteger({ min: 1 })),
  data_per_batch: optional(lenientInteger({ min: 1 })),
});

export type CognifyBody = z.output<typeof cognifyBody>;

const runInfo = z.object({
  status: z.string(),
  pipeline_run_id: z.uuid(),
  dataset_id: z.uuid(),
  dataset_name: z.string(),
  payload: z.unknown().describe('Blocking: documents, chunks, entities, relationships, duration_ms'),
  data_ingestion_info: z.array(z.object({ run_info: z.unknown(), data_id: z.uuid() })).nullable(),
});

export const cognifyAnswer = z.record(z.string(), runInfo).describe('By dataset id');
