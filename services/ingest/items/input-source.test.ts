import { expect } from 'chai';
import { baseName, openInput } from './input-source.ts';

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

describe('the address of a code repository', () => {
  const open = (value: string) => {
    const fetcher = { fetch: async () => Promise.reject(new Error('fetched')) };
    const options = { fetcher, readLocal: async () => null, maxBytes: 1000 };
    return openInput({ kind: 'string', value }, options as never, new AbortController().signal).catch(
      (error: Error) => error.message,
    );
  };

  it('is refused with a sentence: its page is not the code', async () => {
    for (const url of ['https://github.com/topoteretes/cognee', 'https://github.com/a/b/', 'https://x.example/a.git']) {
      expect(await open(url)).to.include('does not clone repositories');
    }
    expect(await open('https://user:secret@github.com/a/b?token=x')).to.not.match(/secret|token/);
  });

  it('is told from other addresses of the same host', async () => {
    for (const url of ['https://github.com/a/b/blob/main/README.md', 'https://github.com/about/team']) {
      expect(await open(url)).to.equal('fetched');
    }
  });
});
