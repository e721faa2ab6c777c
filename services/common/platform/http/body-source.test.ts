import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { createBodySource } from './body-source.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** A request of many chunks, with weak references to what it has handed out. */
function requestOf(count: number) {
  const seen: WeakRef<Buffer>[] = [];
  async function* produce() {
    for (let index = 0; index < count; index += 1) {
      const chunk = Buffer.alloc(64 * 1024, index);
      seen.push(new WeakRef(chunk));
      yield chunk;
    }
  }
  const stream = Readable.from(produce(), { objectMode: false, highWaterMark: 64 * 1024 });
  const request = Object.assign(stream, { headers: { 'transfer-encoding': 'chunked' }, complete: true });
  return { request: request as unknown as IncomingMessage, seen };
}

describe('createBodySource', () => {
  it('holds no chunk that was read: an upload costs no memory', async () => {
    const { request, seen } = requestOf(100);
    const source = createBodySource(request, {} as ServerResponse);
    let received = 0;
    let alive = Number.NaN;
    for await (const chunk of source.chunks({ limitBytes: 2 ** 30, setting: 'X' })) {
      received += chunk.length;
      if (seen.length !== 90) continue;
      await turn();
      collectGarbage();
      alive = seen.filter((reference) => reference.deref() !== undefined).length;
    }
    expect(received).to.equal(100 * 64 * 1024);
    expect(alive).to.be.lessThan(20);
  });

  it('leaves the rest to whoever discards it when the reader stops early', async () => {
    const { request } = requestOf(10);
    const source = createBodySource(request, {} as ServerResponse);
    for await (const _ of source.chunks({ limitBytes: 2 ** 30, setting: 'X' })) break;
    const ended = new Promise((resolve) => request.once('end', () => resolve('ended')));
    request.resume();
    expect(await ended).to.equal('ended');
  });
});
