import { pipeline, type Readable, Transform } from 'node:stream';
import { type DataItem, itemBlobs, md5Of } from '../../common/domain/data-item.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { engramError, isEngramError } from '../../common/kernel/errors.ts';
import { pagesOf } from '../../common/kernel/result-page.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import type { RemoteMemory } from '../../common/ports/remote-memory.ts';
import type { SyncCounts } from '../../common/records/integrations/sync-runs.ts';
import type { BlobInfo } from '../../common/storage/ports/blob-store.ts';
import type { SyncDependencies } from '../dependencies.ts';
import { withDownload } from '../downloads.ts';

interface DatasetSync {
  readonly runId: string;
  readonly dataset: DatasetRef;
  readonly remote: RemoteMemory;
  readonly context: CallContext;
  readonly signal: AbortSignal;
  /** A failure ends the run. */
  readonly isLastAttempt: boolean;
  /** Throws once the user may no longer sync: a large dataset takes hours. */
  requireStill(): Promise<void>;
  readonly counts: () => SyncCounts;
  /** Part of this dataset, 0 to 1. */
  advance(part: number, counts?: Partial<SyncCounts>): Promise<void>;
}

const PAGE = 1000;

/**
 * Equalises the files of one dataset: copies what either side lacks, and removes from the remote what was removed here since it was
 * last on both sides. A repetition after a failure does the rest.
 */
export async function syncDataset(dependencies: SyncDependencies, sync: DatasetSync): Promise<void> {
  const { state } = dependencies;
  const { runId, dataset, remote, signal, requireStill, counts, advance } = sync;
  const scope = scopeOf(dataset);
  const local = await localFiles(dependencies, sync);
  const difference = await remote.diff(dataset, [...local.keys()], signal);
  // The remote may only ask for files that it was told of.
  const outgoing = difference.missingOnRemote.flatMap((hash) => local.get(hash) ?? []);
  const others = difference.missingOnLocal.filter((hash) => !local.has(hash));
  const removedHere = await state.synced(scope, others);
  // Recorded before the upload: a file that is deleted here meanwhile, or after a failure, is not downloaded again.
  await state.noteSynced(scope, [...local.keys()]);
  const incoming = others.filter((hash) => !removedHere.has(hash));
  const total = outgoing.length + incoming.length;
  let done = 0;
  const step = (more: Partial<SyncCounts>) => {
    done += 1;
    return advance(done / total, more);
  };

  if (outgoing.length > 0) await state.noteDue(scope, { side: 'remote', runId });
  for (const item of outgoing) {
    signal.throwIfAborted();
    await requireStill();
    const isSent = await sendFile(dependencies, sync, item);
    await step(isSent ? { uploaded: counts().uploaded + 1 } : { passedOver: counts().passedOver + 1 });
  }

  if (incoming.length > 0) await state.noteDue(scope, { side: 'local', runId });
  const left: string[] = [];
  for (const hash of incoming) {
    signal.throwIfAborted();
    await requireStill();
    const isTaken = await fetchFile(dependencies, sync, hash);
    if (isTaken) await state.noteSynced(scope, [hash]);
    else left.push(hash);
    await step(isTaken ? { downloaded: counts().downloaded + 1 } : { passedOver: counts().passedOver + 1 });
  }

  await requireStill();
  // Files may have been deleted or added here meanwhile, perhaps by another sync.
  const present = total === 0 ? local : await localFiles(dependencies, sync);
  // A file that could not be stored here stays on the remote: it may be the only copy.
  await remote.prune(dataset, [...present.keys(), ...left], signal);
}

/** Returns the dataset's files by the MD5 of their bytes, one of several owners' copies. There may be a million, so only the fields that are sent. */
async function localFiles({ messenger }: SyncDependencies, { dataset, context }: DatasetSync) {
  const files = new Map<string, LocalFile>();
  const read = (after: string | null) =>
    messenger.call('ingest.DatasetItems', { dataset, after: after ?? undefined, limit: PAGE }, context);
  for await (const items of pagesOf(read)) {
    for (const { id, revision = null, fileName, mimeType, extension, ...hashed } of items) {
      const contentHash = md5Of(hashed);
      files.set(contentHash, { id, revision, fileName, mimeType, extension, contentHash });
    }
  }
  return files;
}

/** The fields of an item that sending its file needs. */
type LocalFile = Pick<DataItem, 'id' | 'revision' | 'fileName' | 'mimeType' | 'extension' | 'contentHash'>;

/** Uploads one file. False: it was removed meanwhile, or the remote cannot take it. */
async function sendFile(dependencies: SyncDependencies, sync: DatasetSync, item: LocalFile): Promise<boolean> {
  const { blobs } = dependencies;
  const { dataset, remote, signal } = sync;
  const scope = scopeOf(dataset);
  const key = itemBlobs.original(item);
  const facts = await blobs.stat(scope, key);
  const body = facts === null ? null : await blobs.get(scope, key);
  if (facts === null || body === null) return false;
  const { id, fileName: name, mimeType, extension, contentHash: hash } = item;
  const file = { id, name, mimeType, extension, hash, sizeBytes: facts.sizeBytes, body };
  try {
    if (await remote.upload(dataset, file, signal)) return true;
  } finally {
    body.destroy();
  }
  return passOver(dependencies, sync, `the remote memory cannot take item ${id}`);
}

/** Errors of files that this service cannot store: another attempt fails as well. Budgets have errors of their own. */
const REFUSALS: ReadonlySet<string> = new Set([
  'IngestionError',
  'UnreadableFileContentError',
  'UnsupportedFileTypeError',
  'DocumentParsingError',
]);

/**
 * Streams one file from the remote to the blob store, and has ingest make an item of it. False: the remote has it no more, or
 * it cannot be stored here.
 */
async function fetchFile(dependencies: SyncDependencies, sync: DatasetSync, hash: string): Promise<boolean> {
  const { dataset, remote, signal } = sync;
  const file = await remote.download(dataset, hash, signal);
  if (file === null) return false;
  const body = limited(file.body, dependencies.settings.maxDocumentBytes);
  try {
    return await withDownload(dependencies, { dataset, content: body.content, signal }, async (stored) => {
      if (stored.md5 !== hash) {
        if (sync.isLastAttempt) return passOver(dependencies, sync, 'it sends another file, time and again');
        throw engramError('CloudConnnectionError', 'The remote memory sent another file.');
      }
      const name = file.fileName ?? `file_${hash}`;
      await take(dependencies, sync, { stored, name, mimeType: file.mimeType });
      return true;
    });
  } catch (error) {
    signal.throwIfAborted();
    if (!body.isTooLarge() && !isRefusal(error)) throw error;
    return passOver(dependencies, sync, error);
  } finally {
    file.body.destroy();
  }
}

/** Skips one file, so that the others go on. */
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
    { dataset, blobKey, fileName: name, mimeType, sizeBytes, md5, sha256, itemId: null, sourceUri: null },
    context,
  );
}

function isRefusal(error: unknown): boolean {
  return isEngramError(error) && REFUSALS.has(error.wireName);
}

/** Limits the size of a stream. Stores wrap the error of a stream each in their own way, hence `isTooLarge`. */
function limited(body: Readable, maxBytes: number): { readonly content: Readable; isTooLarge(): boolean } {
  let bytes = 0;
  const counter = new Transform({
    transform(piece: Buffer, _encoding, done) {
      bytes += piece.byteLength;
      if (bytes > maxBytes) done(new Error(`a file of the remote memory is larger than ${maxBytes} bytes`));
      else done(null, piece);
    },
  });
  // Errors reach the reader through the last stream.
  pipeline(body, counter, () => {});
  return { content: counter, isTooLarge: () => bytes > maxBytes };
}
