import { z } from 'zod';
import type { DataItem } from '../../common/domain/data-item.ts';
import type { RunState } from '../../common/domain/run.ts';
import type { DataItemId, DatasetId } from '../../common/kernel/brand.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { dataItemId } from '../../common/kernel/ids.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { pagesOf } from '../../common/kernel/result-page.ts';
import { fileAnswer, nothing, textAnswer } from '../../common/platform/http/answer-schemas.ts';
import { json, routesOf } from '../../common/platform/http/route.ts';
import { NO_PERMISSION, onDatasets } from '../../common/platform/http/route-permission.ts';
import { lenientBoolean, lenientInteger, optional, uuid, uuidList } from '../../common/platform/http/schema.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import { failedBuild } from '../../common/records/cognify/ledger.ts';
import type { IngestDependencies } from '../dependencies.ts';
import {
  deleteDatasetDurably as forgetDataset,
  deleteItemsDurably as forgetItems,
} from '../forgetting/durable-deletion.ts';
import { listItems, readItemOriginal, readItemText } from '../items/read-items.ts';
import { datasetWith, permittedDatasets, seenDataset } from '../items/target-dataset.ts';
import { contentDisposition, displayName, presentDataItem, presentDataset } from '../presenters/data-item.ts';
import { dataCount, dataRecord, datasetRecord } from './answers.schema.ts';

const datasetParams = z.object({ datasetId: uuid() });
const itemParams = z.object({ datasetId: uuid(), dataId: uuid() });
const pageQuery = z.object({
  limit: lenientInteger({ min: 1, max: 1000 }).default(1000),
  offset: lenientInteger({ min: 0, max: 1_000_000 }).default(0),
});
const retryAnswer = z.object({
  dataset_id: z.uuid(),
  data_ids: z.array(z.uuid()),
  pipeline_run_id: z.uuid().nullable(),
});
const ok = { 200: { description: 'Done', schema: nothing } };

const { routes, get, post, remove } = routesOf<IngestDependencies>({ tag: 'datasets' });

export const datasetRoutes = routes(
  get('/api/v1/datasets', 'listDatasets', {
    summary: 'Datasets the caller may read',
    permission: onDatasets('read', 'per dataset'),
    responses: { 200: { description: 'Dataset records', schema: z.array(datasetRecord) } },
    async handle({ principal, context }, { messenger }) {
      return json(
        (await permittedDatasets(messenger, principal, 'read', { ...context, partly: true })).map(presentDataset),
      );
    },
  }),
  post('/api/v1/datasets', 'createDataset', {
    idempotent: true,
    summary: 'Make a dataset, or get the one of that name',
    permission: NO_PERMISSION,
    body: { kind: 'json', schema: z.object({ name: z.string() }).meta({ id: 'DatasetCreationPayload' }) },
    responses: { 200: { description: 'Dataset record', schema: datasetRecord } },
    async handle({ principal, body, context }, { messenger }) {
      return json(
        presentDataset(
          (await messenger.call('auth.CreateDataset', { name: body.name }, { ...context, principal })).dataset,
        ),
      );
    },
  }),
  remove('/api/v1/datasets', 'deleteAllDatasets', {
    summary: 'Delete every dataset the caller may delete',
    permission: onDatasets('delete', 'per dataset'),
    responses: ok,
    async handle({ principal, context }, dependencies) {
      for (const dataset of await permittedDatasets(dependencies.messenger, principal, 'delete', context)) {
        await forgetDataset(dependencies, dataset, context);
      }
      return json(null);
    },
  }),
  remove('/api/v1/datasets/:datasetId', 'deleteDataset', {
    summary: 'Delete a dataset with everything in it',
    permission: onDatasets('delete'),
    params: datasetParams,
    responses: ok,
    async handle({ principal, params, context }, dependencies) {
      const dataset = await datasetWith(dependencies, { principal, context }, params.datasetId, 'delete');
      await forgetDataset(dependencies, dataset, context);
      return json(null);
    },
  }),
  get('/api/v1/datasets/:datasetId/data', 'listData', {
    summary: 'Items of a dataset, newest first, one page',
    permission: onDatasets('read'),
    params: datasetParams,
    query: pageQuery.extend({ excerpts: lenientBoolean().default(false) }),
    responses: { 200: { description: 'X-Total-Count holds the number of all', schema: z.array(dataRecord) } },
    async handle({ principal, params, query, context }, dependencies) {
      const dataset = await seenDataset(dependencies, principal, params.datasetId, context);
      const page = await listItems(dependencies.items, dataset, query);
      const ids = page.items.map(({ id }) => id);
      const entries = await dependencies.ledger.entries(scopeOf(dataset), ids);
      const records = page.items.map((item) => ({
        ...presentDataItem(item, dataset.id as DatasetId, failedBuild(entries.get(item.id), item)),
        ...(query.excerpts ? { displayName: displayName(item) } : {}),
        ...(query.excerpts && item.excerpt ? { excerpt: item.excerpt } : {}),
      }));
      return { json: records, headers: { 'x-total-count': String(page.total) } };
    },
  }),
  get('/api/v1/datasets/:datasetId/data/count', 'countData', {
    summary: 'Number of items of a dataset',
    permission: onDatasets('read'),
    params: datasetParams,
    responses: { 200: { description: 'The number', schema: dataCount } },
    async handle({ principal, params, context }, dependencies) {
      const dataset = await seenDataset(dependencies, principal, params.datasetId, context);
      return json({ count: (await listItems(dependencies.items, dataset, { offset: 0, limit: 1 })).total });
    },
  }),
  get('/api/v1/datasets/:datasetId/data/:dataId/raw', 'getDataText', {
    summary: 'The text of an item, named like the original file',
    permission: onDatasets('read'),
    params: itemParams,
    responses: {
      200: { description: 'The text', schema: textAnswer, mediaType: 'text/plain' },
      404: { description: 'No such item' },
    },
    async handle({ principal, params, context }, dependencies) {
      const dataset = await seenDataset(dependencies, principal, params.datasetId, context);
      const { item, text } = await readItemText(dependencies, dataset, dataItemId(params.dataId));
      return {
        text,
        headers: {
          'content-type': 'text/plain; charset=utf-8',
          'content-disposition': contentDisposition(item.fileName),
          'x-content-type-options': 'nosniff',
        },
      };
    },
  }),
  get('/api/v1/datasets/:datasetId/data/:dataId/original', 'getDataOriginal', {
    summary: 'The bytes of an item as they were added',
    permission: onDatasets('read'),
    params: itemParams,
    responses: {
      200: { description: 'The file, streamed', schema: fileAnswer, mediaType: 'application/octet-stream' },
      404: { description: 'No such item' },
    },
    async handle({ principal, params, context }, dependencies) {
      const dataset = await seenDataset(dependencies, principal, params.datasetId, context);
      const { item, content } = await readItemOriginal(dependencies, dataset, dataItemId(params.dataId));
      return {
        stream: content,
        headers: {
          // Never the type that the file claims: it comes from anybody, and nothing of it may run in a browser.
          'content-type': 'application/octet-stream',
          'content-disposition': contentDisposition(item.fileName),
          'x-content-type-options': 'nosniff',
        },
      };
    },
  }),
  post('/api/v1/datasets/:datasetId/data/retry', 'retryData', {
    idempotent: true,
    summary: 'Try items again that could not be built, also those that were set aside',
    permission: onDatasets('write'),
    params: datasetParams,
    body: { kind: 'json', schema: z.object({ data_ids: optional(uuidList()) }) },
    responses: {
      200: {
        description: 'The items, and the run that builds them; none when no item had failed',
        schema: retryAnswer,
      },
      403: { description: 'The dataset is unknown or not writable' },
      404: { description: 'An item is not in the dataset' },
    },
    async handle({ principal, params, body, context }, dependencies) {
      const whole = await datasetWith(dependencies, { principal, context }, params.datasetId, 'write');
      const dataset = await dependencies.sourceAccess.asSeen(whole);
      const ids = body.data_ids?.map(dataItemId) ?? null;
      const { retried, run } = await retryItems(dependencies, { dataset, ids, principal }, context);
      return json({ dataset_id: dataset.id, data_ids: retried, pipeline_run_id: run?.id ?? null });
    },
  }),
  remove('/api/v1/datasets/:datasetId/data/:dataId', 'deleteData', {
    summary: 'Delete an item and all that was built from it',
    permission: onDatasets('delete'),
    params: itemParams,
    responses: ok,
    async handle({ principal, params, context }, dependencies) {
      const dataset = await datasetWith(dependencies, { principal, context }, params.datasetId, 'delete');
      await forgetItems(dependencies, dataset, [dataItemId(params.dataId)], context);
      return json(null);
    },
  }),
);

const PAGE = 1000;

/**
 * Has items built again that could not be built, also those that were set aside: all of the dataset, or those named. Answers
 * the run that goes on in the background, or null when none of them had failed. `DataNotFoundError` for an unknown item.
 */
async function retryItems(
  { items, ledger, messenger, logger }: IngestDependencies,
  request: {
    readonly dataset: DatasetRef;
    readonly ids: readonly DataItemId[] | null;
    readonly principal: Principal;
  },
  context: CallContext,
): Promise<{ readonly retried: readonly DataItemId[]; readonly run: RunState | null }> {
  const { dataset, ids, principal } = request;
  const scope = scopeOf(dataset);
  const failed: DataItemId[] = [];
  const pages = ids === null ? pagesOf((after) => items.oldestFirst(scope, { after, limit: PAGE })) : [named(ids)];
  for await (const page of pages) {
    const entries = await ledger.entries(
      scope,
      page.map(({ id }) => id),
    );
    const isSeen = ({ id }: DataItem) => !scope.withheld?.has(id);
    const inVain = page.filter((item) => isSeen(item) && failedBuild(entries.get(item.id), item) !== null);
    failed.push(...inVain.map(({ id }) => id));
  }
  if (failed.length === 0) return { retried: [], run: null };
  await ledger.forgive(scope, failed);
  const { run } = await messenger.call(
    'cognify.StartRun',
    { dataset, options: {}, background: true },
    { ...context, principal },
  );
  logger.info('items.retried', { datasetId: dataset.id, items: failed.length, runId: run.id, userId: principal.id });
  return { retried: failed, run };

  async function named(wanted: readonly DataItemId[]) {
    const found = await items.getMany(scope, wanted);
    const known = new Set(found.map(({ id }) => id).filter((id) => !scope.withheld?.has(id)));
    const unknown = wanted.find((id) => !known.has(id));
    if (unknown === undefined) return found;
    throw engramError('DataNotFoundError', `Data (${unknown}) not found in dataset (${dataset.id}).`);
  }
}
