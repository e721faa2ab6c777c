import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import { createMemoryBlobStore } from '../../../../test/support/memory/blob-store.ts';
import { createFileBlobStore } from '../blobs/files/blob-store.ts';
import type { BlobStore } from '../ports/blob-store.ts';
import { partPlace } from './manifest.ts';
import { lineOf, linesOf, readPart, writePart } from './part-stream.ts';

const NAMED = { kind: 'rows', name: 'rows-1' } as const;

async function* pieces(count: number, thenFail: boolean): AsyncGenerator<string> {
  for (let at = 0; at < count; at++) yield lineOf([at, randomBytes(3_000).toString('base64')]);
  if (thenFail) throw new Error('the source is broken');
}

describe('parts of a snapshot', () => {
  let folder: string;
  const stores: Record<string, BlobStore> = {};
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'engram-parts-'));
    stores['files'] = await createFileBlobStore({ directory: folder });
    stores['memory'] = createMemoryBlobStore();
  });
  after(() => rm(folder, { recursive: true, force: true }));

  for (const name of ['files', 'memory']) {
    it(`come back line by line as they were written: ${name}`, async () => {
      const place = partPlace(stores[name] as BlobStore, 'tenant', 'snapshot');
      const part = await writePart(place, NAMED, pieces(200, false));
      const found: unknown[] = [];
      for await (const line of linesOf(readPart(place, part))) found.push((line as unknown[])[0]);
      expect(found).to.deep.equal(Array.from({ length: 200 }, (_, at) => at));
      const stored = await buffer((await place.blobs.get(place.scope, `${place.folder}rows-1`)) as never);
      expect(stored.length).to.equal(part.sizeBytes);
    });

    for (const count of [0, 1, 100, 2000]) {
      it(`fail with what their source fails of after ${count} pieces, and leave nothing: ${name}`, async () => {
        const place = partPlace(stores[name] as BlobStore, 'tenant', `failing-${count}`);
        const error = await writePart(place, NAMED, pieces(count, true)).catch((reason: unknown) => reason);
        expect(error).to.be.an('error').with.property('message', 'the source is broken');
        expect(await place.blobs.list(place.scope, { prefix: place.folder, limit: 1 })).to.deep.equal([]);
      });
    }
  }

  it('are refused when a line of them is longer than any that is written, or none', async () => {
    const place = partPlace(stores['memory'] as BlobStore, 'tenant', 'bomb');
    const read = async (content: readonly string[]): Promise<unknown> => {
      const part = await writePart(
        place,
        NAMED,
        (async function* () {
          yield* content;
        })(),
      );
      try {
        for await (const _ of linesOf(readPart(place, part), 1_000_000));
        return null;
      } catch (error) {
        return error;
      }
    };
    expect(await read([lineOf(['a'.repeat(500_000)]), lineOf(['b'.repeat(900_000)])])).to.equal(null);
    expect(await read(['a'.repeat(5_000_000)]))
      .to.have.property('message')
      .that.includes('more than 1000000 bytes');
    expect(await read(['no JSON\n']))
      .to.have.property('message')
      .that.includes('damaged');
  });
});
