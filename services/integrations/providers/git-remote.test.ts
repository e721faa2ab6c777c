import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { deflateSync } from 'node:zlib';
import { expect } from 'chai';
import { readGitHead } from './git-remote.ts';

/** A number in the base-128 form that sizes have in packs. */
function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let left = value; ; left = Math.floor(left / 128)) {
    if (left < 128) return Buffer.from([...bytes, left]);
    bytes.push((left % 128) + 128);
  }
}

function packOf(...objects: readonly Buffer[]): Buffer {
  const head = Buffer.alloc(12);
  head.write('PACK');
  head.writeUInt32BE(2, 4);
  head.writeUInt32BE(objects.length, 8);
  return Buffer.concat([head, ...objects]);
}

/** An object of up to 2,047 bytes in a pack. */
function packed(kind: number, content: Buffer, base = Buffer.alloc(0)): Buffer {
  const size = Buffer.from([128 + (kind << 4) + (content.length & 15), content.length >> 4]);
  return Buffer.concat([size, base, deflateSync(content)]);
}

describe('a remote repository of Git', () => {
  it('is refused when a small difference would unpack to more than fits', async () => {
    const blob = Buffer.alloc(100, 'x');
    const name = createHash('sha1').update('blob 100\0').update(blob).digest();
    // Copies nothing yet: its size alone says what it would become.
    const delta = Buffer.concat([varint(blob.length), varint(2 ** 34)]);
    const pack = packOf(packed(3, blob), packed(7, delta, name));
    const commit = 'a'.repeat(40);
    const line = (text: string) => (text.length + 4).toString(16).padStart(4, '0') + text;
    const server = createServer(({ method }, response) => {
      response.end(
        method === 'GET'
          ? `${line(`${commit} HEAD\0shallow\n`)}0000`
          : Buffer.concat([Buffer.from(line('NAK\n')), pack]),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/wiki.git`;
    const asked = { token: 'token', signal: AbortSignal.timeout(10_000), known: null };
    const failure = await readGitHead(url, asked).catch((error: unknown) => error);
    server.close();
    expect(failure)
      .to.be.an('error')
      .with.property('message')
      .that.matches(/more than 268435456 bytes/);
  });
});
