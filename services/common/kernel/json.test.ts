import { expect } from 'chai';
import { cpuTimeMs } from '../../../test/support/cpu-time.ts';
import { findTooDeep, MAX_JSON_DEPTH, parseClientJson } from './json.ts';

const nested = (depth: number, inner = '') => `${'['.repeat(depth)}${inner}${']'.repeat(depth)}`;

describe('JSON of clients', () => {
  it('may nest to the limit and no deeper', () => {
    expect(parseClientJson(nested(MAX_JSON_DEPTH))).to.be.an('array');
    expect(() => parseClientJson(nested(MAX_JSON_DEPTH + 1))).to.throw(SyntaxError, 'nested deeper');
    expect(findTooDeep(`{"a":${nested(100_000)}}`)).to.equal(5 + MAX_JSON_DEPTH - 1);
  });

  it('is not measured by brackets inside texts, nor by many values beside each other', () => {
    expect(findTooDeep(JSON.stringify({ text: '[{"\\'.repeat(5000) }))).to.equal(null);
    expect(findTooDeep(JSON.stringify(Array.from({ length: 5000 }, () => [{}])))).to.equal(null);
    expect(findTooDeep(JSON.stringify({ ['['.repeat(1000)]: 'a\\' }))).to.equal(null);
  });

  it('is measured in linear time', () => {
    const text = JSON.stringify({ text: 'x'.repeat(8_000_000), list: Array.from({ length: 200_000 }, () => []) });
    const start = cpuTimeMs();
    expect(findTooDeep(text)).to.equal(null);
    expect(cpuTimeMs() - start).to.be.below(1000);
  });
});
