import { z } from 'zod';
import { runInfo } from '../../common/platform/http/answer-schemas.ts';
import { lenientBoolean, lenientInteger, optional, stringList, uuidList } from '../../common/platform/http/schema.ts';

export const cognifyBody = z
  .object({
    datasets: optional(stringList()),
    dataset_ids: optional(uuidList()),
    run_in_background: optional(lenientBoolean()),
    graph_model: optional(z.record(z.string(), z.unknown())),
    custom_prompt: optional(z.string()),
    chunk_size: optional(lenientInteger()),
    ontology_key: optional(stringList()),
    chunks_per_batch: optional(lenientInteger({ min: 1 })),
    data_per_batch: optional(lenientInteger({ min: 1 })),
  })
  .meta({ id: 'CognifyPayloadDTO' });

export type CognifyBody = z.output<typeof cognifyBody>;

export const cognifyAnswer = z.record(z.string(), runInfo).describe('By dataset id');
