import { itemBlobs } from '../../common/domain/data-item.ts';
import type { SnapshotPart } from '../../common/domain/snapshot.ts';
import { lineOf, linesOf, type PartPlace, readPart } from '../../common/storage/snapshots/part-stream.ts';
import type { ItemContent } from './dataset-cut.ts';
import { blobHead, type RowCounts } from './item-parts.ts';
import { splitBlobs } from './split-blobs.ts';

/** What to keep of a part, and what is counted of it. */
interface Kept {
  readonly items: readonly ItemContent[];
  readonly counts: RowCounts;
}

/** The blobs of those items alone, as a part has them. */
export async function* blobsKept(
  place: PartPlace,
  part: SnapshotPart,
  { items, counts }: Kept,
): AsyncGenerator<Buffer> {
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

/** The rows of those items alone, as a part has them. */
export async function* rowsKept(place: PartPlace, part: SnapshotPart, { items, counts }: Kept): AsyncGenerator<string> {
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
