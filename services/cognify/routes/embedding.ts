import { z } from 'zod';
import { defineRoute, json, type Route } from '../../common/platform/http/route.ts';
import { onDatasets } from '../../common/platform/http/route-permission.ts';
import { uuid } from '../../common/platform/http/schema.ts';
import type { EmbeddingState } from '../../common/platform/messaging/messages.ts';
import type { CognifyDependencies } from '../dependencies.ts';
import { chooseEmbedding } from '../migration/choose-embedding.ts';
import type { MigrationQueue } from '../migration/migration-jobs.ts';
import { datasetWith } from '../runs/permitted-datasets.ts';

const space = z.object({ model: z.string(), dimensions: z.int() });
const answer = z.object({
  embedding: space.nullable(),
  migration: z
    .object({
      from: space,
      to: space,
      done: z.int(),
      total: z.int(),
      started_at: z.string(),
      phase: z.enum(['copying', 'settling']),
    })
    .nullable(),
  failure: z.object({ name: z.string(), message: z.string() }).nullable(),
});

/** Route that sets the embedding model of a dataset; an extension of the contract. */
export function embeddingRoutes(dependencies: CognifyDependencies & MigrationQueue): readonly Route[] {
  const { messenger } = dependencies;
  return [
    defineRoute({
      method: 'PUT',
      path: '/api/v1/datasets/embedding/:datasetId',
      tag: 'datasets',
      operationId: 'reembedDataset',
      summary: 'Move the vectors of a dataset to another embedding model that is configured',
      auth: 'user',
      permission: onDatasets('write'),
      params: z.object({ datasetId: uuid() }),
      body: { kind: 'json', schema: z.object({ model: z.string().nullish() }), required: false },
      responses: {
        200: { description: 'The vectors are of that model', schema: answer },
        202: {
          description:
            'The migration is in progress: repeat the request until it answers 200. Search uses the former vectors meanwhile',
          schema: answer,
        },
        403: { description: 'The dataset is unknown or not writable' },
        409: { description: 'A resource manages the dataset' },
        422: { description: 'The model is not configured' },
      },
      async handle({ principal, params, body, context, signal }) {
        const dataset = await datasetWith(messenger, { principal, permission: 'write' }, params.datasetId, context);
        const request = { dataset, model: body?.model ?? null, by: principal.id };
        const state = await chooseEmbedding(dependencies, request, signal);
        return json(presentEmbedding(state), state.migration === null ? 200 : 202);
      },
    }),
  ];
}

function presentEmbedding({ embedding, migration, failure }: EmbeddingState) {
  if (migration === null) return { embedding, migration, failure };
  const { startedAt, ...rest } = migration;
  return { embedding, migration: { ...rest, started_at: startedAt }, failure };
}
