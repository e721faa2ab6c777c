import { expect } from 'chai';
import { readJson } from './json.ts';

describe('readJson', () => {
  it('reads a field with more records than a call can have arguments', () => {
    const text = JSON.stringify({ records: Array.from({ length: 200_000 }, (_, n) => ({ n, name: `r${n}` })) });
    const context = { limits: { maxDepth: 16 } } as Parameters<typeof readJson>[1];
    expect(readJson(text, context).blocks).to.have.length(200_000);
  });
});
