import { expect } from 'chai';
import { refusalOf } from '../../../test/support/refusal-of.ts';
import { blobHead } from './item-parts.ts';
import { splitBlobs } from './split-blobs.ts';

describe('blobs of a part', () => {
  it('come out one after the other as they went in, however the bytes are cut', async () => {
    const bytes = Buffer.concat([part({ key: 'one', size: 3 }, 'abc'), part({ key: 'none', size: 0 }, '')]);
    for (const cut of [1, 5, bytes.length]) {
      const found: [string, string][] = [];
      for await (const { key, content } of splitBlobs(pieces(bytes, cut)))
        found.push([key, Buffer.concat(await content.toArray()).toString()]);
      expect(found).to.deep.equal([
        ['one', 'abc'],
        ['none', ''],
      ]);
    }
  });

  it('are damaged where a head is none, and nobody waits for content that never ends', async () => {
    const heads = [null, 5, 'text', [], {}, { key: 'one' }, { size: 1 }, { key: 1, size: 1 }];
    const sizes = [-1, 1.5, '1', null, 2 ** 60].map((size) => ({ key: 'one', size }));
    for (const head of [...heads, ...sizes]) {
      const reading = async () => {
        for await (const { content } of splitBlobs(pieces(part(head, 'abcdef'), 100))) {
          let count = 0;
          // An end that is never reached would hold up the whole process, and so all tests.
          for await (const _ of content) {
            count += 1;
            if (count > 9) throw new Error('it does not end');
          }
        }
      };
      expect(await refusalOf(reading()), JSON.stringify(head)).to.deep.include({
        status: 409,
        text: 'The snapshot cannot be restored: its blobs are damaged. [ConflictError]',
      });
    }
  });
});

function part(head: unknown, content: string): Buffer {
  return Buffer.concat([blobHead(head as Parameters<typeof blobHead>[0]), Buffer.from(content)]);
}

async function* pieces(bytes: Buffer, length: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}
