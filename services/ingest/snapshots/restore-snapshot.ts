import { dataBill } from '../../common/domain/budget.ts';
import { type SnapshotManifest, type SnapshotPart, unreadable } from '../../common/domain/snapshot.ts';
import type { DataItemId, DatasetId, TenantId, UserId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import { type DatasetScope, datasetScope } from '../../common/kernel/scope.ts';
import type { RequestOf, RestoreStep, SnapshotRef } from '../../common/platform/messaging/messages.ts';
import type { Messenger } from '../../common/platform/messaging/messenger.ts';
import type { Budgets } from '../../common/ports/budgets.ts';
import { eraseCollections } from '../../common/records/base/erase-collections.ts';
import { type DataItems, dataItemsCollection } from '../../common/records/ingest/data-items.ts';
import type { BlobStore } from '../../common/storage/ports/blob-store.ts';
import {
  type AnyCollection,
  type DocumentStore,
  insert,
  type Write,
} from '../../common/storage/ports/document-store.ts';
import type { SnapshotPlace } from '../../common/storage/ports/snapshot-places.ts';
import { isManifestSignedBy } from '../../common/storage/snapshots/check-signature.ts';
import {
  type DocumentLine,
  insertDocuments,
  readDocumentLines,
} from '../../common/storage/snapshots/insert-documents.ts';
import { type CheckSignature, readManifest } from '../../common/storage/snapshots/manifest.ts';
import { linesOf, type PartPlace, readPart } from '../../common/storage/snapshots/part-stream.ts';
import { restoredCollections } from '../collections.ts';
import { splitBlobs } from './split-blobs.ts';

export interface RestoreSources {
  readonly store: DocumentStore;
  readonly blobs: BlobStore;
  readonly budgets: Budgets;
  readonly items: DataItems;
  readonly messenger: Messenger;
}

export interface RestoreRequest {
  readonly tenantId: TenantId;
  readonly datasetId: DatasetId;
  readonly ownerId: UserId;
  /** Whether items of the same tenant keep their owner; all others become the new owner's. */
  readonly keepsOwners: boolean;
  /** The API key whose budget is charged, too. */
  readonly keyId?: string;
  readonly snapshot: SnapshotRef;
  readonly place: SnapshotPlace;
  /** The place, opened. */
  readonly from: PartPlace;
  /** It was uploaded as a file, so its place differs from that of the manifest. */
  readonly isUploaded?: boolean;
  /** The signers of `RestoreDatasetRequest`. */
  readonly signers?: readonly string[];
  readonly requestId: string;
  readonly signal: AbortSignal;
  /** Throws when another worker has taken over. */
  progress(step: { readonly step: string; readonly done: number; readonly total: number }): Promise<void>;
}

const ITEMS_PER_COMMIT = 100;

/**
 * Writes all of a snapshot into a dataset that is not registered yet: content and rows first, then records. Checks the
 * hash of every part as it is read, and counts everything at the end; after an error the caller discards what was
 * written. Nothing is extracted or embedded again.
 *
 * Items keep their ids, and so do chunks, statements and all that is derived from them: rows and records are found by
 * dataset and id. Items keep their owner with `keepsOwners`; in another tenant they become the new owner's.
 */
export async function restoreSnapshot(sources: RestoreSources, request: RestoreRequest): Promise<void> {
  const { snapshot, from, requestId, signal } = request;
  const scope = datasetScope(request.tenantId, request.datasetId);
  const ask = async (step: RestoreStep) =>
    sources.messenger.call('cognify.RestoreBuilt', builtRequest(request, step), { requestId, signal });
  const check: CheckSignature = async (signed) =>
    (await sources.messenger.call('auth.CheckSnapshot', signed, { requestId })).isOurs ||
    (request.signers ?? []).some((signer) => isManifestSignedBy(signer, signed));
  const manifest = await readManifest(from, check);
  if (manifest === null)
    throw engramError('EntityNotFoundError', `There is no snapshot ${snapshot.name} of tenant ${snapshot.tenantId}.`);
  const isInPlace = manifest.name === snapshot.name && manifest.tenant === snapshot.tenantId;
  if (!isInPlace && request.isUploaded !== true)
    throw unreadable(`it is ${manifest.name} of tenant ${manifest.tenant}, copied`);
  await requireStorage(sources, request, manifest);
  const total = manifest.parts.length;
  const inOrder = [...ofKind(manifest, 'blobs'), ...ofKind(manifest, 'rows'), ...ofKind(manifest, 'documents')];
  const built: Record<string, number> = {};
  let blobs = 0;
  for (const [done, part] of inOrder.entries()) {
    signal.throwIfAborted();
    await request.progress({ step: `part ${done + 1} of ${total}`, done, total });
    if (part.kind === 'blobs') {
      blobs += await restoreBlobs(sources, scope, { from, part, signal });
      continue;
    }
    const { documents } = await ask({ part: { part, space: manifest.space } });
    if (part.kind !== 'documents') continue;
    Object.assign(built, documents, await restoreRecords(sources, request, part, manifest));
  }
  await request.progress({ step: 'counting', done: total, total });
  const { text, vectors, nodes, edges } = await ask({ count: true });
  requireEqual(manifest, { text, vectors, nodes, edges, blobs, items: await sources.items.count(scope) }, built);
}

/** Removes everything of a failed restore, at all owners. */
export async function discardRestored(
  { store, blobs, messenger, budgets }: Pick<RestoreSources, 'store' | 'blobs' | 'messenger' | 'budgets'>,
  request: Pick<RestoreRequest, 'tenantId' | 'datasetId' | 'snapshot' | 'place' | 'requestId'> & {
    readonly ownerId: UserId | null;
    readonly keyId?: string;
  },
): Promise<void> {
  const scope = datasetScope(request.tenantId, request.datasetId);
  const { left: rows } = await messenger.call('cognify.RestoreBuilt', builtRequest(request, { discard: true }), {
    requestId: request.requestId,
  });
  await blobs.removeAll(scope);
  await returnItems({ store, budgets }, scope, request);
  const { left } = await eraseCollections(store, scope, [dataItemsCollection, ...restoredCollections]);
  const ofBlobs = (await blobs.list(scope, { limit: 1 })).length;
  if (rows + left + ofBlobs > 0)
    throw engramError('CogneeSystemError', `${rows + left + ofBlobs} records of a failed restore are left.`, {
      retryable: true,
    });
}

function builtRequest(
  { tenantId, datasetId, snapshot, place }: Pick<RestoreRequest, 'tenantId' | 'datasetId' | 'snapshot' | 'place'>,
  step: RestoreStep,
): RequestOf<'cognify.RestoreBuilt'> {
  return { tenantId, datasetId, snapshot, place, step };
}

function ofKind({ parts }: SnapshotManifest, kind: SnapshotPart['kind']): readonly SnapshotPart[] {
  return parts.filter((part) => part.kind === kind);
}

/** Refuses a restore that the budget cannot pay, before any content is written: items are charged last. */
async function requireStorage(
  { budgets }: RestoreSources,
  { from, tenantId, ownerId, keyId }: RestoreRequest,
  manifest: SnapshotManifest,
): Promise<void> {
  const demand = { items: 0, storageBytes: 0 };
  for (const part of ofKind(manifest, 'documents')) {
    for await (const { value } of readDocumentLines(linesOf(readPart(from, part)), [dataItemsCollection])) {
      const { items, storageBytes } = demandOf([value]);
      demand.items += items;
      demand.storageBytes += storageBytes;
    }
  }
  await budgets.check(dataBill({ tenant: tenantId, ownerId }, keyId, demand));
}

async function restoreBlobs(
  { blobs }: RestoreSources,
  scope: DatasetScope,
  { from, part, signal }: { readonly from: PartPlace; readonly part: SnapshotPart; readonly signal: AbortSignal },
): Promise<number> {
  let count = 0;
  for await (const { key, content } of splitBlobs(readPart(from, part))) {
    // The hash is checked at the end: until then the content is not trusted.
    if (!key.startsWith('items/') || key.split('/').includes('..')) throw unreadable('its blobs are damaged');
    await blobs.put(scope, key, content, signal);
    count += 1;
  }
  return count;
}

/**
 * Restores records, items last: they are charged in their commit, and refused where the tenant may not have so many.
 */
async function restoreRecords(
  sources: RestoreSources,
  request: RestoreRequest,
  part: SnapshotPart,
  { tenant }: SnapshotManifest,
): Promise<Readonly<Record<string, number>>> {
  const { from, tenantId, ownerId, keyId } = request;
  const scope = datasetScope(tenantId, request.datasetId);
  const read = (collections: readonly AnyCollection[]) => readDocumentLines(linesOf(readPart(from, part)), collections);
  const counts = await insertDocuments(sources.store, scope, read(restoredCollections));
  const isKept = request.keepsOwners && tenant === tenantId;
  const owned = isKept ? read([dataItemsCollection]) : ownedBy(read([dataItemsCollection]), ownerId);
  let items: DocumentLine[] = [];
  let restored = 0;
  const flush = async (): Promise<void> => {
    await insertItems(sources, scope, { items, ownerId, ...(keyId === undefined ? {} : { keyId }) });
    restored += items.length;
    items = [];
  };
  for await (const item of owned) {
    // The API keys that they were added by have other budgets.
    // Retention is set by the new dataset.
    const { isExpiring: _, ...value } = item.value;
    items.push({ ...item, value: { ...value, keyId: keyId ?? null } });
    if (items.length === ITEMS_PER_COMMIT) await flush();
  }
  if (items.length > 0) await flush();
  return { ...counts, [dataItemsCollection.name]: restored };
}

/** Yields the items as the new owner's; an owner has each content once, so duplicates keep theirs. */
async function* ownedBy(items: AsyncIterable<DocumentLine>, ownerId: UserId): AsyncGenerator<DocumentLine> {
  const taken = new Set<unknown>();
  for await (const item of items) {
    const { contentHash } = item.value;
    const isFirst = !taken.has(contentHash);
    taken.add(contentHash);
    yield isFirst ? { ...item, value: { ...item.value, ownerId } } : item;
  }
}

async function insertItems(
  { store, budgets }: RestoreSources,
  scope: DatasetScope,
  { items, ownerId, keyId }: Pick<RestoreRequest, 'ownerId' | 'keyId'> & { readonly items: readonly DocumentLine[] },
): Promise<void> {
  const writes: readonly Write[] = items.map(({ collection, id, value }) => insert(collection, id, value));
  const bill = dataBill({ tenant: scope.tenant, ownerId }, keyId, demandOf(items.map(({ value }) => value)));
  await budgets.charge(bill, (charged) => store.commit(scope, [...charged, ...writes]));
}

/** Refunds what was charged for the items of a failed restore. */
async function returnItems(
  { store, budgets }: Pick<RestoreSources, 'store' | 'budgets'>,
  scope: DatasetScope,
  { ownerId, keyId }: { readonly ownerId: UserId | null; readonly keyId?: string },
): Promise<void> {
  for (;;) {
    const { items } = await store.find(scope, dataItemsCollection, { limit: ITEMS_PER_COMMIT });
    if (items.length === 0 || ownerId === null) return;
    const { items: count, storageBytes } = demandOf(items.map(({ value }) => value));
    const bill = dataBill({ tenant: scope.tenant, ownerId }, keyId, { items: -count, storageBytes: -storageBytes });
    const writes = items.map(
      ({ id, version }): Write => ({
        kind: 'remove',
        collection: dataItemsCollection,
        id: id as DataItemId,
        expectedVersion: version,
      }),
    );
    await budgets.charge(bill, (charged) => store.commit(scope, [...charged, ...writes]));
  }
}

function demandOf(items: readonly JsonObject[]) {
  const storageBytes = items.reduce((sum, { sizeBytes }) => sum + Number(sizeBytes), 0);
  return { items: items.length, storageBytes };
}

/** Compares the counts of the stores with those of the manifest. */
function requireEqual(
  { counts }: SnapshotManifest,
  rows: Readonly<Record<'items' | 'text' | 'vectors' | 'nodes' | 'edges' | 'blobs', number>>,
  documents: Readonly<Record<string, number>>,
): void {
  for (const kind of ['items', 'text', 'vectors', 'nodes', 'edges', 'blobs'] as const)
    if (rows[kind] !== counts[kind]) throw unreadable(`${rows[kind]} of ${counts[kind]} ${kind} came out of it`);
  for (const [collection, count] of Object.entries(counts.documents)) {
    const found = documents[collection] ?? 0;
    if (found !== count) throw unreadable(`${found} of ${Number(count)} records of ${collection} came out of it`);
  }
}
