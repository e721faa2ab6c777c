import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { packedTar } from '../../../../test/support/packed-tar.ts';
import type { EngramError } from '../../kernel/errors.ts';
import { isFileArchive, readFileArchive } from './file-archive.ts';
import { docxParagraph, makeDocx, makeZip } from './fixtures/make-office.ts';

const FILES = {
  'shop/src/a.ts': 'export const a = 1;',
  'shop/README.md': '# Shop',
  'shop/.git/config': 'x',
  'shop/node_modules/koa/index.js': 'x',
  '__MACOSX/._a.ts': 'x',
  'shop/empty.py': '',
  'shop/inner.zip': 'PK',
};
const PATHS = ['shop/src/a.ts', 'shop/README.md', 'shop/inner.zip'];

async function refusal(fileName: string, content: Uint8Array) {
  const error = await readFileArchive(fileName, content).then(
    () => null,
    (thrown: EngramError) => thrown,
  );
  return `${error?.wireName}: ${error?.message}`;
}

describe('archives of files', () => {
  it('are known by their names, other than documents and archives of a memory', () => {
    for (const name of ['a.zip', 'A.ZIP', 'a.tar', 'a.tar.gz', 'a.tgz'])
      expect(isFileArchive(name), name).to.equal(true);
    for (const name of ['a.docx', 'a.gz', 'zip', 'a.cogx.tar.gz']) expect(isFileArchive(name), name).to.equal(false);
  });

  it('give their files with their paths, without hidden, empty and generated ones', async () => {
    const tgz = await packedTar({ ...FILES, 'shop/link': null });
    const archives: readonly (readonly [string, Uint8Array])[] = [
      ['s.zip', makeZip(FILES)],
      ['s.tgz', tgz],
      ['s.tar', gunzipSync(tgz)],
    ];
    for (const [name, content] of archives) {
      const archive = await readFileArchive(name, content);
      expect(
        archive?.files.map(({ path }) => path),
        name,
      ).to.deep.equal(PATHS);
      expect(Buffer.from(archive?.files[0]?.content ?? []).toString(), name).to.equal(FILES['shop/src/a.ts']);
    }
  });

  it('lose a damaged file alone', async () => {
    const zip = Buffer.from(makeZip({ 'a.txt': 'first '.repeat(100), 'b.txt': 'second' }));
    zip.fill(0xff, 40, 45);
    const archive = await readFileArchive('s.zip', zip);
    expect(archive?.files.map(({ path }) => path)).to.deep.equal(['b.txt']);
    expect(archive?.unread.map(({ path, error }) => [path, error.wireName])).to.deep.equal([
      ['a.txt', 'UnreadableFileContentError'],
    ]);
  });

  it('are refused whole when they lead outside, unpack to too much, are none, or hold nothing', async () => {
    for (const name of ['../x.txt', '/etc/x.txt', 'a/../../x.txt', 'C:\\x.txt']) {
      expect(await refusal('s.zip', makeZip({ [name]: 'x' })), name).to.match(/^UnreadableFile.+leads outside/);
    }
    expect(await refusal('s.tgz', await packedTar({ '../x.txt': 'x' }))).to.match(/^UnreadableFile.+leads outside/);
    const large = makeZip({ 'a.txt': '0'.repeat(130 * 1024 * 1024) });
    expect(await refusal('s.zip', large)).to.match(/^PayloadTooLargeError: 's.zip' unpacks to too much/);
    const many = Object.fromEntries(Array.from({ length: 10_001 }, (_, at) => [`${at}.txt`, 'x']));
    expect(await refusal('s.zip', makeZip(many))).to.match(/^PayloadTooLargeError/);
    expect(await refusal('s.tgz', await packedTar(many))).to.match(/^PayloadTooLargeError/);
    expect(await refusal('s.tgz', Buffer.from('no archive'))).to.match(/^UnreadableFileContentError/);
    expect(await refusal('s.zip', makeZip({ '.env': 'x' }))).to.match(/^UnsupportedFileTypeError.+without files/);
  });

  it('are no archives of files when they are documents', async () => {
    expect(await readFileArchive('letter.zip', makeDocx(docxParagraph('Dear Ada')))).to.equal(null);
  });
});
