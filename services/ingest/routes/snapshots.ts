import { z } from 'zod';
import { namedError } from '../../common/kernel/errors.ts';
import { fileAnswer, nothing } from '../../common/platform/http/answer-schemas.ts';
import { json, type Reply, routesOf } from '../../common/platform/http/route.ts';
import { NO_PERMISSION, onDatasets } from '../../common/platform/http/route-permission.ts';
import { uuid } from '../../common/platform/http/schema.ts';
import type { Messenger } from '../../common/platform/messaging/messenger.ts';
import { datasetWith, permittedDatasets, wholeDataset } from '../items/target-dataset.ts';
import type { WorkState } from '../model.ts';
import { contentDisposition } from '../presenters/data-item.ts';
import type { UserRestore } from '../repositories/restores.ts';
import type { SnapshotRecord } from '../repositories/snapshots.ts';
import type { DatasetSnapshots } from '../snapshots/dataset-snapshots.ts';
import type { UserRestores } from '../snapshots/user-restores.ts';

interface SnapshotRouteDependencies {
  readonly messenger: Messenger;
  readonly snapshots: DatasetSnapshots;
  readonly restores: UserRestores;
}

const failure = z.object({ name: z.string(), message: z.string() }).nullable();
const status = z.enum(['running', 'complete', 'failed']);
const snapshotAnswer = z
  .object({
    id: z.string(),
    dataset_id: z.string(),
    status,
    at: z.string(),
    items: z.int(),
    size_bytes: z.int(),
    sha256: z.string().nullable(),
    place: z.string(),
    taken_by: z.string().nullable(),
    done: z.int(),
    total: z.int(),
    failure,
  })
  .meta({ id: 'DatasetSnapshot' });
const listAnswer = z.object({ snapshots: z.array(snapshotAnswer) });
const restoreAnswer = z
  .object({
    id: z.string(),
    name: z.string(),
    status,
    dataset_id: z.string().nullable(),
    step: z.string(),
    done: z.int(),
    total: z.int(),
    failure,
  })
  .meta({ id: 'SnapshotRestore' });
const ofDataset = z.object({ datasetId: uuid() });
const ofSnapshot = z.object({ datasetId: uuid(), snapshotId: z.string() });
const WHOLE = onDatasets('share', 'and read on the dataset');
const refused = { 403: { description: 'The dataset is unknown, or the permission is missing' } };
const unknown = { 404: { description: 'EntityNotFoundError' } };

const restored = {
  200: { description: 'The new dataset is there', schema: restoreAnswer },
  202: { description: 'It is being made, and becomes visible when it is complete', schema: restoreAnswer },
  409: { description: 'The name is taken, or what is wrong with the snapshot' },
  413: { description: 'PayloadTooLargeError: the budget, or the file' },
  429: { description: 'Too many restores of the caller are under way' },
};

const { routes, get, post, remove } = routesOf<SnapshotRouteDependencies>({ tag: 'datasets' });

/** Ours: a dataset as it was at one moment, and datasets made from that. */
export const snapshotRoutes = routes(
  get('/api/v1/datasets/snapshots', 'listAllSnapshots', {
    summary: 'Snapshots of all datasets the caller may read, newest first',
    permission: onDatasets('read', 'per dataset'),
    responses: { 200: { description: 'Also those that are being taken', schema: listAnswer } },
    async handle({ principal, context }, { messenger, snapshots }) {
      const datasets = await permittedDatasets(messenger, principal, 'read', context);
      const found = (await Promise.all(datasets.map((dataset) => snapshots.list(dataset)))).flat();
      found.sort((one, other) => (one.at < other.at ? 1 : -1));
      return json({ snapshots: found.map(presentSnapshot) });
    },
  }),
  get('/api/v1/datasets/:datasetId/snapshots', 'listSnapshots', {
    summary: 'Snapshots of a dataset, newest first',
    permission: onDatasets('read'),
    params: ofDataset,
    responses: { 200: { description: 'Also those that are being taken', schema: listAnswer }, ...refused },
    async handle({ principal, params, context }, { messenger, snapshots }) {
      const dataset = await datasetWith({ messenger }, { principal, context }, params.datasetId, 'read');
      return json({ snapshots: (await snapshots.list(dataset)).map(presentSnapshot) });
    },
  }),
  get('/api/v1/datasets/:datasetId/snapshots/:snapshotId', 'getSnapshot', {
    summary: 'A snapshot, and how far it is',
    permission: onDatasets('read'),
    params: ofSnapshot,
    responses: { 200: { description: 'Record', schema: snapshotAnswer }, ...refused, ...unknown },
    async handle({ principal, params, context }, { messenger, snapshots }) {
      const dataset = await datasetWith({ messenger }, { principal, context }, params.datasetId, 'read');
      return json(presentSnapshot(await snapshots.get(dataset, params.snapshotId)));
    },
  }),
  post('/api/v1/datasets/:datasetId/snapshots', 'takeSnapshot', {
    summary: 'Take a snapshot: everything of a dataset as it is at one moment, also what is forgotten later',
    permission: WHOLE,
    params: ofDataset,
    body: { kind: 'json', schema: z.object({ name: z.string().nullish() }), required: false },
    responses: {
      200: { description: 'It is complete', schema: snapshotAnswer },
      202: { description: 'It is being taken, and will be', schema: snapshotAnswer },
      409: { description: 'There are too many, or it could not be taken' },
      ...refused,
    },
    async handle({ principal, params, body, context }, { messenger, snapshots }) {
      const dataset = await wholeDataset(messenger, principal, params.datasetId, context);
      const record = await snapshots.take({ principal, dataset, name: body?.name ?? null }, context);
      return progressReply(record, presentSnapshot(record));
    },
  }),
  get('/api/v1/datasets/:datasetId/snapshots/:snapshotId/file', 'downloadSnapshot', {
    summary: 'A snapshot as one file, signed by this installation',
    permission: WHOLE,
    params: ofSnapshot,
    mediaType: 'application/octet-stream',
    responses: {
      200: { description: 'The file, streamed', schema: fileAnswer },
      409: { description: 'It is not complete, lies elsewhere, or is damaged' },
      ...refused,
      ...unknown,
    },
    async handle({ principal, params, context }, { messenger, snapshots }) {
      const dataset = await wholeDataset(messenger, principal, params.datasetId, context);
      const record = await snapshots.get(dataset, params.snapshotId);
      const { sizeBytes, content } = await snapshots.file(principal, record, context);
      return {
        stream: content(),
        headers: {
          'content-type': 'application/octet-stream',
          'content-length': String(sizeBytes),
          'content-disposition': contentDisposition(`${dataset.name}-${record.at.slice(0, 10)}.engram`),
        },
      };
    },
  }),
  remove('/api/v1/datasets/:datasetId/snapshots/:snapshotId', 'deleteSnapshot', {
    summary: 'Delete a snapshot',
    permission: onDatasets('delete'),
    params: ofSnapshot,
    responses: {
      200: { description: 'Done', schema: nothing },
      409: { description: 'It belongs to the resource that manages the dataset' },
      ...refused,
      ...unknown,
    },
    async handle({ principal, params, context }, { messenger, snapshots }) {
      const dataset = await datasetWith({ messenger }, { principal, context }, params.datasetId, 'delete');
      await snapshots.remove(principal, await snapshots.get(dataset, params.snapshotId));
      return json(null);
    },
  }),
  post('/api/v1/datasets/:datasetId/snapshots/:snapshotId/restore', 'restoreSnapshot', {
    summary: 'Make a new dataset of the caller from a snapshot',
    permission: WHOLE,
    params: ofSnapshot,
    body: { kind: 'json', schema: z.object({ name: z.string() }) },
    responses: { ...restored, ...refused, ...unknown },
    async handle({ principal, params, body: { name }, context }, { messenger, snapshots, restores }) {
      const dataset = await wholeDataset(messenger, principal, params.datasetId, context);
      const record = await snapshots.get(dataset, params.snapshotId);
      const restore = await restores.fromSnapshot({ principal, name }, record, context);
      return progressReply(restore, presentRestore(restore));
    },
  }),
  post('/api/v1/datasets/restores', 'restoreSnapshotFile', {
    summary: 'Make a new dataset of the caller from the file of a snapshot that this installation signed',
    permission: NO_PERMISSION,
    body: { kind: 'form', schema: z.object({ name: z.string() }), files: ['snapshot'] },
    responses: { ...restored, 400: { description: 'There is no file' } },
    async handle({ principal, body: { name }, files, context }, { restores }) {
      const [file, ...more] = files.filter(({ field }) => field === 'snapshot');
      if (file === undefined || more.length > 0)
        throw namedError('InvalidRequestError', "Send one file, in the field 'snapshot'.");
      const restore = await restores.fromFile({ principal, name }, file, context);
      return progressReply(restore, presentRestore(restore));
    },
  }),
  get('/api/v1/datasets/restores/:restoreId', 'getRestore', {
    summary: 'How far a restore of the caller is',
    permission: NO_PERMISSION,
    params: z.object({ restoreId: uuid() }),
    responses: { 200: { description: 'Record', schema: restoreAnswer }, ...unknown },
    handle: async ({ principal, params }, { restores }) =>
      json(presentRestore(await restores.get(principal, params.restoreId))),
  }),
);

/** A failure during a waiting request is the answer's error. */
function progressReply({ isComplete, failure: failed }: WorkState, body: unknown): Reply {
  if (failed !== null) throw namedError(failed.name, failed.message);
  return json(body, isComplete ? 200 : 202);
}

function presentSnapshot(record: SnapshotRecord) {
  const { name, datasetId, at, items, sizeBytes, sha256, place, takenBy, done, total, failure } = record;
  const isComplete = record.isComplete;
  return {
    id: name,
    dataset_id: datasetId,
    status: statusOf(record),
    at,
    items,
    size_bytes: sizeBytes,
    sha256: isComplete ? sha256 : null,
    place,
    taken_by: takenBy ?? null,
    done,
    total,
    failure: failure ?? null,
  };
}

function presentRestore(restore: UserRestore) {
  const { id, name, datasetId, step, done, total, failure, isComplete } = restore;
  return {
    id,
    name,
    status: statusOf(restore),
    dataset_id: isComplete ? datasetId : null,
    step,
    done,
    total,
    failure: failure ?? null,
  };
}

function statusOf({ isComplete, failure }: Pick<SnapshotRecord, 'isComplete' | 'failure'>) {
  if (isComplete) return 'complete';
  return failure === null ? 'running' : 'failed';
}
