import { expect } from 'chai';
import { docxParagraph, makeDocx } from '../../services/common/text/documents/fixtures/make-office.ts';
import { makePdf } from '../../services/common/text/documents/fixtures/make-pdf.ts';
import { type EngramProcess, makeDataDir, startProcess } from '../support/engram-process.ts';
import { partOf } from '../support/extent.ts';
import { leftBehind, NOTHING, residentBytes } from '../support/left-behind.ts';
import { until } from '../support/until.ts';
import { type Answer, createWire, exchange, type Upload, type Wire } from '../support/wire.ts';
import { HOSTILE_DOCUMENTS } from './hostile-documents.ts';

const MIB = 1024 * 1024;

/** `{"detail":[…],"body":…}` with these kinds of fault. */
function expectInvalid(answer: Answer, ...types: readonly string[]): void {
  expect(answer.status, answer.text).to.equal(400);
  expect(Object.keys(answer.json)).to.have.members(['detail', 'body']);
  expect(answer.json.detail.map(({ type }: { type: string }) => type)).to.deep.equal(types);
  for (const item of answer.json.detail) expect(item).to.include.all.keys('loc', 'msg', 'input');
}

function expectRefused(answer: Answer, status: number, wireName: string): void {
  expect(answer.status, answer.text).to.equal(status);
  expect(Object.keys(answer.json)).to.deep.equal(['detail']);
  expect(answer.json.detail).to.match(new RegExp(` \\[${wireName}\\]$`));
}

/** The barrage goes to one process, which must not notice; what it accepted is read back at the end. */
describe('bad input', () => {
  const data = makeDataDir();
  let server: EngramProcess;
  let wire: Wire;
  /** What was accepted: names of items by dataset. */
  const accepted = { fine: 0, odd: 0 };

  before(async () => {
    server = await startProcess({ dataDir: data.path });
    wire = createWire(server.baseUrl);
    expect(
      (await wire.upload('fine', { name: 'ada.txt', content: 'Ada Lovelace met Charles Babbage.' })).status,
    ).to.equal(200);
    expect((await wire.post('/cognify', { datasets: ['fine'] })).status).to.equal(200);
    accepted.fine = 1;
  });
  after(async () => {
    await server.stop();
    data.remove();
  });

  describe('in the request', () => {
    it('is refused when there is nothing to add', async () => {
      const form = new FormData();
      form.append('datasetName', 'odd');
      const empty = { error: "Provide at least one file in 'data' or one entry in 'raw_data'.", detail: null };
      for (const answer of [
        await wire.form('/add', form),
        await wire.post('/add', { datasetName: 'odd' }),
        await wire.post('/add', { datasetName: 'odd', data: '  \n ' }),
        await wire.post('/add', { datasetName: 'odd', data: [] }),
      ]) {
        expect(answer.status).to.equal(400);
        expect(answer.json).to.deep.equal(empty);
      }
    });

    it('is refused when it nests without end', async () => {
      const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
      expectInvalid(await wire.post('/search', deep), 'json_invalid');
      expectInvalid(await wire.post('/search', '['.repeat(1_000_000)), 'json_invalid');
      expectInvalid(await wire.post('/search', `{"query":"x","zzz":${deep}}`), 'json_invalid');
      const form = new FormData();
      form.append('datasetName', 'odd');
      form.append('raw_data', 'with deep metadata');
      form.append('external_metadata', `[{"a":${deep}}]`);
      expectRefused(await wire.form('/add', form), 400, 'InvalidExternalMetadataError');
    });

    it('cannot reach into the prototypes of the server', async () => {
      const answer = await wire.post(
        '/search',
        '{"query":"Ada","__proto__":{"top_k":-1},"constructor":{"prototype":{}}}',
      );
      expect(answer.status).to.equal(200);
    });

    it('leaves nothing when the client hangs up in the middle of a large file', async () => {
      const part = `--x\r\nContent-Disposition: form-data; name="data"; filename="a.txt"\r\n\r\n${'a'.repeat(4 * MIB)}`;
      const head = `POST /api/v1/add HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: ${20 * MIB}\r\n\r\n`;
      await exchange(server.baseUrl, `${head}${part}`, { halfClose: true });
      await until('no nameless file is open', () => leftBehind(data.path, server.pid).openNameless.length === 0);
    });

    it('is refused when it is hardly HTTP', async () => {
      const upgrade =
        'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13';
      for (const request of [
        'BREW /api/v1/add HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n',
        'GET /api/v1/datasets HTTP/1.1\r\nConnection: close\r\n\r\n',
        'POST /api/v1/search HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
        'POST /api/v1/search HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -5\r\n\r\n',
        `GET //:x:y HTTP/1.1\r\nHost: 127.0.0.1\r\n${upgrade}\r\n\r\n`,
        'GET //:x:y HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n',
      ]) {
        expect(await exchange(server.baseUrl, request)).to.match(/^HTTP\/1\.1 40[04] /);
      }
      expect((await wire.get(`/datasets?x=${'a'.repeat(20_000)}`)).status).to.equal(431);
    });
  });

  describe('in an id or a number', () => {
    it('is refused in a name that a run would have to create', async () => {
      for (const name of ['', 'two words', 'a.b', 'half\ud800']) {
        expect((await wire.post('/cognify', { datasets: ['never-made', name] })).status).to.equal(400);
        if (name !== '')
          expectRefused(await wire.post('/add', { data: 'x', datasetName: name }), 400, 'InvalidDatasetNameError');
      }
      expectRefused(await wire.post('/datasets', '{"name":"half\\ud800"}'), 400, 'InvalidDatasetNameError');
    });
  });

  describe('in a document', () => {
    for (const { what, upload, status, detail } of partOf(HOSTILE_DOCUMENTS, 3, 2)) {
      it(`is refused: ${what}`, async () => {
        const answer = await wire.upload('never-made', upload());
        expect(answer.status, answer.text).to.equal(status);
        expect(Object.keys(answer.json)).to.deep.equal(['detail']);
        expect(answer.json.detail).to.match(detail);
      });
    }

    it('is refused behind an address that may not be asked, also when it is to be remembered', async () => {
      for (const path of ['/add', '/remember']) {
        const answer = await wire.post(path, { data: 'http://127.0.0.1:1/x', datasetName: 'never-made' });
        expectRefused(answer, 403, 'SSRFProtectionError');
      }
    });

    it('is refused alone; what could be read beside it is taken', async () => {
      const answer = await wire.upload('odd', { name: 'good.txt', content: 'Good.' }, { name: 'bad.txt', content: '' });
      expect(answer.status).to.equal(200);
      expect(answer.json.refused.map(({ name }: { name: string }) => name)).to.deep.equal(['bad.txt']);
    });
  });

  describe('that can be made sense of', () => {
    const odd: readonly (Upload & { readonly what: string; readonly as: string })[] = [
      { what: 'NUL bytes', name: 'nul.txt', content: 'before\0after: Grace Hopper', as: 'nul' },
      { what: 'one line of a megabyte', name: 'line.txt', content: 'whale ship '.repeat(95_326), as: 'line' },
      { what: 'one word of a megabyte', name: 'word.txt', content: 'a'.repeat(MIB), as: 'word' },
      { what: 'an unknown charset', name: 'c.txt', content: 'plain', type: 'text/plain; charset=klingon', as: 'c' },
      { what: 'a text named PDF', name: 'note.pdf', content: 'This is only a note.', as: 'note' },
      { what: 'a PDF named text', name: 'real.txt', content: makePdf([[{ text: 'Alan Turing', y: 700 }]]), as: 'real' },
      { what: 'a DOCX named Markdown', name: 'w.md', content: makeDocx(docxParagraph('Kurt Gödel')), as: 'w' },
      { what: 'a path upwards', name: '../../etc/passwd', content: 'one', as: 'passwd' },
      { what: 'an absolute path', name: '/etc/shadow', content: 'two', as: 'shadow' },
      { what: 'a Windows path', name: 'C:\\x', content: 'three', as: 'x' },
      { what: 'the parent folder as name', name: '..', content: 'four', as: 'file' },
      { what: 'a name of 5,000 characters', name: `${'n'.repeat(5000)}.txt`, content: 'five', as: 'n'.repeat(251) },
      { what: 'a name with quotes and a line break', name: 'a"\r\nX: y.txt', content: 'six', as: 'a"X: y' },
      {
        what: 'a percent-encoded path',
        name: '%2Ftmp%2Fmy%20notes%2Fd%C3%A9j%C3%A0.txt',
        content: 'seven',
        as: 'déjà',
      },
      { what: 'a name with a percent sign', name: '50% of 100%ff.txt', content: 'eight', as: '50% of 100%ff' },
    ];

    before(() => {
      accepted.odd = odd.length + 2;
    });

    for (const { what, ...upload } of odd) {
      it(`is taken: ${what}`, async () => {
        const answer = await wire.upload('odd', upload);
        expect(answer.status, answer.text).to.equal(200);
        const [dataset] = (await wire.get('/datasets')).json.filter(({ name }: { name: string }) => name === 'odd');
        const [newest] = (await wire.get(`/datasets/${dataset.id}/data?limit=1`)).json;
        expect(newest.name).to.equal(upload.as);
        const raw = await wire.get(`/datasets/${dataset.id}/data/${newest.id}/raw`);
        expect(raw.status).to.equal(200);
        expect(raw.headers.get('content-disposition')).to.not.match(/[\r\n]|\.\.\//);
      });
    }

    it('is taken: a lone surrogate in a JSON text, as the replacement character', async () => {
      expect((await wire.post('/add', `{"data":"lone \\ud800 surrogate","datasetName":"odd"}`)).status).to.equal(200);
      for (const query of ['\\ud800', 'lone \\udc00\\ud800 surrogate', '\\u0000', '"*', 'NEAR(a b) AND NOT "']) {
        const body = `{"query":${JSON.stringify(query).replaceAll('\\\\u', '\\u')},"datasets":["fine"],"search_type":"CHUNKS"}`;
        expect((await wire.post('/search', body)).status).to.equal(200);
      }
    });
  });

  describe('leaves behind', () => {
    it('a server that answers, and builds and finds what it took', async () => {
      const built = await wire.post('/cognify', { datasets: ['odd', 'fine'] });
      expect(built.status, built.text).to.equal(200);
      for (const [query, found] of [
        ['Grace Hopper', 'before'],
        ['Alan Turing', 'Alan Turing'],
        ['Kurt Gödel', 'Gödel'],
      ]) {
        const body = { query, datasets: ['odd'], search_type: 'CHUNKS_LEXICAL', top_k: 3 };
        expect((await wire.post('/search', body)).text).to.include(found);
      }
    });

    it('exactly the datasets and items that it took, no spooled file, no orphan, no intent', async () => {
      const datasets: readonly { readonly id: string; readonly name: keyof typeof accepted }[] = (
        await wire.get('/datasets')
      ).json;
      expect(datasets.map(({ name }) => name)).to.have.members(['fine', 'odd']);
      for (const { id, name } of datasets) {
        expect((await wire.get(`/datasets/${id}/data/count`)).json).to.deep.equal({ count: accepted[name] });
      }
      expect(leftBehind(data.path, server.pid)).to.deep.equal(NOTHING);
    });

    it('no error that it did not foresee in its log', () => {
      const errors = server
        .output()
        .split('\n')
        .filter((line) => /"level":"(error|fatal)"|^\s+at /.test(line));
      expect(errors).to.deep.equal([]);
    });

    it('memory within bounds', function () {
      const memory = residentBytes(server.pid);
      if (memory === null) this.skip();
      expect(memory.peak).to.be.below(900 * MIB);
    });
  });
});
