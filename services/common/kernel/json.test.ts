import { expect } from 'chai';
import { expectQuick, threadCpuTimeMs } from '../../../test/support/cpu-time.ts';
import { findExcess, MAX_JSON_DEPTH, parseClientJson } from './json.ts';

const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;

describe('JSON of clients', () => {
  it('may nest to the limit and no deeper', () => {
    expect(parseClientJson(nested(MAX_JSON_DEPTH))).to.be.an('array');
    expect(() => parseClientJson(nested(MAX_JSON_DEPTH + 1))).to.throw(SyntaxError, 'nested deeper');
    expect(findExcess(`{"a":${nested(100_000)}}`)).to.deep.equal({ limit: 'depth', offset: 5 + MAX_JSON_DEPTH - 1 });
  });

  it('is not measured by brackets inside texts, nor by many values beside each other', () => {
    expect(findExcess(JSON.stringify({ text: '[{"\\'.repeat(5000) }))).to.equal(null);
    expect(findExcess(JSON.stringify(Array.from({ length: 5000 }, () => [{}])))).to.equal(null);
    expect(findExcess(JSON.stringify({ ['['.repeat(1000)]: 'a\\' }))).to.equal(null);
  });

  it('may have so many values and no more, wherever they are', () => {
    for (const value of [Array.from({ length: 2000 }, () => 1), { a: Array.from({ length: 1999 }, () => '",[{') }]) {
      expect(findExcess(JSON.stringify(value), 2001)).to.equal(null);
      expect(findExcess(JSON.stringify(value), 1999)).to.deep.equal({ limit: 'values' });
    }
    expect(findExcess('[1,2]', 2)).to.deep.equal({ limit: 'values' });
  });

  it('is read to the end of each string, however many quotes and backslashes it has', () => {
    for (const end of ['\\', '"', '\\"', '\\\\', '"\\']) {
      const text = JSON.stringify([`${'[{'.repeat(1000)}${end}`, '[['.repeat(1000)]);
      expect(findExcess(text, 3), text.slice(-2010)).to.equal(null);
    }
  });

  it('is measured in linear time', () => {
    const text = JSON.stringify({ text: 'x'.repeat(8_000_000), list: Array.from({ length: 200_000 }, () => []) });
    const start = threadCpuTimeMs();
    expect(findExcess(text)).to.equal(null);
    expectQuick(threadCpuTimeMs() - start, 1000);
  });
});
