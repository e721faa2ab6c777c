import { expect } from 'chai';
import { baseName } from './input-source.ts';

describe('the name of an upload', () => {
  it('is the last segment of a path in any spelling', () => {
    for (const path of [
      '../../etc/passwd',
      '/etc/passwd',
      'C:\\Windows\\passwd',
      '..\\passwd',
      'passwd/',
      'a/./passwd/..',
    ]) {
      expect(baseName(path)).to.equal('passwd');
    }
    for (const path of ['', '.', '..', '/', '\\', '\u0000', ' ', '../..']) expect(baseName(path)).to.equal('file');
  });

  it('has no control characters', () => {
    expect(baseName('a\r\nSet-Cookie: b\u0000.txt')).to.equal('aSet-Cookie: b.txt');
  });

  it('is cut to what a file system takes, and keeps its extension', () => {
    const name = baseName(`${'😀'.repeat(5000)}.md`);
    expect(name).to.have.length.at.most(255);
    expect(name).to.match(/\.md$/);
    expect(name.isWellFormed()).to.equal(true);
    expect(baseName(`${'x'.repeat(300)}.${'y'.repeat(300)}`)).to.have.length(255);
  });
});
