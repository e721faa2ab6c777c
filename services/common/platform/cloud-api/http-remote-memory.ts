import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type EngramError, engramError } from '../../kernel/errors.ts';
import type { RemoteDifference, RemoteFile, RemoteMemory } from '../../ports/remote-memory.ts';

interface HttpRemoteMemoryOptions {
  /** `COGNEE_SERVICE_URL`, without a slash at its end. */
  readonly baseUrl: string;
  /** Undefined: none is sent. */
  readonly key: string | undefined;
  /** How long the remote may be silent; default 60 000. */
  readonly silenceMs?: number;
  /** Time limits of one request with its whole answer: of files, default a day; of others, default 600 000. */
  readonly transferMs?: number;
  readonly answerMs?: number;
}

/** Statuses by which a remote says that it cannot take a file, however often it is sent. */
const FILE_REFUSALS: ReadonlySet<number> = new Set([413, 415, 422]);

const HASH = /^[0-9a-f]{32}$/;
/** Limit of one answer in JSON: it names nearly two million files. */
const MAX_JSON_BYTES = 64 * 1024 * 1024;
/** Limit of an answer that is not used. */
const MAX_IGNORED_BYTES = 1024 * 1024;

/** Over HTTP. Redirects are not followed: they would carry the key to wherever they point. */
export function createHttpRemoteMemory(options: HttpRemoteMemoryOptions): RemoteMemory {
  const { ask, sendForStatus } = createRequests(options);
  return {
    async diff({ id, name }, hashes, signal) {
      const what = 'comparing the files';
      const body = jsonBody({ dataset_id: id, dataset_name: name, hashes });
      const answer = await ask(what, { method: 'POST', path: `/sync/${encodeURIComponent(id)}/diff`, body, signal });
      const said = await textOf(answer, MAX_JSON_BYTES).catch((error: unknown) => {
        signal?.throwIfAborted();
        throw failed(what, 'its answer broke off or is too large', error);
      });
      requireSuccess(what, answer);
      return differenceOf(what, said);
    },
    async download({ id }, hash, signal) {
      const what = 'downloading a file';
      const path = `/sync/${encodeURIComponent(id)}/data/${encodeURIComponent(hash)}`;
      const answer = await ask(what, { method: 'GET', path, signal });
      if (answer.statusCode !== 200) answer.destroy();
      if (answer.statusCode === 404) return null;
      requireSuccess(what, answer);
      return fileOf(what, answer);
    },
    async upload({ id, name }, file, signal) {
      const fields = [
        ['dataset_id', id],
        ['dataset_name', name],
        ['data_id', file.id],
        ['mime_type', file.mimeType],
        ['extension', file.extension],
        ['md5', file.hash],
      ] as const;
      const body = multipartForm({ ...file, field: 'file' }, fields);
      const path = `/sync/${encodeURIComponent(id)}/data/${encodeURIComponent(file.id)}`;
      try {
        return await sendForStatus('uploading a file', { method: 'PUT', path, body, signal }, FILE_REFUSALS);
      } finally {
        file.body.destroy();
      }
    },
    async prune({ id }, hashes, signal) {
      const path = `/sync/${encodeURIComponent(id)}?prune=true`;
      await sendForStatus('pruning the dataset', { method: 'PUT', path, body: jsonBody({ items: hashes }), signal });
    },
    async cognify(datasets, signal) {
      const body = jsonBody({ dataset_ids: datasets, run_in_background: true, custom_prompt: '' });
      await sendForStatus('starting cognify', { method: 'POST', path: '/cognify', body, signal });
    },
  };
}

function createRequests(options: HttpRemoteMemoryOptions) {
  const { baseUrl, key, silenceMs = 60_000 } = options;
  const { transferMs = 86_400_000, answerMs = 600_000 } = options;
  const ask = async (
    what: string,
    request: Pick<SendRequest, 'method' | 'signal'> & { readonly path: string; readonly body?: OutgoingBody },
  ): Promise<IncomingMessage> => {
    const { path, signal, ...rest } = request;
    const url = `${baseUrl}/api${path}`;
    const deadline = AbortSignal.timeout(path.includes('/data/') ? transferMs : answerMs);
    try {
      return await sendRequest({
        ...rest,
        url,
        headers: key === undefined ? {} : { 'x-api-key': key },
        silenceMs,
        signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
      });
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof RemoteFault) throw failed(what, error.message, error);
      throw error;
    }
  };
  /** Sends a request for its status; the body is read all the same, so that the remote sees no closed connection. */
  const sendForStatus = async (
    what: string,
    request: Parameters<typeof ask>[1],
    refusals: ReadonlySet<number> = new Set(),
  ): Promise<boolean> => {
    const answer = await ask(what, request);
    await readAway(answer).catch(() => null);
    if (refusals.has(answer.statusCode ?? 0)) return false;
    requireSuccess(what, answer);
    return true;
  };
  return { ask, sendForStatus };
}

function jsonBody(value: unknown): OutgoingBody {
  const content = Buffer.from(JSON.stringify(value));
  return { contentType: 'application/json', sizeBytes: content.byteLength, content: Readable.from([content]) };
}

function requireSuccess(what: string, { statusCode = 0 }: IncomingMessage): void {
  if (statusCode < 200 || statusCode >= 300) throw failed(what, `it answered with status ${statusCode}`);
}

function failed(what: string, reason: string, cause?: unknown): EngramError {
  return engramError('CloudConnnectionError', `The remote memory failed at ${what}: ${reason}.`, { cause });
}

function differenceOf(what: string, said: string): RemoteDifference {
  let parsed: unknown;
  try {
    parsed = JSON.parse(said);
  } catch (error) {
    throw failed(what, 'its answer is no JSON', error);
  }
  const answer = (parsed ?? {}) as Readonly<Record<string, unknown>>;
  const hashes = (field: string): readonly string[] => {
    const list = answer[field];
    // Hashes become parts of paths, here and there.
    if (!Array.isArray(list) || !list.every((hash): hash is string => typeof hash === 'string' && HASH.test(hash))) {
      throw failed(what, `its answer has no list of hashes in ${field}`);
    }
    return [...new Set(list)];
  };
  return { missingOnRemote: hashes('missing_on_remote'), missingOnLocal: hashes('missing_on_local') };
}

/** A body that ends early ends with an error of ours. */
function fileOf(what: string, answer: IncomingMessage): RemoteFile {
  const pieces = async function* (): AsyncGenerator<Buffer> {
    try {
      for await (const piece of answer as AsyncIterable<Buffer>) yield piece;
    } catch (error) {
      throw failed(what, 'it broke off in the middle of the file', error);
    }
  };
  const body = Readable.from(pieces(), { objectMode: false });
  body.once('close', () => answer.destroy());
  const mimeType = answer.headers['content-type']?.split(';', 1)[0]?.trim();
  return { fileName: headerText(answer.headers['x-file-name']), mimeType: mimeType || null, body };
}

/** Keeps nothing of it; leaving the loop ends the connection. */
async function readAway(answer: IncomingMessage): Promise<void> {
  let bytes = 0;
  for await (const piece of answer as AsyncIterable<Buffer>) {
    bytes += piece.byteLength;
    if (bytes > MAX_IGNORED_BYTES) return;
  }
}

/** Rejects when it is longer; leaving the loop ends the connection. */
async function textOf(answer: IncomingMessage, maxBytes: number): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of answer as AsyncIterable<Buffer>) {
    bytes += piece.byteLength;
    if (bytes > maxBytes) throw new Error(`the answer is larger than ${maxBytes} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

/** Headers arrive as Latin-1; what is UTF-8 in truth is read as that. */
function headerText(value: string | readonly string[] | undefined): string | null {
  const raw = typeof value === 'string' ? value : value?.[0];
  if (raw === undefined || raw === '') return null;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(raw, 'latin1'));
  } catch {
    return raw;
  }
}

interface FormFile {
  readonly field: string;
  readonly name: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  readonly body: Readable;
}

/** One file and text fields as `multipart/form-data` of a known length; the file streams through. */
function multipartForm(file: FormFile, fields: readonly (readonly [string, string])[]): OutgoingBody {
  const boundary = `engram-${randomUUID()}`;
  const head = Buffer.from(
    `--${boundary}\r\nContent-Disposition: form-data; name="${escaped(file.field)}"; filename="${escaped(file.name)}"\r\n` +
      `Content-Type: ${file.mimeType.replaceAll(/[^\x21-\x7e ]/g, '')}\r\n\r\n`,
  );
  const texts = fields.map(
    ([name, value]) =>
      `\r\n--${boundary}\r\nContent-Disposition: form-data; name="${escaped(name)}"\r\n\r\n${value.toWellFormed()}`,
  );
  const tail = Buffer.from(`${texts.join('')}\r\n--${boundary}--\r\n`);
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    sizeBytes: head.byteLength + file.sizeBytes + tail.byteLength,
    content: Readable.from(parts(head, file, tail), { objectMode: false }),
  };
}

async function* parts(head: Buffer, { body, sizeBytes }: FormFile, tail: Buffer): AsyncGenerator<Buffer> {
  yield head;
  let sent = 0;
  for await (const piece of body as AsyncIterable<Buffer>) {
    sent += piece.byteLength;
    yield piece;
  }
  if (sent !== sizeBytes) throw new Error(`the file has ${sent} bytes, not ${sizeBytes}`);
  yield tail;
}

/** Escapes names as browsers do (HTML, multipart/form-data encoding). */
function escaped(name: string): string {
  return name.toWellFormed().replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

interface OutgoingBody {
  readonly contentType: string;
  readonly sizeBytes: number;
  readonly content: Readable;
}

interface SendRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: OutgoingBody;
  /** How long nothing may go in either direction. */
  readonly silenceMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Error of the remote side; its message names no account. */
class RemoteFault extends Error {
  override readonly name = 'RemoteFault';
}

/**
 * Resolves with status and headers; the body is the caller's to read, and is destroyed with the signal and by silence. The
 * answer may come before all of the body was sent. A body that cannot be read rejects as it does.
 */
function sendRequest(options: SendRequest): Promise<IncomingMessage> {
  const { method, url, headers, body, silenceMs, signal } = options;
  const target = new URL(url);
  // With the first request: TLS would cost each start 20 ms.
  const client = process.getBuiltinModule(target.protocol === 'https:' ? 'node:https' : 'node:http');
  const bodyHeaders =
    body === undefined ? {} : { 'content-type': body.contentType, 'content-length': String(body.sizeBytes) };
  return new Promise((resolve, reject) => {
    const request = client.request(target, {
      method,
      agent: false,
      headers: { ...headers, ...bodyHeaders },
      ...(signal === undefined ? {} : { signal }),
    });
    request.setTimeout(silenceMs, () =>
      request.destroy(new RemoteFault(`it was silent for ${silenceMs / 1000} seconds`)),
    );
    request.once('response', resolve);
    request.on('error', (error) => reject(error instanceof RemoteFault ? error : unreachable(error)));
    if (body === undefined) {
      request.end();
      return;
    }
    body.content.once('error', reject);
    // What the connection has to say comes as the request's error, or as an answer.
    pipeline(body.content, request).catch(() => null);
  });
}

function unreachable(cause: Error): RemoteFault {
  const code = (cause as { code?: unknown }).code;
  return new RemoteFault(`it cannot be reached${typeof code === 'string' ? ` (${code})` : ''}`, { cause });
}
