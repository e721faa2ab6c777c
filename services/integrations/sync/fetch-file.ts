import { pipeline, type Readable, Transform } from 'node:stream';
import { scopeOf } from '../../common/kernel/dataset.ts';
import { engramError, isEngramError } from '../../common/kernel/errors.ts';
import { DOWNLOADS_PREFIX } from '../../common/platform/messaging/messages.ts';
import type { BlobInfo } from '../../common/storage/ports/blob-store.ts';
import type { SyncDependencies } from '../dependencies.ts';
import type { DatasetSync } from './sync-dataset.ts';

/** Files that this service cannot keep: reading them again would not help. Budgets have errors of their own. */
const REFUSALS: ReadonlySet<string> = new Set([
  'IngestionError',
  'UnreadableFileContentError',
  'UnsupportedFileTypeError',
  'DocumentParsingError',
]);

/** What takes longer is swept as what a dead process left. */
const LONGEST_MS = 24 * 3_600_000;

/**
 * Streams one file from the remote to the blob store, and has ingest make an item of it. False: the remote has it no more, or
 * it cannot be kept here. A declared intent removes the blob should this process die.
 */
export async function fetchFile(dependencies: SyncDependencies, sync: DatasetSync, hash: string): Promise<boolean> {
  const { blobs, intents, ids, clock } = dependencies;
  const { dataset, remote, signal } = sync;
  const file = await remote.download(dataset, hash, signal);
  if (file === null) return false;
  const scope = scopeOf(dataset);
  const id = ids.ordered();
  const place = `${DOWNLOADS_PREFIX}${id}/`;
  const blobKey = `${place}file`;
  const body = limited(file.body, dependencies.settings.maxDocumentBytes);
  try {
    await intents.declare(scope, id, [place], new Date(clock.now().getTime() + LONGEST_MS).toISOString());
    const stored = await blobs.put(scope, blobKey, body.content, signal);
    if (stored.md5 !== hash) {
      if (sync.isLastAttempt) return passOver(dependencies, sync, 'it sends another file, time and again');
      throw engramError('CloudConnnectionError', 'The remote memory sent another file.');
    }
    const name = file.fileName ?? `file_${hash}`;
    await take(dependencies, sync, { stored, name, mimeType: file.mimeType });
    return true;
  } catch (error) {
    signal.throwIfAborted();
    if (!body.isTooLarge() && !isRefusal(error)) throw error;
    return passOver(dependencies, sync, error);
  } finally {
    file.body.destroy();
    await blobs.remove(scope, [blobKey]).then(
      () => intents.settle(scope, id),
      () => null, // the sweep of intents removes it
    );
  }
}

/** One file must not keep all others back. */
function passOver({ logger }: SyncDependencies, { dataset }: DatasetSync, error: unknown): false {
  logger.warn('sync.file.refused', { datasetId: dataset.id, error });
  return false;
}

async function take(
  { messenger }: SyncDependencies,
  { dataset, context }: DatasetSync,
  { stored, name, mimeType }: { readonly stored: BlobInfo; readonly name: string; readonly mimeType: string | null },
): Promise<void> {
  const { key: blobKey, sizeBytes, md5, sha256 } = stored;
  await messenger.call(
    'ingest.TakeDownload',
    { dataset, blobKey, fileName: name, mimeType, sizeBytes, md5, sha256 },
    context,
  );
}

function isRefusal(error: unknown): boolean {
  return isEngramError(error) && REFUSALS.has(error.wireName);
}

/** Every store has its own words for a stream that failed: whether it was this is asked here. */
function limited(body: Readable, maxBytes: number): { readonly content: Readable; isTooLarge(): boolean } {
  let bytes = 0;
  const counter = new Transform({
    transform(piece: Buffer, _encoding, done) {
      bytes += piece.byteLength;
      if (bytes > maxBytes) done(new Error(`a file of the remote memory is larger than ${maxBytes} bytes`));
      else done(null, piece);
    },
  });
  // Whatever goes wrong reaches the reader through the last stream.
  pipeline(body, counter, () => {});
  return { content: counter, isTooLarge: () => bytes > maxBytes };
}
