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
const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const NO_UUID = 'not-a-uuid';

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
    it('is refused when there is no body', async () => {
      for (const path of ['/cognify', '/search', '/recall', '/forget', '/datasets']) {
        for (const [body, type] of [
          ['', 'missing'],
          ['null', 'model_attributes_type'],
        ] as const) {
          const answer = await wire.post(path, body);
          expectInvalid(answer, type);
          expect(answer.json).to.deep.include({ body: null });
          expect(answer.json.detail[0]).to.deep.include({ loc: ['body'], input: null });
        }
      }
      expect((await wire.post('/add', '')).json).to.deep.equal({
        error: 'Either datasetId or datasetName must be provided.',
        detail: null,
      });
    });

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

    it('is refused when it is no JSON, with the place and the text', async () => {
      const text = '{"query": "x",}';
      const answer = await wire.post('/search', text);
      expectInvalid(answer, 'json_invalid');
      expect(answer.json.detail[0].loc).to.deep.equal(['body', 14]);
      expect(answer.json.body).to.equal(text);
      expectInvalid(await wire.post('/search', '[1]'), 'model_attributes_type');
      expectInvalid(await wire.post('/search', 'query=x', { 'content-type': 'text/plain' }), 'model_attributes_type');
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

    it('is refused when its declared size is over the limit, before a byte of it was read', async () => {
      for (const [path, type] of [
        ['add', 'multipart/form-data; boundary=x'],
        ['search', 'application/json'],
      ]) {
        const head = `POST /api/v1/${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: ${type}\r\nContent-Length: 2147483648\r\n`;
        for (const extra of ['', 'Expect: 100-continue\r\n']) {
          const answer = await exchange(server.baseUrl, `${head}${extra}\r\n`, {
            enough: (received) => received.endsWith('}'),
          });
          expect(answer)
            .to.match(/^HTTP\/1\.1 413 /)
            .and.match(/2147483648 bytes\. \[PayloadTooLargeError\]"\}$/);
        }
      }
    });

    it('is refused when it grows over the limit on the way', async () => {
      const chunk = Buffer.alloc(MIB, 'a');
      let sent = 0;
      const body = new ReadableStream({
        pull(controller) {
          sent += 1;
          if (sent > 200) controller.close();
          else controller.enqueue(chunk);
        },
      });
      const init = {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
        duplex: 'half',
      } as RequestInit;
      const answer = await fetch(`${server.baseUrl}/api/v1/search`, init).catch((error: Error) => error);
      // A client that goes on sending may find the connection closed before it reads the answer.
      if (!(answer instanceof Error)) expect(answer.status).to.equal(413);
      expect((await wire.get('/datasets')).status).to.equal(200);
    });

    it('is refused when its multipart form ends too early or has no boundary', async () => {
      const part = '--x\r\nContent-Disposition: form-data; name="data"; filename="a.txt"\r\n\r\nhello wor';
      const head = (type: string, length: number) =>
        `POST /api/v1/add HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Type: multipart/form-data${type}\r\nContent-Length: ${length}\r\n\r\n`;
      const whole = await exchange(server.baseUrl, `${head('; boundary=x', part.length)}${part}`);
      expect(whole)
        .to.match(/^HTTP\/1\.1 400 /)
        .and.include('{"detail":"The multipart body is malformed or ends too early."}');
      const none = await exchange(server.baseUrl, `${head('', part.length)}${part}`);
      expect(none)
        .to.match(/^HTTP\/1\.1 400 /)
        .and.include('{"detail":"Missing boundary in multipart."}');
      const gone = await exchange(server.baseUrl, `${head('; boundary=x', 5000)}${part}`, { halfClose: true });
      expect(gone).to.match(/^HTTP\/1\.1 400 /);
    });

    it('leaves nothing when the client hangs up in the middle of a large file', async () => {
      const part = `--x\r\nContent-Disposition: form-data; name="data"; filename="a.txt"\r\n\r\n${'a'.repeat(4 * MIB)}`;
      const head = `POST /api/v1/add HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: ${20 * MIB}\r\n\r\n`;
      await exchange(server.baseUrl, `${head}${part}`, { halfClose: true });
      await until('no nameless file is open', () => leftBehind(data.path, server.pid).openNameless.length === 0);
    });

    it('is refused when a form has too many or too large parts', async () => {
      const files = Array.from({ length: 1001 }, (_, index): Upload => ({ name: `${index}.txt`, content: 'x' }));
      const many = await wire.upload('odd', ...files);
      expect(many.status).to.equal(400);
      expect(many.json).to.deep.equal({ detail: 'Too many files. Maximum number of files is 1000.' });
      const form = new FormData();
      form.append('datasetName', 'odd');
      form.append('raw_data', 'x'.repeat(MIB + 1));
      const large = await wire.form('/add', form);
      expect(large.status).to.equal(400);
      expect(large.json).to.deep.equal({ detail: 'Field exceeded maximum size of 1024KB.' });
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
    const byId = (id: string): readonly [string, () => Promise<Answer>][] => [
      ['data', () => wire.get(`/datasets/${id}/data`)],
      ['graph', () => wire.get(`/datasets/${id}/graph`)],
      ['raw', () => wire.get(`/datasets/${id}/data/${UNKNOWN}/raw`)],
      ['page', () => wire.get(`/visualize?dataset_id=${id}`)],
      ['add', () => wire.post('/add', { data: 'x', datasetId: id })],
      ['cognify', () => wire.post('/cognify', { datasetIds: [id] })],
      ['search', () => wire.post('/search', { query: 'x', datasetIds: [id] })],
      ['recall', () => wire.post('/recall', { query: 'x', datasetIds: [id] })],
      ['forget', () => wire.post('/forget', { datasetId: id })],
      ['delete', () => wire.remove(`/datasets/${id}`)],
    ];

    it('is 400 for an id that is no UUID', async () => {
      for (const [what, send] of byId(NO_UUID)) {
        const answer = await send();
        expect(answer.status, what).to.equal(400);
        expect(answer.json.detail[0], what).to.include({ type: 'uuid_parsing', input: NO_UUID });
      }
      for (const id of ['%00', '%E0%A4%A', '..%2f..%2fetc', '%F0%9F%98%80']) {
        expectInvalid(await wire.get(`/datasets/${id}/data`), 'uuid_parsing');
      }
    });

    it('is 403 for an id that nobody has', async () => {
      for (const [what, send] of byId(UNKNOWN)) {
        const answer = await send();
        expect(answer.status, what).to.equal(403);
        expect(answer.json.detail, what).to.match(
          /^Request owner does not have necessary permission: .+ \[PermissionDeniedError\]$/,
        );
      }
      expectRefused(await wire.remove(`/delete?data_id=${UNKNOWN}`), 404, 'DataNotFoundError');
      expectRefused(await wire.post('/search', { query: 'x', datasets: ['nowhere'] }), 404, 'DatasetNotFoundError');
    });

    it('is 422 for a top_k of 0 or −1, 400 for one that is no integer, and a thousand million is served', async () => {
      for (const path of ['/search', '/recall']) {
        const ask = (topK: string) => wire.post(path, `{"query":"Ada","datasets":["fine"],"top_k":${topK}}`);
        for (const topK of ['0', '-1', '"-1"', '-0']) expectRefused(await ask(topK), 422, 'QueryValidationError');
        expectInvalid(await ask('"x"'), 'int_parsing');
        expectInvalid(await ask('1.5'), 'int_from_float');
        expectInvalid(await ask('[]'), 'int_type');
        expect((await ask('1e400')).status).to.equal(400);
        for (const topK of ['1000000000', '"7"', '9007199254740991']) {
          const answer = await ask(topK);
          expect(answer.status).to.equal(200);
          expect(answer.text).to.include('Ada');
        }
      }
    });

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
