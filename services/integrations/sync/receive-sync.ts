import type { Readable } from 'node:stream';
import { itemBlobs, md5Of } from '../../common/domain/data-item.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { dataItemId } from '../../common/kernel/ids.ts';
import type { Permission } from '../../common/kernel/principal.ts';
import { pagesOf } from '../../common/kernel/result-page.ts';
import { slices } from '../../common/kernel/slices.ts';
import { isPermitted } from '../../common/platform/messaging/is-permitted.ts';
import { type CallContext, callerOf } from '../../common/platform/messaging/messenger.ts';
import type { RemoteDifference } from '../../common/ports/remote-memory.ts';
import type { UploadedFile } from '../../common/ports/upload.ts';
import { createSyncOrigins, originOf } from '../../common/records/integrations/sync-origins.ts';
import { offerId } from '../../common/records/integrations/sync-state.ts';
import type { SyncDependencies } from '../dependencies.ts';
import { withDownload } from '../downloads.ts';

/** The dataset that a sender means by the id that it has on its own side. */
interface ReceivedDataset {
  readonly remoteId: string;
  /** Its name there: an unknown one is made under it. Null: the request has none. */
  readonly name: string | null;
  readonly permissions: readonly Permission[];
}

const PAGE = 1000;
/** Items of one deletion. */
const DELETED_AT_ONCE = 500;

/**
 * Compares the files of the dataset with the hashes of the sender, whose side is `local`. What the sender lacks is remembered:
 * it may fetch that, and have that removed.
 */
export async function compareFiles(
  dependencies: SyncDependencies,
  { remoteId, name, hashes }: { readonly remoteId: string; readonly name: string; readonly hashes: readonly string[] },
  context: CallContext,
): Promise<RemoteDifference> {
  const { messenger, state } = dependencies;
  const permissions = ['read', 'write'] as const;
  const dataset = await receivedDataset(dependencies, { remoteId, name, permissions }, context);
  const scope = scopeOf(dataset);
  const sent = new Set(hashes);
  const both = new Set<string>();
  const others = new Map<string, string[]>();
  const read = (after: string | null) =>
    messenger.call('ingest.DatasetItems', { dataset, after: after ?? undefined, limit: PAGE }, context);
  for await (const items of pagesOf(read)) {
    for (const item of items) {
      const md5 = md5Of(item);
      if (sent.has(md5)) both.add(md5);
      else others.set(md5, [...(others.get(md5) ?? []), item.id]);
    }
  }
  await state.noteSynced(scope, [...both]);
  await state.replaceOffers(
    scope,
    originOf(callerOf(context), remoteId),
    [...others].map(([md5, itemIds]) => ({ md5, itemIds })),
  );
  return { missingOnRemote: [...sent].filter((md5) => !both.has(md5)), missingOnLocal: [...others.keys()] };
}

/** Makes an item of a file of the sender, as an upload of the caller. Returns its id. Errors: those of `ingest.TakeDownload`. */
export async function receiveFile(
  dependencies: SyncDependencies,
  { remoteId, name, file }: { readonly remoteId: string; readonly name: string; readonly file: UploadedFile },
  context: CallContext,
): Promise<string> {
  const { messenger, state } = dependencies;
  const dataset = await receivedDataset(dependencies, { remoteId, name, permissions: ['write'] }, context);
  const { fileName, mimeType } = file;
  const signal = context.signal ?? new AbortController().signal;
  const taken = await withDownload(
    dependencies,
    { dataset, content: file.open(), signal },
    ({ key, sizeBytes, md5, sha256 }) => {
      const request = { dataset, blobKey: key, fileName, mimeType, sizeBytes, md5, sha256 };
      return messenger.call('ingest.TakeDownload', { ...request, itemId: null, sourceUri: null }, context);
    },
  );
  await state.noteSynced(scopeOf(dataset), [file.md5]);
  return taken.itemId;
}

/** Opens a file that the sender was told of by its last comparison. `DataNotFoundError` for any other, and one that is gone. */
export async function sendOffered(
  dependencies: SyncDependencies,
  { remoteId, md5 }: { readonly remoteId: string; readonly md5: string },
  context: CallContext,
): Promise<{ readonly fileName: string; readonly content: Readable }> {
  const { messenger, state, blobs } = dependencies;
  const dataset = await receivedDataset(dependencies, { remoteId, name: null, permissions: ['read'] }, context);
  const scope = scopeOf(dataset);
  const ids = await state.offered(scope, originOf(callerOf(context), remoteId), md5);
  const { items } = await messenger.call('ingest.DatasetItems', { dataset, ids, limit: PAGE }, context);
  for (const item of items) {
    const content = md5Of(item) === md5 ? await blobs.get(scope, itemBlobs.original(item)) : null;
    if (content !== null) return { fileName: item.fileName, content };
  }
  throw engramError(
    'DataNotFoundError',
    `No file with the MD5 ${md5} was named by the last comparison, or it is gone.`,
  );
}

/**
 * Deletes what the sender was told of by its last comparison and does not keep. What was added or changed here since stays: the
 * sender does not know it. Returns the number of deleted items.
 */
export async function pruneOffered(
  dependencies: SyncDependencies,
  { remoteId, kept }: { readonly remoteId: string; readonly kept: readonly string[] },
  context: CallContext,
): Promise<number> {
  const { messenger, state } = dependencies;
  const dataset = await receivedDataset(dependencies, { remoteId, name: null, permissions: ['delete'] }, context);
  const scope = scopeOf(dataset);
  const origin = originOf(callerOf(context), remoteId);
  let deleted = 0;
  for (const offers of slices(await state.offeredBeside(scope, origin, kept), DELETED_AT_ONCE)) {
    const offered = new Map(offers.flatMap(({ id, itemIds }) => itemIds.map((item) => [dataItemId(item), id])));
    const ids = [...offered.keys()];
    const { items } = await messenger.call('ingest.DatasetItems', { dataset, ids, limit: PAGE }, context);
    const same = items.filter((item) => offered.get(item.id) === offerId(scope, origin, md5Of(item)));
    const itemIds = same.map(({ id }) => id);
    if (itemIds.length > 0) await messenger.call('ingest.ForgetItems', { dataset, itemIds }, context);
    deleted += itemIds.length;
  }
  await state.removeOffers(scope, origin);
  return deleted;
}

/**
 * Finds the dataset: the one that was pushed under the id before, or that has the id and the caller can use, or the caller's
 * own one of the name, which is created if need be. `PermissionDeniedError` when it may not be used, or is unknown and has no name.
 */
async function receivedDataset(
  { messenger, store }: SyncDependencies,
  { remoteId, name, permissions }: ReceivedDataset,
  context: CallContext,
): Promise<DatasetRef> {
  const origins = createSyncOrigins(store);
  const caller = callerOf(context);
  const known = await origins.find(caller, remoteId);
  const isUsable = async () =>
    (await isPermitted(messenger, 'read', remoteId, context)) ||
    (await isPermitted(messenger, 'write', remoteId, context));
  const isNew = known === null && name !== null && !(await isUsable());
  const selection = isNew ? { names: [name], createMissing: true } : { ids: [known ?? remoteId] };
  let found: DatasetRef | undefined;
  for (const permission of permissions) {
    [found] = (await messenger.call('auth.ResolveDatasets', { permission, ...selection }, context)).datasets;
  }
  if (found === undefined) throw engramError('DatasetNotFoundError', 'There is no dataset of this id.');
  if (isNew) await origins.note(scopeOf(found), caller, remoteId);
  return found;
}
