import { z } from 'zod';
import { scopeOf } from '../../common/kernel/dataset.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import { json, routesOf } from '../../common/platform/http/route.ts';
import { onDatasets } from '../../common/platform/http/route-permission.ts';
import { optional, uuid } from '../../common/platform/http/schema.ts';
import { createDatasetConfigurations } from '../../common/records/cognify/dataset-configurations.ts';
import type { IngestDependencies } from '../dependencies.ts';
import { datasetWith } from '../items/target-dataset.ts';

const graphSchema = z.record(z.string(), z.unknown());
const storedSchema = z
  .object({ graph_schema: graphSchema.nullable(), custom_prompt: z.string().nullable() })
  .meta({ id: 'DatasetSchemaResponseDTO' });
const schemaBody = z
  .object({
    graph_schema: optional(graphSchema).describe('JSON schema with a title; empty: the model of the server'),
    custom_prompt: optional(z.string()).describe('Empty: the prompt of the server'),
  })
  .meta({ id: 'DatasetSchemaPayloadDTO' });

const path = '/api/v1/datasets/:datasetId/schema';
const params = z.object({ datasetId: uuid() });

const { routes, get, put } = routesOf<IngestDependencies>({ tag: 'datasets' });

/** Graph schema and prompt of a dataset, which its runs use where their request has none (ingest.md §5.9). */
export const datasetSchemaRoutes = routes(
  get(path, 'getDatasetSchema', {
    summary: 'The stored graph schema and prompt of a dataset',
    permission: onDatasets('read'),
    params,
    responses: {
      200: { description: 'Null where nothing is stored', schema: storedSchema },
      403: { description: 'The dataset is unknown or not readable' },
    },
    async handle({ principal, params, context }, { messenger, store }) {
      const dataset = await datasetWith({ messenger }, { principal, context }, params.datasetId, 'read');
      const stored = await createDatasetConfigurations(store).get(scopeOf(dataset));
      return json({ graph_schema: stored?.graphModel ?? null, custom_prompt: stored?.prompt ?? null });
    },
  }),
  put(path, 'storeDatasetSchema', {
    idempotent: true,
    summary: 'Store the graph schema and the prompt that later runs use; null and absent leave a value as it is',
    permission: onDatasets('write'),
    params,
    body: { kind: 'json', schema: schemaBody },
    responses: {
      200: { description: 'Stored', schema: z.object({ status: z.literal('ok') }) },
      400: { description: 'The schema has no title' },
      403: { description: 'The dataset is unknown or not writable' },
      409: { description: 'A resource manages the dataset' },
    },
    async handle({ principal, params, body, context }, { messenger }) {
      const dataset = await datasetWith({ messenger }, { principal, context }, params.datasetId, 'write');
      const { graph_schema: graphModel, custom_prompt: prompt } = body;
      const request = { dataset, graphModel: graphModel as JsonObject | undefined, prompt };
      await messenger.call('cognify.StoreDatasetSchema', request, { ...context, principal });
      return json({ status: 'ok' });
    },
  }),
);
