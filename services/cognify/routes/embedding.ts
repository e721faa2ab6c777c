import { z } from 'zod';
import type { UserId } from '../../common/kernel/brand.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { defineRoute, json, type Route } from '../../common/platform/http/route.ts';
import { onDatasets } from '../../common/platform/http/route-permission.ts';
import { uuid } from '../../common/platform/http/schema.ts';
import type { EmbeddingState } from '../../common/platform/messaging/messages.ts';
import type { EmbeddingChoice } from '../../common/ports/embedders.ts';
import { ownedByAnother } from '../../common/records/auth/require-managed.ts';
import type { CognifyDependencies } from '../dependencies.ts';
import { followRequest, isSameChoice } from '../migration/migrate-embedding.ts';
import { type MigrationQueue, queueMigration } from '../migration/migration-jobs.ts';
import type { MigrationDependencies } from '../migration/migration-step.ts';
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

type Dependencies = MigrationDependencies & MigrationQueue & Pick<CognifyDependencies, 'managedResources' | 'audit'>;

/** Needs no account, so it is always available. */
const BUILTIN: EmbeddingChoice = { model: 'builtin/hashing-v1', dimensions: 384 };

/**
 * Requests one of the configured embedding models for a dataset, null: the one of new datasets. Works on the migration for a few
 * seconds, then it continues as a job; search uses the former vectors meanwhile. Errors: `OwnedByAnother` when a resource sets
 * the model, `EmbeddingException` for a model that is not configured.
 */
async function chooseEmbedding(
  deps: Dependencies,
  { dataset, model, by }: { readonly dataset: DatasetRef; readonly model: string | null; readonly by: UserId },
  signal: AbortSignal,
): Promise<EmbeddingState> {
  const { tenant, id } = dataset;
  const scope = scopeOf(dataset);
  if ((await deps.managedResources.of({ tenant, dataset: id })) !== null)
    throw ownedByAnother({ tenant, dataset: id }, 'is managed by a resource, which says its embedding model');
  const chosen = await choiceOf(deps, dataset, model);
  const isNew = !isSameChoice((await deps.vectorVersions.state(scope)).wish, chosen);
  await deps.vectorVersions.update(scope, ({ wish }) => (isSameChoice(wish, chosen) ? null : { wish: chosen }));
  if (isNew) {
    const details = { model: chosen?.model ?? 'configured' };
    await deps.audit.record({ tenant, action: 'dataset.reembedded', actor: by, subject: id, details });
  }
  const state = await followRequest(deps, scope, { signal });
  if (state.migration !== null) await queueMigration(deps, scope);
  return state;
}

async function choiceOf(
  { embedders }: Dependencies,
  { tenant }: DatasetRef,
  model: string | null,
): Promise<EmbeddingChoice | null> {
  const { space } = await embedders.wanted(tenant, null);
  if (model === null || [space.model, withoutProvider(space.model)].includes(model)) return null;
  if ([BUILTIN.model, withoutProvider(BUILTIN.model)].includes(model)) return BUILTIN;
  throw engramError(
    'EmbeddingException',
    `No embedding model ${JSON.stringify(model)} is configured; there are ${space.model} and ${BUILTIN.model}.`,
  );
}

function withoutProvider(model: string): string {
  return model.slice(model.indexOf('/') + 1);
}
