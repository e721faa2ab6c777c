import { expect } from 'chai';
import { createWorld, startCognify } from '../../../test/support/cognify-service.ts';
import { createMemoryBlobStore } from '../../../test/support/memory/blob-store.ts';
import { type DataItem, itemBlobs } from '../../common/domain/data-item.ts';
import type { SnapshotManifest } from '../../common/domain/snapshot.ts';
import { scopeOf } from '../../common/kernel/dataset.ts';
import { createSystemClock } from '../../common/platform/system/clock.ts';
import { createDataItems, dataItemsCollection } from '../../common/records/ingest/data-items.ts';
import { skillShelvesCollection, skillsCollection } from '../../common/records/ingest/skills.ts';
import { linesOf, readPart } from '../../common/storage/snapshots/part-stream.ts';
import { readRowLines } from '../../common/storage/snapshots/row-lines.ts';
import { splitBlobs } from './split-blobs.ts';
import { writeSnapshot } from './write-snapshot.ts';

const ITEMS = 30;

describe('a snapshot that is taken while items are removed', () => {
  it('reads nothing again for those that stay, and has nothing of those that went', async () => {
    const world = await createWorld();
    await world.store.prepare([dataItemsCollection, skillsCollection, skillShelvesCollection]);
    const [scope, records] = [scopeOf(world.dataset), createDataItems(world.store)];
    for (let at = 0; at < ITEMS; at += 1) {
      const item = await world.addText(`note-${at}`, `Ada${'x'.repeat(at)} knows Grace. Number ${at}.`);
      await world.blobs.put(scope, itemBlobs.original(item), Buffer.from(`Number ${at}.`));
      await world.store.commit(scope, records.insertWrites([item]));
    }
    {
      await using cognify = await startCognify(world);
      expect(await cognify.run()).to.include({ status: 'DATASET_PROCESSING_COMPLETED' });
    }
    const present = [...world.items];
    const removed: DataItem[] = [];
    const remove = async () => {
      const [item] = present.splice(0, 1);
      if (item === undefined) return;
      removed.push(item);
      await world.store.commit(scope, records.removeWrites([item]));
      await world.blobs.removeAll(scope, itemBlobs.prefix(item.id));
    };
    const place = { blobs: createMemoryBlobStore(), scope, folder: 'snapshots/one/' };
    const manifest = await writeSnapshot(
      { store: world.store, blobs: world.blobs, indexes: world.indexes, clock: createSystemClock() },
      {
        dataset: world.dataset,
        name: 'one',
        place,
        signal: new AbortController().signal,
        sign: async () => ({ keyId: 'k', signature: 's' }),
        // With each part that is written one goes.
        progress: remove,
      },
    );
    expect(removed, 'one part was written').to.have.length(1);
    const found = await contentOf(manifest);
    expect(found.items).to.have.members(present.map(({ id }) => id));
    expect(found.blobs).to.have.members(present.flatMap((item) => itemBlobs.content(item)));
    const { items, blobs, text, vectors, nodes, edges } = manifest.counts;
    expect({ items, blobs, text, vectors, nodes, edges }).to.deep.equal(found.counts);
    const stored = await place.blobs.list(scope, { prefix: place.folder, limit: 1000 });
    const named = ['manifest.json', ...manifest.parts.map(({ name }) => name)].map((name) => `${place.folder}${name}`);
    expect(stored.map(({ key }) => key)).to.have.members(named);

    async function contentOf({ parts }: SnapshotManifest) {
      const content = { items: [] as string[], blobs: [] as string[] };
      const rows = { text: 0, vector: 0, node: 0, edge: 0 };
      for (const part of parts) {
        if (part.kind === 'rows') {
          for await (const line of readRowLines(linesOf(readPart(place, part)))) {
            if (line.kind === 'item') content.items.push(line.item.item);
            else rows[line.kind] += 1;
          }
        }
        if (part.kind === 'blobs') {
          for await (const { key, content: bytes } of splitBlobs(readPart(place, part))) {
            content.blobs.push(key);
            bytes.resume();
            await new Promise((resolve) => bytes.once('close', resolve));
          }
        }
      }
      const { text, vector: vectors, node: nodes, edge: edges } = rows;
      const counts = { items: content.items.length, blobs: content.blobs.length, text, vectors, nodes, edges };
      return { ...content, counts };
    }
  });
});
