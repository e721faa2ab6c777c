import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readlink } from 'node:fs/promises';
import { connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { z } from 'zod';
import { type RunningApp, runApp } from '../../../../test/support/http-app.ts';
import { defineRoute, json, type Route } from './route.ts';
import { NO_PERMISSION } from './route-permission.ts';

let calls = 0;

const routes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    path: '/login',
    tag: 'test',
    summary: 'Knows nobody yet',
    responses: {},
    permission: NO_PERMISSION,
    auth: 'none',
    body: { kind: 'form', schema: z.object({ username: z.string() }) },
    handle: async ({ body }) => json(body),
  }),
  defineRoute({
    method: 'POST',
    path: '/add',
    tag: 'test',
    summary: 'Takes files',
    permission: NO_PERMISSION,
    auth: 'user',
    responses: {},
    body: {
      kind: 'any',
      schema: z.object({ datasetName: z.string().optional(), node_set: z.array(z.string()).optional() }),
      files: ['data'],
    },
    async handle({ body, files }) {
      calls += 1;
      const contents = await Promise.all(
        files.map(async (file) => {
          // Two readers at once must not disturb each other.
          const [one, two] = await Promise.all([buffer(file.open()), buffer(file.open())]);
          return one.equals(two) ? createHash('sha256').update(one).digest('hex') : 'readers disagree';
        }),
      );
      return json({ body, files: files.map(({ open: _, ...file }, index) => ({ ...file, content: contents[index] })) });
    },
  }),
];

interface Added {
  readonly body: Record<string, unknown>;
  readonly files: readonly Record<string, unknown>[];
}

/** Open descriptors of spool files: their names are gone, the kernel still knows them. */
async function openSpoolFiles(directory: string): Promise<number> {
  if (!existsSync('/proc/self/fd')) return 0;
  const targets = await Promise.all(
    (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
  );
  return targets.filter((target) => target.startsWith(directory)).length;
}

describe('multipart forms', () => {
  let app: RunningApp;
  beforeEach(async () => {
    calls = 0;
    app = await runApp({ routes, settings: { drainTimeoutMs: 200 } });
  });
  afterEach(async () => {
    for (let tries = 0; tries < 1000 && (await openSpoolFiles(app.spoolDirectory)) > 0; tries += 1) await sleep(10);
    expect(await openSpoolFiles(app.spoolDirectory)).to.equal(0);
    expect(app.spooled()).to.deep.equal([]);
    await app.stop();
  });

  const detailOf = async (answer: Response) => ((await answer.json()) as { detail: string }).detail;
  const head = (extra = '') =>
    `POST /add HTTP/1.1\r\nHost: a\r\nX-Api-Key: user-key\r\nContent-Type: multipart/form-data; boundary=B\r\n${extra}`;

  it('hands files over with hashes and sizes, small in memory and large from disk, in order', async () => {
    const contents = [
      Buffer.from('small'),
      randomBytes(64 * 1024),
      randomBytes(64 * 1024 + 1),
      randomBytes(900_000),
      Buffer.alloc(0),
    ];
    const form = new FormData();
    for (const [index, content] of contents.entries())
      form.append('data', new Blob([content]), `folder/file ${index} ü.bin`);
    form.append('datasetName', 'd');
    form.append('node_set', 'a');
    form.append('node_set', 'b');
    const { body, files } = (await (await app.post('/add', form)).json()) as Added;
    expect(body).to.deep.equal({ datasetName: 'd', node_set: ['a', 'b'] });
    expect(files).to.have.length(contents.length);
    for (const [index, content] of contents.entries()) {
      const sha256 = createHash('sha256').update(content).digest('hex');
      expect(files[index]).to.deep.equal({
        field: 'data',
        fileName: `folder/file ${index} ü.bin`,
        mimeType: 'application/octet-stream',
        sizeBytes: content.length,
        md5: createHash('md5').update(content).digest('hex'),
        sha256,
        content: sha256,
      });
    }
  });

  it('keeps no file beyond the request, and holds a thousand files', async () => {
    const form = new FormData();
    for (let index = 0; index < 1000; index += 1)
      form.append('data', new Blob([`text ${index}`.repeat(200)]), `${index}.txt`);
    const { files } = (await (await app.post('/add', form)).json()) as Added;
    expect(files).to.have.length(1000);
    expect(files[999]).to.include({ fileName: '999.txt' });
  });

  it('refuses too many files, too many fields and fields above 1 MiB with the words of the contract', async () => {
    const files = new FormData();
    for (let index = 0; index < 1001; index += 1) files.append('data', new Blob(['x']), 'a.txt');
    const fields = new FormData();
    for (let index = 0; index < 1001; index += 1) fields.append('node_set', 'x');
    const long = new FormData();
    long.append('datasetName', 'x'.repeat(2 ** 20 + 1));
    const exact = new FormData();
    exact.append('datasetName', 'x'.repeat(2 ** 20));
    const answers = [await app.post('/add', files), await app.post('/add', fields), await app.post('/add', long)];
    expect(answers.map(({ status }) => status)).to.deep.equal([400, 400, 400]);
    expect(await Promise.all(answers.map(detailOf))).to.deep.equal([
      'Too many files. Maximum number of files is 1000.',
      'Too many fields. Maximum number of fields is 1000.',
      'Field exceeded maximum size of 1024KB.',
    ]);
    expect(calls).to.equal(0);
    expect((await app.post('/add', exact)).status).to.equal(200);
  });

  it('answers 413 when too much is declared, without waiting for it', async () => {
    const answer = await app.wire(`${head('Content-Length: 2147483648\r\n')}\r\n`, {
      enough: (received) => received.includes('PayloadTooLargeError'),
    });
    expect(answer)
      .to.match(/^HTTP\/1\.1 413 /)
      .and.include('4194304 bytes (ENGRAM_UPLOAD_LIMIT_BYTES); it has 2147483648 bytes. [PayloadTooLargeError]');
  });

  it('answers 413 when more arrives than is allowed, and keeps nothing', async () => {
    const form = new FormData();
    form.append('data', new Blob([randomBytes(3 * 2 ** 20)]), 'a');
    form.append('data', new Blob([randomBytes(3 * 2 ** 20)]), 'b');
    // Sent in chunks, so that no length is declared.
    const encoded = new Response(form);
    const answer = await fetch(`${app.url}/add`, {
      method: 'POST',
      headers: { 'x-api-key': 'user-key', 'content-type': encoded.headers.get('content-type') ?? '' },
      body: encoded.body,
      duplex: 'half',
    } as RequestInit);
    expect(answer.status).to.equal(413);
    expect(calls).to.equal(0);
  });

  it('takes 64 KiB from strangers, whatever the kind of the form and whatever others may send', async () => {
    const small = new FormData();
    small.append('username', 'ada'.padEnd(60_000, '.'));
    expect((await app.post('/login', small)).status).to.equal(200);
    const fields = new FormData();
    for (let index = 0; index < 10; index += 1) fields.append(`field ${index}`, 'x'.repeat(10_000));
    const file = new FormData();
    file.append('username', new Blob([randomBytes(2 ** 17)]), 'a');
    for (const body of [fields, file, new URLSearchParams({ username: 'x'.repeat(2 ** 17) })]) {
      const answer = await app.post('/login', body);
      expect(answer.status).to.equal(413);
      expect(await detailOf(answer)).to.match(/^The request body is larger than the limit of 65536 bytes; it has /);
    }
  });

  it('refuses before it takes a byte: no credentials, and a client that asked first', async () => {
    const anonymous = await app.wire(
      `POST /add HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=B\r\nContent-Length: 1000000\r\n\r\n`,
      { enough: (received) => received.includes('detail') },
    );
    expect(anonymous).to.match(/^HTTP\/1\.1 401 /);
    const polite = await app.wire(
      `${head('Content-Length: 999999999\r\nExpect: 100-continue\r\nConnection: close\r\n')}\r\n`,
    );
    expect(polite)
      .to.match(/^HTTP\/1\.1 413 /)
      .and.not.include('100 Continue');
  });

  it('invites the body of a client that asked first', async () => {
    const body = '--B\r\nContent-Disposition: form-data; name="datasetName"\r\n\r\nd\r\n--B--\r\n';
    const answer = await app.wire(
      `${head(`Content-Length: ${body.length}\r\nExpect: 100-continue\r\nConnection: close\r\n`)}\r\n${body}`,
    );
    expect(answer)
      .to.match(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK/)
      .and.include('"datasetName":"d"');
  });

  it('answers a truncated body, a missing boundary and garbage with a clean 400', async () => {
    const cut = `--B\r\nContent-Disposition: form-data; name="data"; filename="a"\r\n\r\n${'x'.repeat(200_000)}`;
    const truncated = await app.wire(`${head(`Content-Length: ${cut.length}\r\nConnection: close\r\n`)}\r\n${cut}`);
    expect(truncated)
      .to.match(/^HTTP\/1\.1 400 /)
      .and.include('malformed or ends too early');
    const boundless = await app.post('/add', 'abc', { 'content-type': 'multipart/form-data' });
    expect([boundless.status, await detailOf(boundless)]).to.deep.equal([400, 'Missing boundary in multipart.']);
    const garbage = await app.post('/add', 'abc', { 'content-type': 'multipart/form-data; boundary=B' });
    expect(garbage.status).to.equal(400);
    expect(calls).to.equal(0);
  });

  it('leaves no file when the client goes away in the middle', async () => {
    const socket = connect(app.port, '127.0.0.1');
    const start = '--B\r\nContent-Disposition: form-data; name="data"; filename="a"\r\n\r\n';
    socket.write(`${head('Content-Length: 3000000\r\n')}\r\n${start}${'x'.repeat(500_000)}`);
    for (let tries = 0; tries < 2000 && (await openSpoolFiles(app.spoolDirectory)) === 0; tries += 1) await sleep(5);
    if (existsSync('/proc/self/fd')) expect(await openSpoolFiles(app.spoolDirectory)).to.equal(1);
    socket.destroy();
    for (let tries = 0; tries < 2000 && !app.log.some(({ event }) => event === 'http.request'); tries += 1)
      await sleep(5);
    expect(app.log.find(({ event }) => event === 'http.request')).to.include({ status: 499, aborted: true });
    expect(calls).to.equal(0);
  });

  it('answers 408 to a client that falls silent in the middle', async () => {
    const slow = await runApp({ routes, settings: { idleTimeoutMs: 60, drainTimeoutMs: 100 } });
    const start = '--B\r\nContent-Disposition: form-data; name="data"; filename="a"\r\n\r\nx';
    const answer = await slow.wire(`${head('Content-Length: 1000\r\n')}\r\n${start}`);
    expect(answer)
      .to.match(/^HTTP\/1\.1 408 /)
      .and.include('did not arrive in time');
    expect(calls).to.equal(0);
    await slow.stop();
  });

  it('answers 408 to a client that sends a little all the time', async () => {
    const slow = await runApp({ routes, settings: { bodyTimeoutMs: 200, drainTimeoutMs: 100 } });
    const start = '--B\r\nContent-Disposition: form-data; name="data"; filename="a"\r\n\r\n';
    const socket = connect(slow.port, '127.0.0.1', () =>
      socket.write(`${head('Content-Length: 1000000\r\n')}\r\n${start}`),
    );
    const drip = setInterval(() => socket.write('x'), 20);
    const answer = await new Promise<string>((resolve) => socket.once('data', (data) => resolve(String(data))));
    clearInterval(drip);
    socket.destroy();
    expect(answer).to.match(/^HTTP\/1\.1 408 /);
    expect(calls).to.equal(0);
    await slow.stop();
  });

  it('reads a refused upload to its end where the connection ends with the answer', async () => {
    const start = '--B\r\nContent-Disposition: form-data; name="data"; filename="a"\r\n\r\n';
    const size = 5 * 2 ** 20;
    const text = `${head(`Connection: close\r\nContent-Length: ${size}\r\n`)}\r\n${start}`;
    const answer = await app.wire(text + 'x'.repeat(size - start.length));
    expect(answer).to.match(/^HTTP\/1\.1 413 /);
  });

  it('does not answer two requests on one connection out of a refused upload', async () => {
    const form = new FormData();
    form.append('datasetName', 'x'.repeat(2 ** 20 + 1));
    form.append('data', new Blob([randomBytes(2 ** 20)]), 'a');
    for (let round = 0; round < 5; round += 1) expect((await app.post('/add', form)).status).to.equal(400);
    expect((await app.get('/')).status).to.equal(200);
  });
});
