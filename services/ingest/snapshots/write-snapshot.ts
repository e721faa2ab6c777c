import { itemBlobs } from '../../common/domain/data-item.ts';
import type { RowCounts } from '../../common/domain/snapshot.ts';
import {
  type SignedManifest,
  SNAPSHOT_FORMAT,
  SNAPSHOT_VERSION,
  type SnapshotManifest,
  type SnapshotPart,
} from '../../common/domain/snapshot.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import type { Clock } from '../../common/ports/system.ts';
import { type ActiveVectorVersion, activeVectorVersion } from '../../common/records/cognify/vector-index-versions.ts';
import type { BlobStore } from '../../common/storage/ports/blob-store.ts';
import type { DatasetReaders } from '../../common/storage/ports/dataset-indexes.ts';
import type { DocumentStore } from '../../common/storage/ports/document-store.ts';
import { manifestHash, writeManifest } from '../../common/storage/snapshots/manifest.ts';
import { lineOf, linesOf, type PartPlace, readPart, writePart } from '../../common/storage/snapshots/part-stream.ts';
import { changedAmong, cutLines, type DatasetCut, type ItemContent, lastEvent } from './dataset-cut.ts';
import { blobHead, blobsOfItems, NO_ROWS, planParts, rowsOfItems } from './item-parts.ts';
import { splitBlobs } from './split-blobs.ts';

export interface SnapshotSources {
  readonly store: DocumentStore;
  readonly blobs: BlobStore;
  readonly indexes: DatasetReaders;
  readonly clock: Clock;
}

interface SnapshotRequest {
  readonly dataset: DatasetRef;
  readonly name: string;
  readonly place: PartPlace;
  /** Signature of auth over the hash of the manifest. */
  sign(sha256: string): Promise<Pick<SignedManifest, 'keyId' | 'signature'>>;
  /** Throws when another worker has taken over. */
  progress(step: { readonly done: number; readonly total: number }): Promise<void>;
  readonly signal: AbortSignal;
}

/** A written part of some items, valid as long as the items are unchanged. */
interface ItemPart {
  readonly items: readonly ItemContent[];
  readonly parts: readonly SnapshotPart[];
  readonly counts: RowCounts;
  /** Items that lacked some of their content. */
  readonly missing: ReadonlySet<ItemContent>;
}

/** Maximum number of rounds; each writes what changed since the one before. */
const ROUNDS = 30;

/**
 * Writes the dataset as of one moment, while it is read and written.
 *
 * All records are read from one view of the document store, and so are of one moment, W. They name for each item the
 * revision of its content and the generation of its build at W; both are immutable, and removed only after the record
 * no longer names them. So content and rows that were read are those of W when the record still names them afterwards.
 * Otherwise there is another round with a later W, which keeps what was written of unchanged items and does not read it
 * again. The last round changes nothing, and its W is that of the snapshot.
 *
 * Everything is streamed. The manifest comes last: without it there is no snapshot.
 */
export async function writeSnapshot(given: SnapshotSources, request: SnapshotRequest): Promise<SnapshotManifest> {
  const { place, signal } = request;
  const scope = scopeOf(request.dataset);
  const { store, indexes } = given;
  const home = await activeVectorVersion({ store, vectors: indexes.vectors }, scope);
  const sources = { ...given, indexes: { ...indexes, vectors: inHome(indexes.vectors, home.scope) } };
  // Left by an earlier attempt.
  await place.blobs.removeAll(place.scope, place.folder);
  let written: readonly ItemPart[] = [];
  let parts = 0;
  for (let round = 1; round <= ROUNDS; round += 1) {
    signal.throwIfAborted();
    const cut = await writeCut(sources, request, round);
    const kept: ItemPart[] = [];
    for (const part of written) {
      const items = part.items.filter((item) => isSame(item, cut.items.get(item.id)));
      if (items.length < part.items.length) parts += 1;
      kept.push(...(await thinned(request, part, { items, number: parts })));
    }
    const have = new Set(kept.flatMap(({ items }) => items.map(({ id }) => id)));
    const missing = [...cut.items.values()].filter(({ id }) => !have.has(id));
    written = kept;
    let hasChanged = false;
    let done = have.size;
    for (const items of planParts(missing)) {
      signal.throwIfAborted();
      parts += 1;
      const part = await writeItems(sources, request, { items, number: parts });
      done += items.length;
      await request.progress({ done, total: cut.items.size });
      written = [...written, part];
      // Checked early, so that less is written in vain.
      const changed = await changedAmong(sources.store, scope, items);
      requireContent(part, changed);
      if (changed.length > 0) hasChanged = true;
    }
    if (!hasChanged) {
      await requireSameHome(given, scope, home);
      return finish(sources, request, { cut, written });
    }
    await removeParts(place, [{ items: [], parts: [cut.part], counts: NO_ROWS, missing: new Set() }]);
  }
  throw engramError(
    'ConflictError',
    'The dataset changes faster than it can be read; try again when less is replaced.',
    {
      retryable: true,
    },
  );
}

/** Rewrites a part with some of its items alone, or removes it without any. */
async function thinned(
  { place, signal }: SnapshotRequest,
  part: ItemPart,
  { items, number }: { readonly items: readonly ItemContent[]; readonly number: number },
): Promise<readonly ItemPart[]> {
  if (items.length === part.items.length) return [part];
  const counts: RowCounts = { ...NO_ROWS };
  const parts: SnapshotPart[] = [];
  const isBuilt = items.some(({ generation }) => generation > 0);
  for (const former of items.length === 0 ? [] : part.parts) {
    signal.throwIfAborted();
    if (former.kind === 'rows' && !isBuilt) continue;
    const read = former.kind === 'rows' ? rowsKept : blobsKept;
    const named = { kind: former.kind, name: partName(former.kind, number) };
    parts.push(await writePart(place, named, read(place, former, { items, counts }), signal));
  }
  await removeParts(place, [part]);
  const missing = new Set(items.filter((item) => part.missing.has(item)));
  return items.length === 0 ? [] : [{ items, parts, counts, missing }];
}

function partName(kind: SnapshotPart['kind'], number: number): string {
  return `${kind}-${String(number).padStart(6, '0')}${kind === 'rows' ? '.jsonl' : ''}.gz`;
}

/** Fails for an unchanged item with missing content: the snapshot would be incomplete. */
function requireContent({ missing }: ItemPart, changed: readonly ItemContent[]): void {
  const lost = [...missing].find((item) => !changed.includes(item));
  if (lost === undefined) return;
  throw engramError(
    'ConflictError',
    `The content of the item ${lost.id} is missing in the blob store, so a snapshot would not be complete: put its blob back, or remove or replace the item.`,
  );
}

/** Reads vectors of one embedding model, though the dataset may migrate to another one meanwhile. */
function inHome(vectors: DatasetReaders['vectors'], home: DatasetScope): DatasetReaders['vectors'] {
  return {
    space: () => vectors.space(home),
    nearest: (_, query, signal) => vectors.nearest(home, query, signal),
    fetch: (_, ...query) => vectors.fetch(home, ...query),
    count: (_, filter) => vectors.count(home, filter),
  };
}

async function requireSameHome(
  { store, indexes }: SnapshotSources,
  scope: DatasetScope,
  { number }: ActiveVectorVersion,
): Promise<void> {
  if ((await activeVectorVersion({ store, vectors: indexes.vectors }, scope)).number === number) return;
  throw engramError('ConflictError', 'The dataset has moved to another embedding model meanwhile; try again.', {
    retryable: true,
  });
}

interface WrittenCut extends DatasetCut {
  readonly part: SnapshotPart;
  readonly at: string;
  readonly event: number | null;
}

async function writeCut({ store, clock }: SnapshotSources, { dataset, place, signal }: SnapshotRequest, round: number) {
  const scope = scopeOf(dataset);
  const view = await store.view();
  try {
    const event = await lastEvent(view, scope);
    const at = clock.now().toISOString();
    const cut: DatasetCut = { items: new Map(), counts: {} };
    const named = { kind: 'documents' as const, name: `documents-${round}.jsonl.gz` };
    const part = await writePart(place, named, cutLines(view, scope, cut), signal);
    return { ...cut, part, at, event };
  } finally {
    await view.close();
  }
}

async function writeItems(
  { blobs, indexes }: SnapshotSources,
  { dataset, place, signal }: SnapshotRequest,
  { items, number }: { readonly items: readonly ItemContent[]; readonly number: number },
): Promise<ItemPart> {
  const scope: DatasetScope = scopeOf(dataset);
  const counts: RowCounts = { ...NO_ROWS };
  const missing = new Set<ItemContent>();
  const parts = [
    await writePart(
      place,
      { kind: 'blobs', name: partName('blobs', number) },
      blobsOfItems(blobs, scope, items, { counts, missing }),
      signal,
    ),
  ];
  if (items.some(({ generation }) => generation > 0)) {
    const lines = rowsOfItems(indexes, scope, items, counts);
    parts.push(await writePart(place, { kind: 'rows', name: partName('rows', number) }, lines, signal));
  }
  return { items, parts, counts, missing };
}

async function finish(
  { indexes }: SnapshotSources,
  { dataset, name, place, sign }: SnapshotRequest,
  { cut, written }: { readonly cut: WrittenCut; readonly written: readonly ItemPart[] },
): Promise<SnapshotManifest> {
  const sum = (kind: keyof RowCounts) => written.reduce((total, { counts }) => total + counts[kind], 0);
  const [items, text, vectors] = [cut.items.size, sum('text'), sum('vectors')];
  const manifest: SnapshotManifest = {
    format: SNAPSHOT_FORMAT,
    version: SNAPSHOT_VERSION,
    name,
    tenant: dataset.tenant,
    dataset: { id: dataset.id, name: dataset.name, ownerId: dataset.ownerId, createdAt: dataset.createdAt },
    watermark: { at: cut.at, event: cut.event },
    space: vectors === 0 ? null : await indexes.vectors.space(scopeOf(dataset)),
    counts: {
      items,
      text,
      vectors,
      nodes: sum('nodes'),
      edges: sum('edges'),
      blobs: sum('blobs'),
      documents: cut.counts,
    },
    parts: [cut.part, ...written.flatMap(({ parts }) => parts)],
  };
  const signed = JSON.stringify(manifest);
  await writeManifest(place, { manifest: signed, ...(await sign(manifestHash(signed))) });
  return manifest;
}

function isSame(one: ItemContent, other: ItemContent | undefined): boolean {
  return one.revision === other?.revision && one.generation === other.generation;
}

async function removeParts({ blobs, scope, folder }: PartPlace, gone: readonly ItemPart[]): Promise<void> {
  const keys = gone.flatMap(({ parts }) => parts.map(({ name }) => `${folder}${name}`));
  if (keys.length > 0) await blobs.remove(scope, keys);
}

/** Selects what to keep of a part, and counts it. */
interface Kept {
  readonly items: readonly ItemContent[];
  readonly counts: RowCounts;
}

/** Yields the blobs of those items, in the form of a part. */
async function* blobsKept(place: PartPlace, part: SnapshotPart, { items, counts }: Kept): AsyncGenerator<Buffer> {
  const keys = new Set(items.flatMap((item) => itemBlobs.content(item)));
  for await (const { key, size, content } of splitBlobs(readPart(place, part))) {
    const isKept = keys.has(key);
    if (isKept) {
      counts.blobs += 1;
      yield blobHead({ key, size });
    }
    for await (const bytes of content) if (isKept) yield bytes as Buffer;
  }
}

const COUNTED: ReadonlyMap<string, keyof RowCounts> = new Map(
  Object.entries<keyof RowCounts>({
    text: 'text',
    vector: 'vectors',
    node: 'nodes',
    edge: 'edges',
  }),
);

/** Yields the rows of those items, in the form of a part. */
async function* rowsKept(place: PartPlace, part: SnapshotPart, { items, counts }: Kept): AsyncGenerator<string> {
  const ids = new Set<string>(items.map(({ id }) => id));
  let isKept = false;
  for await (const line of linesOf(readPart(place, part))) {
    const [kind, id] = line as readonly [string, string];
    if (kind === 'item') isKept = ids.has(id);
    if (!isKept) continue;
    const counted = COUNTED.get(kind);
    if (counted !== undefined) counts[counted] += 1;
    yield lineOf(line);
  }
}
