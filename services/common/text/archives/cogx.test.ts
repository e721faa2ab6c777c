import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { expect } from 'chai';
import { packedTar } from '../../../../test/support/packed-tar.ts';
import { readCogx, textOf } from './cogx.ts';
import { InvalidArchive, tarMembers } from './members.ts';

const MANIFEST = JSON.stringify({
  cogx_version: '0.1',
  source_system: 'cognee',
  notes: ["Exported from dataset 'd'."],
});

function lines(...records: readonly (object | string)[]): string {
  return records.map((record) => (typeof record === 'string' ? record : JSON.stringify(record))).join('\n');
}

function chunk(document: string, index: number, text: string, more: object = {}): object {
  return { type: 'DocumentChunk', id: `${document}${index}`, document_id: document, chunk_index: index, text, ...more };
}

async function read(files: Readonly<Record<string, string | null>>, maxDocuments = 10) {
  return readCogx(tarMembers(Readable.from([await packedTar(files)])), { maxDocuments });
}

async function refusal(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).to.be.instanceOf(InvalidArchive);
  return (error as Error).message;
}

describe('a COGX archive', () => {
  it('gives documents put together from chunks in any order', async () => {
    const metadata = { node_set: ['a'], source: 'crm', _cognee: { source_uri: 'file:///x/ada.md' } };
    const about = { document_name: 'ada', external_metadata: JSON.stringify(metadata), created_at: 0 };
    await using archive = await read({
      'x.cogx/documents.jsonl': lines({ kind: 'document', external_id: 'a0', content: 'She wrote.' }),
      'x.cogx/nodes.jsonl': lines(
        chunk('a', 1, 'second.', about),
        chunk('b', 0, 'other'),
        chunk('a', 0, 'First, ', about),
      ),
      'x.cogx/link': null,
      'x.cogx/manifest.json': MANIFEST,
    });
    const [first, second] = archive.documents;
    expect(archive.documents).to.have.length(2);
    expect(archive.dataset).to.equal('d');
    expect(first).to.include({ fileName: 'ada.md', createdAt: '1970-01-01T00:00:00.000Z', sizeBytes: 14 });
    expect(first).to.deep.include({ metadata: { source: 'crm' }, nodeSets: ['a'] });
    expect(first && (await textOf(first))).to.equal('First, second.');
    expect(second).to.include({ fileName: null, createdAt: null });
  });

  it('takes documents.jsonl where no node has a text', async () => {
    const document = { external_id: 'm1', content: 'Likes tea.', created_at: '2024-05-02T08:00:00-07:00' };
    await using archive = await read({ 'manifest.json': MANIFEST, 'documents.jsonl': lines(document) });
    expect(archive.documents[0]).to.include({ id: 'm1', createdAt: '2024-05-02T15:00:00.000Z' });
  });

  it('refuses alone a line that is no object and the document that lost a part with it', async () => {
    const nodes = lines(chunk('a', 0, 'whole'), chunk('b', 0, 'begins '), '{oops', '[1]', chunk('b', 2, 'ends'));
    const bad = chunk('c', 0, 'text', { document_name: 'c', external_metadata: '{oops' });
    await using archive = await read({ 'manifest.json': MANIFEST, 'nodes.jsonl': `${nodes}\n${lines(bad)}` });
    expect(archive.documents.map(({ id }) => id)).to.deep.equal(['a']);
    expect(archive.refused).to.deep.equal([
      { name: 'nodes.jsonl line 3', reason: 'The line is no JSON object.' },
      { name: 'nodes.jsonl line 4', reason: 'The line is no JSON object.' },
      { name: 'b', reason: 'A part of its text is in a line that cannot be read.' },
      { name: 'c.txt', reason: 'Its external_metadata is no JSON object.' },
    ]);
  });

  it('refuses what is no archive, is cut off, leads outside or holds too much', async () => {
    const whole = await packedTar({ 'manifest.json': MANIFEST, 'nodes.jsonl': lines(chunk('a', 0, 'x'.repeat(5000))) });
    const opened = (content: Buffer) => refusal(readCogx(tarMembers(Readable.from([content])), { maxDocuments: 1 }));
    expect(await opened(Buffer.from('no archive'))).to.contain('no gzip-compressed tar archive');
    expect(await opened(whole.subarray(0, -20))).to.contain('cut off');
    expect(await refusal(read({ 'nodes.jsonl': '' }))).to.equal('It has no manifest.json.');
    expect(await refusal(read({ 'manifest.json': '{"cogx_version":"7.0"}' }))).to.contain('version "7.0"');
    expect(await refusal(read({ 'manifest.json': MANIFEST, '../x': '' }))).to.contain('leads outside');
    const two = lines(chunk('a', 0, 'x'), chunk('b', 0, 'y'));
    expect(await refusal(read({ 'manifest.json': MANIFEST, 'nodes.jsonl': two }, 1))).to.contain(
      'more than 1 documents',
    );
    const many = Array.from({ length: 1_002 }, () => '{').join('\n');
    expect(await refusal(read({ 'manifest.json': MANIFEST, 'nodes.jsonl': many }))).to.contain('cannot be read');
  });

  it('stops at a member that unpacks to more than it may, with little memory', async () => {
    const header = Buffer.alloc(512);
    header.write('nodes.jsonl');
    header.write('0000644\0', 100);
    header.write('04000000001\0', 124);
    header.write('0', 156);
    header.write('ustar\u000000', 257);
    header.write('        ', 148);
    header.write(
      `${header
        .reduce((sum, byte) => sum + byte, 0)
        .toString(8)
        .padStart(6, '0')}\0 `,
      148,
    );
    const zeros = (function* () {
      yield header;
      for (let at = 0; at < 600; at += 1) yield Buffer.alloc(1024 * 1024);
    })();
    const content = Readable.from(zeros).pipe(createGzip());
    expect(await refusal(readCogx(tarMembers(content), { maxDocuments: 1 }))).to.contain('larger than 512 MiB');
  });
});
