import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import {
  md5,
  REMOTE_KEY,
  type RemoteMemoryServer,
  startRemoteMemory,
} from '../../../../test/support/remote-memory-server.ts';
import type { DatasetId } from '../../kernel/brand.ts';
import { isEngramError } from '../../kernel/errors.ts';
import { asId } from '../../kernel/ids.ts';
import type { OutgoingFile, RemoteMemory } from '../../ports/remote-memory.ts';
import { createHttpRemoteMemory } from './http-remote-memory.ts';

const DATASET = { id: asId<DatasetId>('11111111-2222-4333-8444-555555555555'), name: 'notes "and" more' };
const ITEM = '99999999-2222-4333-8444-555555555555';

function fileOf(content: Buffer, name = 'letter.txt'): OutgoingFile {
  const facts = { id: ITEM, mimeType: 'text/plain', extension: 'txt' };
  return { ...facts, name, hash: md5(content), sizeBytes: content.byteLength, body: Readable.from([content]) };
}

async function faultOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => expect.fail('it succeeded'),
    (reason: unknown) => reason,
  );
  expect(error).to.satisfy(isEngramError);
  expect(error).to.include({ wireName: 'CloudConnnectionError' });
  expect(String(error)).to.not.contain(REMOTE_KEY).and.not.contain('127.0.0.1');
  return String(error);
}

/** A file to its end; where it fails depends on how fast this machine is. */
async function readAll(remote: RemoteMemory): Promise<Buffer> {
  const file = await remote.download(DATASET, md5('x'));
  return buffer(file?.body ?? Readable.from([]));
}

describe('the remote memory over HTTP', () => {
  let remote: RemoteMemoryServer;
  beforeEach(async () => {
    remote = await startRemoteMemory();
  });
  afterEach(() => remote[Symbol.asyncDispose]());
  const client = (silenceMs?: number) =>
    createHttpRemoteMemory({
      baseUrl: remote.baseUrl,
      key: REMOTE_KEY,
      ...(silenceMs === undefined ? {} : { silenceMs }),
    });

  it('speaks the protocol: compare, upload, download, prune, cognify', async () => {
    const here = Buffer.from('what is here');
    const there = remote.put(DATASET.id, 'Grüße.txt', 'what is there');
    const difference = await client().diff(DATASET, [md5(here)]);
    expect(difference).to.deep.equal({ missingOnRemote: [md5(here)], missingOnLocal: [there] });
    await client().upload(DATASET, fileOf(here, 'a "quoted"\r\nnäme.txt'));
    const kept = remote.items(DATASET.id).get(md5(here));
    expect(kept?.content.toString()).to.equal('what is here');
    expect(kept?.fields).to.deep.equal({
      dataset_id: DATASET.id,
      dataset_name: DATASET.name,
      data_id: ITEM,
      mime_type: 'text/plain',
      extension: 'txt',
      md5: md5(here),
    });
    const file = await client().download(DATASET, there);
    expect(file).to.include({ fileName: 'Grüße.txt', mimeType: 'text/plain' });
    expect(String(await buffer(file?.body ?? Readable.from([])))).to.equal('what is there');
    expect(await client().download(DATASET, md5('nothing'))).to.equal(null);
    await client().prune(DATASET, [md5(here)]);
    expect([...remote.items(DATASET.id).keys()]).to.deep.equal([md5(here)]);
    await client().cognify([DATASET.id]);
    expect(remote.requests.map(({ line }) => line.replace(/[0-9a-f-]{32,36}/g, '*'))).to.deep.equal([
      ...['POST /api/sync/*/diff', 'PUT /api/sync/*/data/*', 'GET /api/sync/*/data/*', 'GET /api/sync/*/data/*'],
      ...['PUT /api/sync/*?prune=true', 'POST /api/cognify'],
    ]);
    expect(remote.requests[0]?.json).to.deep.equal({
      dataset_id: DATASET.id,
      dataset_name: DATASET.name,
      hashes: [md5(here)],
    });
    expect(remote.requests.at(-1)?.json).to.deep.include({ dataset_ids: [DATASET.id] });
  });

  it('reads a file no faster than the remote takes it', async () => {
    const piece = Buffer.alloc(1 << 20);
    let made = 0;
    const pieces = async function* () {
      for (; made < 64; made += 1) yield piece;
    };
    const received = Promise.withResolvers<void>();
    remote.intercept((_line, request, response) => {
      request.once('readable', received.resolve); // and takes nothing
      request.once('close', () => response.destroy());
      return true;
    });
    const giveUp = new AbortController();
    const file = { ...fileOf(piece), sizeBytes: 64 * piece.byteLength, body: Readable.from(pieces()) };
    const uploading = client().upload(DATASET, file, giveUp.signal);
    await received.promise;
    const before = made;
    giveUp.abort(new Error('given up'));
    expect(String(await uploading.catch((error: unknown) => error))).to.contain('given up');
    expect(before).to.be.lessThan(64);
    expect(file.body.destroyed).to.equal(true);
  });

  it('takes every other status for a failure, and carries the key to no other address', async () => {
    const elsewhere: unknown[] = [];
    await using other = await startRemoteMemory();
    other.intercept((line) => elsewhere.push(line) > 0);
    for (const status of [301, 307, 400, 401, 403, 404, 429, 500, 503]) {
      remote.intercept((_line, request, response) => {
        request.resume();
        response.writeHead(status, status < 400 ? { location: `${other.baseUrl}/api/sync/x/diff` } : {}).end('no');
        return true;
      });
      for (const work of [
        () => client().diff(DATASET, []),
        () => client().upload(DATASET, fileOf(Buffer.from('x'))),
        () => client().prune(DATASET, []),
        () => client().cognify([DATASET.id]),
        ...(status === 404 ? [] : [() => client().download(DATASET, md5('x'))]),
      ]) {
        expect(await faultOf(work())).to.contain(`status ${status}`);
      }
    }
    expect(elsewhere).to.deep.equal([]);
  });

  it('believes no answer that it cannot make sense of', async () => {
    for (const answer of [
      ...['', 'null', '[]', '{"missing_on_remote":[]}', '{"missing_on_remote":[],"missing_on_local":"all"}'],
      '{"missing_on_remote":[],"missing_on_local":["../../../etc/passwd"]}',
    ]) {
      remote.intercept((_line, request, response) => {
        request.resume();
        response.end(answer);
        return true;
      });
      await faultOf(client().diff(DATASET, []));
    }
  });

  it('waits for no remote that is silent, gone, or dies in the middle of a file', async () => {
    remote.intercept(() => true);
    expect(await faultOf(client(50).prune(DATASET, []))).to.contain('silent');
    remote.intercept((_line, request) => {
      request.socket.destroy();
      return true;
    });
    expect(await faultOf(client().upload(DATASET, fileOf(Buffer.from('x'))))).to.contain('cannot be reached');
    const gone = createHttpRemoteMemory({ baseUrl: 'http://127.0.0.1:9', key: REMOTE_KEY });
    expect(await faultOf(gone.diff(DATASET, []))).to.contain('cannot be reached');
    remote.intercept((_line, request, response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('the first bytes', () => request.socket.destroy());
      return true;
    });
    const file = await client().download(DATASET, md5('x'));
    expect(await faultOf(buffer(file?.body ?? Readable.from([])))).to.contain('broke off');
    remote.intercept((_line, _request, response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('the first bytes');
      return true;
    });
    await faultOf(readAll(client(50)));
  });

  it('reads no more than a little of an answer that it does not look at', async () => {
    let sent = 0;
    const isOver = Promise.withResolvers<void>();
    remote.intercept((_line, request, response) => {
      request.resume();
      response.writeHead(200);
      const flood = (): void => {
        while (!response.destroyed && sent < 2 ** 30) {
          sent += 2 ** 20;
          if (!response.write(Buffer.alloc(2 ** 20))) break;
        }
      };
      response.on('drain', flood).on('close', isOver.resolve);
      flood();
      return true;
    });
    await client().prune(DATASET, []);
    await isOver.promise;
    expect(sent).to.be.lessThan(2 ** 28);
  });

  it('waits for no remote that sends for ever', async () => {
    const trickle = setInterval(() => open?.write(' '), 5);
    let open: ServerResponse | undefined;
    remote.intercept((_line, request, response) => {
      request.resume();
      response.writeHead(200);
      open = response;
      return true;
    });
    const limits = { baseUrl: remote.baseUrl, key: REMOTE_KEY, transferMs: 100, answerMs: 100 };
    const impatient = createHttpRemoteMemory(limits);
    await faultOf(impatient.diff(DATASET, []));
    await faultOf(readAll(impatient));
    clearInterval(trickle);
  });

  it('fails with the file when that cannot be read to its end', async () => {
    const broken = new Readable({
      read() {
        this.destroy(new Error('the disk is broken'));
      },
    });
    const failure = await client()
      .upload(DATASET, { ...fileOf(Buffer.from('12345')), body: broken })
      .catch((error: unknown) => error);
    expect(String(failure)).to.contain('the disk is broken');
    const short = { ...fileOf(Buffer.from('12345')), sizeBytes: 6 };
    const cut = await client()
      .upload(DATASET, short)
      .catch((error: unknown) => error);
    expect(String(cut)).to.contain('5 bytes, not 6');
    expect(remote.items(DATASET.id).size).to.equal(0);
  });
});
