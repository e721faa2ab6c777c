import { expect } from 'chai';
import { decodeSegment, encodeKey, encodeSegment } from './path-encoding.ts';

describe('blob paths', () => {
  it('leave the usual keys readable', () => {
    expect(encodeKey('items/3f2a-9/original')).to.deep.equal(['items', '3f2a-9', 'original=']);
  });

  it('use no character that a file system folds, forbids or gives a meaning to', () => {
    for (const segment of [
      '../..',
      '.',
      '.x',
      'x.',
      'Case',
      'con',
      'NUL.txt',
      'a:b\\c',
      'é',
      '%41',
      'a=b+c',
      '~',
      ' ',
    ]) {
      const encoded = encodeSegment(segment);
      expect(encoded).to.match(/^[a-z0-9_%-]([a-z0-9._%-]*[a-z0-9_%-])?$/);
      expect(decodeSegment(encoded)).to.equal(segment);
    }
    expect(encodeSegment('con.txt')).to.equal('%63on.txt');
    expect(encodeSegment('context')).to.equal('context');
  });

  it('split names that are too long for a file system', () => {
    const steps = encodeKey(`${'語'.repeat(100)}/x`);
    expect(steps.slice(0, -2).every((step) => step.endsWith('+') && step.length <= 181)).to.equal(true);
    expect(steps.at(-1)).to.equal('x=');
  });
});
