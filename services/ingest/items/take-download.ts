import { Readable } from 'node:stream';
import { scopeOf } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { type AnswerOf, DOWNLOADS_PREFIX, type RequestOf } from '../../common/platform/messaging/messages.ts';
import { type CallContext, callerOf } from '../../common/platform/messaging/messenger.ts';
import type { IngestDependencies, ItemDependencies } from '../dependencies.ts';
import { addData } from './add-data.ts';
import { trackedRun } from './tracked-run.ts';

/**
 * A file that integrations put beside the blobs of the dataset, as an upload of the principal. Errors: those of `addData`;
 * `DataNotFoundError` when the file is gone, `InvalidRequestError` for a key that is none of a download.
 */
export async function takeDownload(
  dependencies: IngestDependencies,
  request: RequestOf<'ingest.TakeDownload'>,
  context: CallContext,
): Promise<AnswerOf<'ingest.TakeDownload'>> {
  const { blobs, messenger, ids } = dependencies;
  const { dataset, blobKey, fileName, mimeType, sizeBytes, md5, sha256 } = request;
  const scope = scopeOf(dataset);
  if (!blobKey.startsWith(DOWNLOADS_PREFIX)) throw engramError('InvalidRequestError', 'the blob is no download');
  if ((await blobs.stat(scope, blobKey)) === null) throw engramError('DataNotFoundError', 'the download is gone');
  const open = (): Readable => Readable.from(contentOf(dependencies, request), { objectMode: false });
  const principal = callerOf(context);
  const run = { id: ids.uuid(), pipeline: 'add_pipeline', principal, dataset, context };
  return trackedRun(messenger, run, async () => {
    const file = { field: 'data', fileName, mimeType: mimeType ?? '', sizeBytes, md5, sha256, open };
    const {
      added: [added],
    } = await addData(dependencies, {
      ...{ principal, dataset, context },
      inputs: [{ kind: 'upload', file, isCopy: true }],
      annotations: { labels: [], nodeSets: [], externalMetadata: [] },
      signal: context.signal ?? new AbortController().signal,
    });
    if (added === undefined) throw new Error('one input gives one item');
    const { id } = added.item;
    return { result: { itemId: id }, items: [id] };
  });
}

async function* contentOf(
  { blobs }: ItemDependencies,
  { dataset, blobKey }: RequestOf<'ingest.TakeDownload'>,
): AsyncGenerator<Buffer> {
  const content = await blobs.get(scopeOf(dataset), blobKey);
  if (content === null) throw engramError('DataNotFoundError', 'the download is gone');
  yield* content as AsyncIterable<Buffer>;
}
