import { extname } from 'node:path';
import { z } from 'zod';
import { json, routesOf } from '../../common/platform/http/route.ts';
import { onDatasets } from '../../common/platform/http/route-permission.ts';
import { lenientBoolean, listUpTo, uuid } from '../../common/platform/http/schema.ts';
import { missingField, RequestValidationError } from '../../common/platform/http/validation-error.ts';
import type { SyncDependencies } from '../dependencies.ts';
import { compareFiles, pruneOffered, receiveFile, sendOffered } from '../sync/receive-sync.ts';

/** Files of one dataset that can be compared. */
const MAX_FILES = 900_000;

const md5 = z
  .string()
  .regex(/^[0-9a-f]{32}$/)
  .meta({ examples: ['5d41402abc4b2a76b9719d911017c592'] });
const hashList = listUpTo(MAX_FILES, z.array(md5));

const comparisonBody = z
  .object({ dataset_id: uuid(), dataset_name: z.string(), hashes: hashList.describe('MD5 of the files of the sender') })
  .meta({ id: 'SyncComparisonRequest' });
const comparisonAnswer = z
  .object({ missing_on_remote: z.array(z.string()), missing_on_local: z.array(z.string()) })
  .meta({ id: 'SyncComparison' });

const uploadForm = z
  .object({
    dataset_id: uuid(),
    dataset_name: z.string(),
    data_id: uuid(),
    md5,
    mime_type: z.string().optional(),
    extension: z.string().optional().describe('For a file whose name has none'),
  })
  .meta({ id: 'SyncUpload' });

const pruneBody = z
  .object({ items: hashList.describe('MD5 of the files that the sender keeps') })
  .meta({ id: 'SyncPruneRequest' });

const datasetParams = z.object({ datasetId: uuid() });

const { routes, get, post, put } = routesOf<SyncDependencies>({ tag: 'sync' });

/** The receiving side of sync (auth-integrations.md §5.3): another memory pushes a dataset here, under the id that it has there. */
export const receiveSyncRoutes = routes(
  post('/api/sync/:datasetId/diff', 'compareSync', {
    params: datasetParams,
    idempotent: true,
    summary: 'Which files of a dataset another memory has and this one lacks, and the reverse',
    permission: onDatasets('write', 'and read, on the dataset; a new name is created'),
    body: { kind: 'json', schema: comparisonBody, carriesDocument: true, maxValues: MAX_FILES + 100 },
    responses: {
      200: { description: 'By MD5; the remote is this service, local the sender', schema: comparisonAnswer },
      403: { description: 'The dataset is not writable or not readable' },
    },
    async handle({ params, body, context, principal }, dependencies) {
      requireSame('dataset_id', body.dataset_id, params.datasetId);
      const asked = { remoteId: params.datasetId, name: body.dataset_name, hashes: body.hashes };
      const { missingOnRemote, missingOnLocal } = await compareFiles(dependencies, asked, { ...context, principal });
      return json({ missing_on_remote: missingOnRemote, missing_on_local: missingOnLocal });
    },
  }),
  get('/api/sync/:datasetId/data/:file', 'downloadSynced', {
    summary: 'A file that the last comparison named as missing at the sender, by its MD5',
    permission: onDatasets('read'),
    params: datasetParams.extend({ file: md5 }),
    responses: {
      200: {
        description: 'The bytes; its name is in `X-File-Name`, as UTF-8',
        schema: z.string().meta({ format: 'binary' }),
        mediaType: 'application/octet-stream',
      },
      404: { description: 'The comparison named no such file, or it is gone' },
    },
    async handle({ params, context, principal }, dependencies) {
      const asked = { remoteId: params.datasetId, md5: params.file };
      const { fileName, content } = await sendOffered(dependencies, asked, { ...context, principal });
      return {
        stream: content,
        headers: {
          // Never the type that the file claims: nothing of it may run in a browser.
          'content-type': 'application/octet-stream',
          'x-file-name': Buffer.from(fileName.replaceAll(/\p{Cc}/gu, ' ')).toString('latin1'),
          'x-content-type-options': 'nosniff',
        },
      };
    },
  }),
  put('/api/sync/:datasetId/data/:file', 'uploadSynced', {
    summary: 'Take in a file of another memory, under the id of its item there',
    permission: onDatasets('write', 'on the dataset; a new name is created'),
    params: datasetParams.extend({ file: uuid() }),
    body: { kind: 'form', schema: uploadForm, files: ['file'] },
    responses: {
      200: {
        description: 'The item here; the same one when its bytes were there',
        schema: z.object({ data_id: z.uuid() }),
      },
      403: { description: 'The dataset is not writable' },
      413: { description: 'The file is too large' },
      415: { description: 'The file cannot be read' },
    },
    async handle({ params, body, files, context, principal, signal }, dependencies) {
      requireSame('dataset_id', body.dataset_id, params.datasetId);
      requireSame('data_id', body.data_id, params.file);
      const [file] = files;
      if (file === undefined || files.length > 1) throw missingField('file', body);
      requireSame('md5', body.md5, file.md5);
      const { mime_type: mimeType = file.mimeType, extension = '' } = body;
      const hasExtension = extension === '' || extname(file.fileName) !== '';
      const fileName = hasExtension ? file.fileName : `${file.fileName}.${extension.replace(/^\./, '')}`;
      const sent = { remoteId: params.datasetId, name: body.dataset_name, file: { ...file, fileName, mimeType } };
      return json({ data_id: await receiveFile(dependencies, sent, { ...context, principal, signal }) });
    },
  }),
  put('/api/sync/:datasetId', 'pruneSynced', {
    params: datasetParams,
    summary: 'Delete the files that the last comparison named as missing at the sender, and that it does not keep',
    permission: onDatasets('delete'),
    query: z.object({ prune: lenientBoolean().default(false).describe('Without it nothing is deleted') }),
    body: { kind: 'json', schema: pruneBody, carriesDocument: true, maxValues: MAX_FILES + 100 },
    responses: {
      200: {
        description: 'What was deleted',
        schema: z.object({ deleted_database_entries: z.int(), deleted_files_from_storage: z.int() }),
      },
      403: { description: 'The dataset is unknown, or nothing may be deleted there' },
    },
    async handle({ params, query, body, context, principal }, dependencies) {
      const asked = { remoteId: params.datasetId, kept: body.items };
      const deleted = query.prune ? await pruneOffered(dependencies, asked, { ...context, principal }) : 0;
      return json({ deleted_database_entries: deleted, deleted_files_from_storage: deleted });
    },
  }),
);

/** The sender names a thing twice, in the path or by its bytes, and in the body. */
function requireSame(field: string, said: string, found: string): void {
  if (said === found) return;
  const msg = `Value error, it is ${found} by the request itself`;
  const item = { type: 'value_error', loc: ['body', field], msg, input: said, ctx: { error: {} } };
  throw new RequestValidationError([item], null);
}
