import { z } from 'zod';
import { dataItemId } from '../../common/kernel/ids.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import { json, routesOf } from '../../common/platform/http/route.ts';
import { onDatasets } from '../../common/platform/http/route-permission.ts';
import { lenientBoolean, optionalOrBlank, uuid } from '../../common/platform/http/schema.ts';
import type { IngestDependencies } from '../dependencies.ts';
import {
  deleteDatasetDurably as forgetDataset,
  deleteItemsDurably as forgetItems,
  deleteMemoryDurably as forgetMemory,
} from '../forgetting/durable-deletion.ts';
import { forgetOwnSessions } from '../forgetting/forget.ts';
import { findItemDataset, permittedDatasets, targetDataset } from '../items/target-dataset.ts';
import { countForgotten } from '../model.ts';
import { deleteResult, forgetResult } from './answers.schema.ts';

/** Fields that would widen or narrow what is deleted: a misspelt one must never be passed over. */
const NAMES_DATA = /(dataset|data|item|document|tenant|owner|user|memory|everything|all)/i;
const KNOWN = ['dataset', 'datasetId', 'dataset_id', 'dataId', 'data_id', 'everything', 'memoryOnly', 'memory_only'];

const forgetSchema = z
  .looseObject({
    dataset: z.string().nullish(),
    datasetId: uuid().nullish(),
    dataId: uuid().nullish(),
    everything: lenientBoolean().default(false),
    memoryOnly: lenientBoolean().default(false),
  })
  .superRefine((body, context) => {
    for (const key of Object.keys(body)) {
      if (!KNOWN.includes(key) && NAMES_DATA.test(key)) {
        context.addIssue({
          code: 'custom',
          path: [key],
          message: 'unknown field; nothing was deleted',
          params: { type: 'extra_forbidden' },
        });
      }
    }
  })
  .meta({ id: 'ForgetPayloadDTO', examples: [{ dataset: 'notes' }] });

const INVALID = {
  error: 'Invalid request parameters. Specify dataset or dataset_id, data_id+dataset, or everything=True.',
};

const deleteQuery = z.object({
  data_id: uuid(),
  dataset_id: optionalOrBlank(uuid()),
  mode: z.string().default('soft'),
  delete_dataset_if_empty: lenientBoolean().default(false),
});

const { routes, post, remove } = routesOf<IngestDependencies>({ tag: 'forget' });

export const forgetRoutes = routes(
  post('/api/v1/forget', 'forget', {
    idempotent: true,
    summary:
      'Forget an item, a dataset or everything, and count what is left; snapshots of a dataset that stays keep it',
    permission: onDatasets('delete', 'on each dataset'),
    body: { kind: 'json', schema: forgetSchema },
    responses: {
      200: { description: 'What was forgotten', schema: forgetResult },
      422: { description: 'Nothing, or too much, was selected' },
    },
    async handle({ principal, body, context }, dependencies) {
      const { dataset: name, datasetId, dataId, everything, memoryOnly } = body;
      const counts = countForgotten();
      const named = typeof name === 'string' || Boolean(datasetId);
      if (typeof name === 'string' && datasetId) throw new HttpError(422, INVALID);
      if (everything) {
        if (named || dataId || memoryOnly) throw new HttpError(422, INVALID);
        const datasets = await permittedDatasets(dependencies.messenger, principal, 'delete', context);
        for (const dataset of datasets) await forgetDataset(dependencies, dataset, context, counts);
        await forgetOwnSessions(dependencies, principal);
        return json({ datasets_removed: datasets.length, status: 'success', ...counts.total() });
      }
      if (!named) throw new HttpError(422, INVALID);
      const target = { permission: 'delete', namesAmongPermitted: true, context } as const;
      const dataset = await targetDataset(
        dependencies.messenger,
        principal,
        { id: datasetId ?? null, name: name ?? null },
        target,
      );
      const items = dataId ? [dataItemId(dataId)] : null;
      if (memoryOnly) {
        const reset = await forgetMemory(dependencies, dataset, items, context, counts);
        const what = items === null ? { data_records_reset: reset } : { data_id: dataId };
        return json({ dataset_id: dataset.id, ...what, status: 'success', ...counts.total() });
      }
      if (items === null) {
        await forgetDataset(dependencies, dataset, context, counts);
        return json({ dataset_id: dataset.id, status: 'success', ...counts.total() });
      }
      await forgetItems(dependencies, dataset, items, context, counts);
      return json({ data_id: dataId, dataset_id: dataset.id, status: 'success', ...counts.total() });
    },
  }),
  remove('/api/v1/delete', 'deleteItem', {
    tag: 'delete',
    summary: 'Delete an item (use the datasets routes)',
    deprecated: true,
    permission: onDatasets('delete'),
    query: deleteQuery,
    responses: {
      200: { description: 'Deleted', schema: deleteResult },
      404: { description: 'No such item' },
      409: { description: 'The id is in several datasets' },
    },
    async handle({ principal, query, context }, dependencies) {
      const id = dataItemId(query.data_id);
      const dataset =
        query.dataset_id === undefined
          ? await findItemDataset(dependencies, principal, id, { permission: 'delete', context })
          : await targetDataset(
              dependencies.messenger,
              principal,
              { id: query.dataset_id },
              { permission: 'delete', context },
            );
      await forgetItems(dependencies, dataset, [id], context);
      if (
        query.delete_dataset_if_empty &&
        (await dependencies.items.count({ tenant: dataset.tenant, dataset: dataset.id })) === 0
      ) {
        await forgetDataset(dependencies, dataset, context);
      }
      return json({ status: 'success' });
    },
  }),
);
