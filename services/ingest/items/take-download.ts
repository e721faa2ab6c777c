import { Readable } from 'node:stream';
import type { DataItem } from '../../common/domain/data-item.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { dataItemId } from '../../common/kernel/ids.ts';
import { type AnswerOf, DOWNLOADS_PREFIX, type RequestOf } from '../../common/platform/messaging/messages.ts';
import { type CallContext, callerOf } from '../../common/platform/messaging/messenger.ts';
import type { IngestDependencies } from '../dependencies.ts';
import { forgetMarks } from '../repetition/forget-marks.ts';
import { addData } from './add-data.ts';
import { type Input, openInput } from './input-source.ts';
import { replaceContent } from './replace-content.ts';
import { trackedRun } from './tracked-run.ts';

/**
 * A file that integrations put beside the blobs of the dataset, as an upload of the principal; where the request names an item
 * that is there, in place of its content. Errors: those of `addData` and `replaceContent`; `DataNotFoundError` when the file is
 * gone, `InvalidRequestError` for a key that is none of a download.
 */
export async function takeDownload(
  dependencies: IngestDependencies,
  request: RequestOf<'ingest.TakeDownload'>,
  context: CallContext,
): Promise<AnswerOf<'ingest.TakeDownload'>> {
  const { blobs, messenger, ids, items, ledger } = dependencies;
  const { dataset, blobKey, fileName, mimeType, sizeBytes, md5, sha256, sourceUri } = request;
  const scope = scopeOf(dataset);
  if (!blobKey.startsWith(DOWNLOADS_PREFIX)) throw engramError('InvalidRequestError', 'the blob is no download');
  if ((await blobs.stat(scope, blobKey)) === null) throw engramError('DataNotFoundError', 'the download is gone');
  const open = (): Readable => Readable.from(contentOf(dependencies, request), { objectMode: false });
  const principal = callerOf(context);
  const file = { field: 'data', fileName, mimeType: mimeType ?? '', sizeBytes, md5, sha256, open };
  const id = request.itemId === null ? null : dataItemId(request.itemId);
  const named = id === null ? {} : { itemId: id };
  const input: Input = { kind: 'upload', file, isCopy: true, ...named, ...(sourceUri === null ? {} : { sourceUri }) };
  const add = async () => {
    const {
      added: [added],
    } = await addData(dependencies, {
      principal,
      dataset,
      context,
      inputs: [input],
      annotations: { labels: [], nodeSets: [], externalMetadata: [] },
      signal: context.signal ?? new AbortController().signal,
    });
    if (added === undefined) throw new Error('one input gives one item');
    const { item, status } = added;
    return { result: { itemId: item.id, changed: status === 'completed', forgotten: false }, items: [item.id] };
  };
  if (id === null) {
    return trackedRun(messenger, { id: ids.uuid(), pipeline: 'add_pipeline', principal, dataset, context }, add);
  }
  // The sync of a source is recorded as a whole.
  if ((await ledger.entries(scope, [id])).get(id)?.erased) return { itemId: id, changed: false, forgotten: true };
  const present = await items.get(scope, id);
  if (present === null) return (await add()).result;
  if (isSame(request, present)) return { itemId: id, changed: false, forgotten: false };
  const other = await items.findByContent(scope, present.ownerId, md5);
  if (other !== null && other.id !== id && other.sha256 === sha256) {
    return { itemId: other.id, changed: true, forgotten: false };
  }
  await replace(dependencies, { input, present, dataset }, context);
  return { itemId: id, changed: true, forgotten: false };
}

function isSame({ fileName, sha256, sourceUri }: RequestOf<'ingest.TakeDownload'>, item: DataItem): boolean {
  const { source_uri: uri } = (item.externalMetadata['_cognee'] ?? {}) as { readonly source_uri?: string };
  const isNamedAlike = item.fileName === fileName && (sourceUri === null || uri === sourceUri);
  return isNamedAlike && item.sha256 === sha256;
}

/** The former content is removed with the next sweep: a run may be reading it. */
async function replace(
  dependencies: IngestDependencies,
  { input, present, dataset }: { readonly input: Input; readonly present: DataItem; readonly dataset: DatasetRef },
  context: CallContext,
): Promise<void> {
  const { fetcher, settings } = dependencies;
  const signal = context.signal ?? new AbortController().signal;
  const options = { fetcher, readLocal: null, maxBytes: settings.maxDocumentBytes };
  const [source] = (await openInput(input, options, signal)).sources;
  if (source === undefined) throw new Error('an upload is one source');
  const principal = callerOf(context);
  await replaceContent(dependencies, { principal, dataset, item: present, source, nodeSets: null, signal });
  await forgetMarks(dependencies, scopeOf(dataset), [present.id]);
}

async function* contentOf({ blobs }: IngestDependencies, { dataset, blobKey }: RequestOf<'ingest.TakeDownload'>) {
  const content = await blobs.get(scopeOf(dataset), blobKey);
  if (content === null) throw engramError('DataNotFoundError', 'the download is gone');
  yield* content as AsyncIterable<Buffer>;
}
