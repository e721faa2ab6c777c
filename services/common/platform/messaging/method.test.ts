import { expect } from 'chai';
import { defineTopic } from './method.ts';

describe('messages whose codecs are loaded with the first call', () => {
  it('are asked for again when they could not be loaded, as when a module cannot be read at that moment', async () => {
    let loads = 0;
    const text = { encode: (value: string) => Buffer.from(value), decode: (bytes: Uint8Array) => String(bytes) };
    const { codec } = defineTopic<string>('test', async () => {
      loads += 1;
      if (loads === 1) throw new Error('too many open files');
      return text;
    });
    expect(await codec().catch((error: Error) => error.message)).to.equal('too many open files');
    expect([await codec(), await codec(), loads]).to.deep.equal([text, text, 2]);
  });
});
