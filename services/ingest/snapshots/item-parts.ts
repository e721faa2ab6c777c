import { type ItemRevision, itemBlobs } from '../../common/domain/data-item.ts';
import type { RowCounts } from '../../common/domain/snapshot.ts';
import { entriesOf } from '../../common/kernel/result-page.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import type { BlobStore } from '../../common/storage/ports/blob-store.ts';
import type { DatasetReaders } from '../../common/storage/ports/dataset-indexes.ts';
import { INDEX_KINDS, type IndexKind, type Provenance, VECTOR_KINDS } from '../../common/storage/ports/index-entry.ts';
import { type TextRow, textPages } from '../../common/storage/ports/text-index.ts';
import { rowLines } from '../../common/storage/snapshots/row-lines.ts';
import type { ItemContent } from './dataset-cut.ts';

export const NO_ROWS: Readonly<RowCounts> = { text: 0, vectors: 0, nodes: 0, edges: 0, blobs: 0 };

/** Size of a part: small enough to rewrite without a changed item, and for one call over the bus. */
const ROWS_PER_PART = 2_000;
const ITEMS_PER_PART = 100;
const BYTES_PER_PART = 64 * 1024 * 1024;
/** Items with fewer rows are read at the same time. */
const FEW_ROWS = 200;
const AT_ONCE = 8;
const PAGE = 500;
/** Items that go into one part each. */
export function planParts(items: readonly ItemContent[]): readonly (readonly ItemContent[])[] {
  const groups: ItemContent[][] = [];
  let [rows, bytes] = [0, 0];
  for (const item of items) {
    const last = groups.at(-1);
    const isFull = rows + item.rows > ROWS_PER_PART || bytes + item.sizeBytes > BYTES_PER_PART;
    if (last === undefined || isFull || last.length >= ITEMS_PER_PART) {
      groups.push([item]);
      [rows, bytes] = [0, 0];
    } else last.push(item);
    rows += item.rows;
    bytes += item.sizeBytes;
  }
  return groups;
}

/** Yields all rows of the items, a line each; rows of a large item are streamed. */
export async function* rowsOfItems(
  indexes: DatasetReaders,
  scope: DatasetScope,
  items: readonly ItemContent[],
  counts: RowCounts,
): AsyncGenerator<string> {
  const built = items.filter(({ generation }) => generation > 0);
  for (let start = 0; start < built.length; ) {
    const few = built.slice(start, start + AT_ONCE).filter(({ rows }) => rows < FEW_ROWS);
    const isFew = few.length > 0 && few[0] === built[start];
    const together = isFew ? consecutive(few, built, start) : [];
    if (together.length > 0) {
      const texts = await Promise.all(together.map((item) => collect(rowsOf(indexes, scope, item, counts))));
      yield* texts;
      start += together.length;
      continue;
    }
    yield* rowsOf(indexes, scope, built[start] as ItemContent, counts);
    start += 1;
  }
}

function consecutive(few: readonly ItemContent[], built: readonly ItemContent[], start: number) {
  const end = few.findIndex((item, at) => item !== built[start + at]);
  return few.slice(0, end < 0 ? few.length : end);
}

async function collect(lines: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const line of lines) text += line;
  return text;
}

async function* rowsOf(
  { text, vectors, graph }: DatasetReaders,
  scope: DatasetScope,
  { id, generation }: ItemContent,
  counts: RowCounts,
): AsyncGenerator<string> {
  const provenance: Provenance = { item: id, generation };
  yield rowLines.item(provenance);
  for (const kind of INDEX_KINDS) {
    for await (const rows of textPages(text, scope, { kind, provenance, limit: PAGE, withTokens: true })) {
      for (const row of rows) yield rowLines.text({ ...row, tokens: row.tokens ?? '' });
      counts.text += rows.length;
      if (VECTOR_KINDS.includes(kind)) yield* vectorsOf(vectors, scope, { kind, provenance, rows }, counts);
    }
  }
  for await (const row of entriesOf((after) => graph.scanNodes(scope, { after, limit: PAGE, provenance }))) {
    counts.nodes += 1;
    yield rowLines.node(row);
  }
  for await (const row of entriesOf((after) => graph.scanEdges(scope, { after, limit: PAGE, provenance }))) {
    counts.edges += 1;
    yield rowLines.edge(row);
  }
}

async function* vectorsOf(
  vectors: DatasetReaders['vectors'],
  scope: DatasetScope,
  {
    kind,
    provenance,
    rows,
  }: { readonly kind: IndexKind; readonly provenance: Provenance; readonly rows: readonly TextRow[] },
  counts: RowCounts,
): AsyncGenerator<string> {
  const nodeSets = new Map(rows.map((row) => [row.id, row.nodeSets]));
  for (const found of await vectors.fetch(scope, kind, [...nodeSets.keys()], provenance)) {
    counts.vectors += 1;
    yield rowLines.vector(kind, found, nodeSets.get(found.id) ?? []);
  }
}

/** Returns the head of a blob in a part: the length of its JSON text in four bytes, then that text. */
export interface BlobHead {
  readonly key: string;
  readonly size: number;
}

/**
 * Yields the content of the items, as added and as parsed. Missing blobs are left out and reported as `missing`: the
 * caller checks whether the item has changed, and otherwise it is lost.
 */
export async function* blobsOfItems(
  blobs: BlobStore,
  scope: DatasetScope,
  items: readonly ItemContent[],
  { counts, missing }: { readonly counts: RowCounts; readonly missing: Set<ItemContent> },
): AsyncGenerator<Buffer> {
  for (const item of items) {
    for (const key of itemBlobs.content(item as ItemRevision)) {
      const stat = await blobs.stat(scope, key);
      const content = stat === null ? null : await blobs.get(scope, key);
      if (stat === null || content === null) {
        missing.add(item);
        continue;
      }
      counts.blobs += 1;
      yield blobHead({ key, size: stat.sizeBytes });
      let size = 0;
      for await (const bytes of content) {
        size += (bytes as Buffer).length;
        yield bytes as Buffer;
      }
      if (size !== stat.sizeBytes) throw new Error(`the blob ${key} has ${size} bytes instead of ${stat.sizeBytes}`);
    }
  }
}

export function blobHead(head: BlobHead): Buffer {
  const text = Buffer.from(JSON.stringify(head));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(text.length);
  return Buffer.concat([length, text]);
}
