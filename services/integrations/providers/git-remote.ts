import { createHash } from 'node:crypto';
import { inflateSync } from 'node:zlib';
import { SourceBusyError, waitMsOf } from './connector.ts';

interface GitFile {
  readonly sha: string;
  readonly content: Uint8Array;
}

export interface GitHead {
  readonly commit: string;
  /** By path. A file that is larger than the limit is left out where the server can leave it out. */
  readonly files: ReadonlyMap<string, GitFile>;
}

interface GitAsked {
  readonly token: string;
  readonly signal: AbortSignal;
  /** Files are not read where this is the last commit already. */
  readonly known: string | null;
}

const MAX_FILE_BYTES = 1024 * 1024;
const MAX_PACK_BYTES = 64 * 1024 * 1024;
const MAX_UNPACKED_BYTES = 256 * 1024 * 1024;
const NONE = /^0+$/;

/**
 * Reads the files of the last commit over Git's protocol for HTTP (gitprotocol-http, gitformat-pack): one request names the
 * commit, another brings it without its past. Null: there is no repository, or nothing in it; `unchanged`: it is the known one.
 */
export async function readGitHead(url: string, asked: GitAsked): Promise<GitHead | 'unchanged' | null> {
  const { known, signal } = asked;
  const authorization = `Basic ${Buffer.from(`x-access-token:${asked.token}`).toString('base64')}`;
  const headers = { authorization, 'user-agent': 'git/engram' };
  const named = await answered(await fetch(`${url}/info/refs?service=git-upload-pack`, { headers, signal }));
  if (named === null) return null;
  const [first = ''] = linesOf(named).lines.filter((line) => !line.startsWith('#'));
  const [reference = '', offered = ''] = first.split('\0');
  const commit = reference.slice(0, 40);
  if (!/^[0-9a-f]{40} HEAD\s*$/.test(reference) || NONE.test(commit)) return null;
  if (commit === known) return 'unchanged';
  const filters = offered.split(/\s/).includes('filter');
  const wanted = [
    line(`want ${commit} no-progress${filters ? ' filter' : ''} agent=engram\n`),
    line('deepen 1\n'),
    ...(filters ? [line(`filter blob:limit=${MAX_FILE_BYTES}\n`)] : []),
    `0000${line('done\n')}`,
  ];
  const sent = { ...headers, 'content-type': 'application/x-git-upload-pack-request' };
  const request = { method: 'POST', headers: sent, body: wanted.join(''), signal };
  const packed = await answered(await fetch(`${url}/git-upload-pack`, request));
  if (packed === null) return null;
  const { lines, end } = linesOf(packed);
  const refusal = lines.find((one) => one.startsWith('ERR '));
  if (refusal !== undefined) throw new Error(`The server of Git refused: ${refusal.slice(4).trim()}`);
  const objects = unpack(packed.subarray(end));
  const tree = /^tree ([0-9a-f]{40})/.exec(objects.get(commit)?.content.toString('latin1') ?? '')?.[1] ?? '';
  return { commit, files: new Map(filesOf(objects, tree, '')) };
}

/** The bytes of an answer; null: there is no such repository. */
async function answered(response: Response): Promise<Buffer | null> {
  const { status } = response;
  const size = Number(response.headers.get('content-length') ?? 0);
  if (!response.ok || size > MAX_PACK_BYTES) await response.body?.cancel();
  if (status === 404) return null;
  if (status === 429) throw new SourceBusyError(waitMsOf(response.headers.get('retry-after'), 60_000));
  if (!response.ok) throw new Error(`The server of Git answered with status ${status}.`);
  const pieces: Uint8Array[] = [];
  let bytes = size > MAX_PACK_BYTES ? size : 0;
  for await (const piece of size > MAX_PACK_BYTES ? [] : (response.body ?? [])) {
    bytes += piece.byteLength;
    if (bytes > MAX_PACK_BYTES) break;
    pieces.push(piece);
  }
  if (bytes > MAX_PACK_BYTES) throw new Error(`The repository has more than ${MAX_PACK_BYTES} bytes.`);
  return Buffer.concat(pieces);
}

/** A line with its length, as both sides of the protocol send it. */
function line(text: string): string {
  return (text.length + 4).toString(16).padStart(4, '0') + text;
}

/** The lines that an answer begins with, and where they end. */
function linesOf(answer: Buffer): { readonly lines: readonly string[]; readonly end: number } {
  const lines: string[] = [];
  let at = 0;
  while (at + 4 <= answer.length) {
    const length = Number.parseInt(answer.toString('latin1', at, at + 4), 16);
    if (Number.isNaN(length)) break;
    if (length > 4) lines.push(answer.toString('utf8', at + 4, at + length));
    at += Math.max(length, 4);
  }
  return { lines, end: at };
}

interface GitObject {
  readonly type: string;
  readonly content: Buffer;
}

const TYPES = new Map([
  [1, 'commit'],
  [2, 'tree'],
  [3, 'blob'],
  [4, 'tag'],
]);
const DELTA = 7;

/** The objects of a pack by their names. Those that are kept as a difference name another one, which may come later. */
function unpack(pack: Buffer): ReadonlyMap<string, GitObject> {
  const objects = new Map<string, GitObject>();
  if (pack.toString('latin1', 0, 4) !== 'PACK') throw new Error('The server of Git sent no pack.');
  const keep = (type: string, content: Buffer) => {
    const name = createHash('sha1').update(`${type} ${content.length}\0`).update(content).digest('hex');
    objects.set(name, { type, content });
  };
  let waiting: { readonly base: string; readonly delta: Buffer }[] = [];
  let at = 12;
  let unpacked = 0;
  for (let left = pack.readUInt32BE(8); left > 0; left -= 1) {
    const kind = ((pack[at] ?? 0) >> 4) & 7;
    let [size, shift] = [(pack[at] ?? 0) & 15, 4];
    for (; (pack[at] ?? 0) & 128; shift += 7) {
      at += 1;
      size += ((pack[at] ?? 0) & 127) * 2 ** shift;
    }
    at += 1;
    const base = kind === DELTA ? pack.toString('hex', at, at + 20) : '';
    if (kind === DELTA) at += 20;
    unpacked += size;
    if (unpacked > MAX_UNPACKED_BYTES) throw tooLarge();
    const { buffer, engine } = inflateSync(pack.subarray(at), { info: true, maxOutputLength: size + 1 }) as unknown as {
      readonly buffer: Buffer;
      readonly engine: { readonly bytesWritten: number };
    };
    at += engine.bytesWritten;
    const type = TYPES.get(kind);
    if (type !== undefined) keep(type, buffer);
    else if (kind === DELTA) waiting.push({ base, delta: buffer });
    else throw new Error(`The pack has an object of kind ${kind}.`);
  }
  for (let before = -1; waiting.length > 0 && waiting.length !== before; ) {
    before = waiting.length;
    waiting = waiting.filter(({ base, delta }) => {
      const known = objects.get(base);
      if (known === undefined) return true;
      const content = applied(known.content, delta);
      unpacked += content.length;
      if (unpacked > MAX_UNPACKED_BYTES) throw tooLarge();
      keep(known.type, content);
      return false;
    });
  }
  return objects;
}

function tooLarge(): Error {
  return new Error(`The repository has more than ${MAX_UNPACKED_BYTES} bytes.`);
}

/** The content that a difference makes of another one: it copies stretches of that, and brings others itself. */
function applied(base: Buffer, delta: Buffer): Buffer {
  let at = 0;
  const number = (): number => {
    let [value, shift] = [0, 0];
    for (; ; shift += 7) {
      const byte = delta[at++] ?? 0;
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
  };
  const [from, size] = [number(), number()];
  if (size > MAX_UNPACKED_BYTES) throw tooLarge();
  const pieces: Buffer[] = [];
  let copied = 0;
  while (at < delta.length) {
    const step = delta[at++] ?? 0;
    if (step < 128) {
      pieces.push(delta.subarray(at, at + step));
      at += step;
      continue;
    }
    const part = (bits: number, first: number) => {
      let value = 0;
      for (let bit = 0; bit < bits; bit += 1) if (step & (first << bit)) value += (delta[at++] ?? 0) * 256 ** bit;
      return value;
    };
    const [start, length] = [part(4, 1), part(3, 16)];
    pieces.push(base.subarray(start, start + (length || 0x10000)));
    copied += length || 0x10000;
    if (copied > size) break;
  }
  const content = Buffer.concat(pieces);
  if (base.length !== from || content.length !== size) throw new Error('The pack has an object that cannot be read.');
  return content;
}

function* filesOf(
  objects: ReadonlyMap<string, GitObject>,
  tree: string,
  folder: string,
): Generator<readonly [string, GitFile]> {
  const { content, type } = objects.get(tree) ?? {};
  if (content === undefined || type !== 'tree') throw new Error('The pack lacks a folder.');
  for (let at = 0; at < content.length; ) {
    const end = content.indexOf(0, at);
    const [, mode = '', name = ''] = /^(\d+) (.*)$/s.exec(content.toString('utf8', at, end)) ?? [];
    const sha = content.toString('hex', end + 1, end + 21);
    at = end + 21;
    if (mode === '40000') yield* filesOf(objects, sha, `${folder}${name}/`);
    const file = mode.startsWith('100') ? objects.get(sha) : undefined;
    if (file?.type === 'blob') yield [`${folder}${name}`, { sha, content: file.content }];
  }
}
