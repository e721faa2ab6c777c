import type { RequestReader } from './counting-proxy.ts';

/** Takes one message from the front of what has come so far; null: not whole yet. The name is null for what is no request. */
type TakeMessage = (bytes: Buffer) => { readonly length: number; readonly name: string | null } | null;

function framed(take: TakeMessage): RequestReader {
  let pending: Buffer = Buffer.alloc(0);
  return (piece) => {
    pending = pending.length === 0 ? piece : Buffer.concat([pending, piece]);
    const names: string[] = [];
    for (;;) {
      const message = take(pending);
      if (message === null) return names;
      pending = pending.subarray(message.length);
      if (message.name !== null) names.push(message.name);
    }
  };
}

const OP_MSG = 2013;
const MONGODB_HEADER_BYTES = 16;
/** What the driver does by itself. */
const MONGODB_UPKEEP = new Set(['hello', 'ismaster', 'ping', 'endSessions']);

/** `command collection`: the first field of the command's document. Messages as `OP_MSG` say theirs. */
export function mongodbCommands(): RequestReader {
  return framed((bytes) => {
    if (bytes.length < MONGODB_HEADER_BYTES) return null;
    const length = bytes.readInt32LE(0);
    if (bytes.length < length) return null;
    if (bytes.readInt32LE(12) !== OP_MSG) return { length, name: null };
    // Flags (4 bytes), kind of the section (1), length of the document (4), type of its first field (1).
    const field = MONGODB_HEADER_BYTES + 10;
    const end = bytes.indexOf(0, field);
    const command = bytes.toString('utf8', field, end);
    if (MONGODB_UPKEEP.has(command)) return { length, name: null };
    const isText = bytes[field - 1] === 2;
    const collection = isText ? bytes.toString('utf8', end + 5, end + 4 + bytes.readInt32LE(end + 1)) : '';
    return { length, name: `${command} ${collection}`.trim() };
  });
}

/** `METHOD last part of the path`, for HTTP/1.1 with `Content-Length`. */
export function httpRequests(): RequestReader {
  return framed((bytes) => {
    const end = bytes.indexOf('\r\n\r\n');
    if (end < 0) return null;
    const head = bytes.toString('latin1', 0, end);
    if (/^transfer-encoding:/im.test(head)) throw new Error('a chunked request cannot be counted');
    const length = end + 4 + Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
    if (bytes.length < length) return null;
    const [method, path = '/'] = head.split(' ', 2);
    if (path === '/' || path.startsWith('/_cluster')) return { length, name: null };
    return { length, name: `${method} ${path.split('?')[0]?.split('/').at(-1)}` };
  });
}

/** Subjects that something is published to, without the prefix; answers and acknowledgements are none. */
export function natsRequests(prefix: string): () => RequestReader {
  return () =>
    framed((bytes) => {
      const end = bytes.indexOf('\r\n');
      if (end < 0) return null;
      const [verb = '', subject = '', ...rest] = bytes.toString('latin1', 0, end).split(' ');
      if (verb !== 'PUB' && verb !== 'HPUB') return { length: end + 2, name: null };
      const length = end + 2 + Number(rest.at(-1)) + 2;
      if (bytes.length < length) return null;
      if (/^(_INBOX|\$JS)\./.test(subject)) return { length, name: null };
      return { length, name: subject.replace(`${prefix}.`, '') };
    });
}

const BOLT_HANDSHAKE_BYTES = 20;
/** The version chosen (4) and no capabilities (1). */
const BOLT_MANIFEST_ANSWER_BYTES = 5;
const BOLT_RUN = 0x10;

/** The beginning of each statement's text. */
export function boltStatements(): RequestReader {
  let state: 'handshake' | 'maybe-manifest' | 'messages' = 'handshake';
  return framed((bytes) => {
    if (state === 'handshake') {
      if (bytes.length < BOLT_HANDSHAKE_BYTES) return null;
      state = 'maybe-manifest';
      return { length: BOLT_HANDSHAKE_BYTES, name: null };
    }
    if (bytes.length < 2) return null;
    if (state === 'maybe-manifest') {
      // A message begins with the length of its first part, which is not 0.
      const isManifest = bytes.readUInt16BE(0) === 0;
      if (isManifest && bytes.length < BOLT_MANIFEST_ANSWER_BYTES) return null;
      state = 'messages';
      if (isManifest) return { length: BOLT_MANIFEST_ANSWER_BYTES, name: null };
    }
    return takeBoltMessage(bytes);
  });
}

/** Parts with a length before each, and a part of length 0 at the end. */
function takeBoltMessage(bytes: Buffer): ReturnType<TakeMessage> {
  let at = 0;
  for (;;) {
    if (bytes.length < at + 2) return null;
    const partBytes = bytes.readUInt16BE(at);
    at += 2 + partBytes;
    if (partBytes === 0) break;
  }
  const isRun = at > 4 && bytes[3] === BOLT_RUN;
  return { length: at, name: isRun ? statementOf(bytes.subarray(4, at)) : null };
}

const NAME_CHARACTERS = 90;

/** A text is led by its length, in as many bytes as that needs. */
function statementOf(text: Buffer): string {
  const [start, bytes] = textPlace(text);
  return text
    .toString('utf8', start, start + Math.min(bytes, 4 * NAME_CHARACTERS))
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, NAME_CHARACTERS);
}

function textPlace(text: Buffer): readonly [start: number, bytes: number] {
  const marker = text.readUInt8(0);
  if (marker === 0xd0) return [2, text.readUInt8(1)];
  if (marker === 0xd1) return [3, text.readUInt16BE(1)];
  if (marker === 0xd2) return [5, text.readUInt32BE(1)];
  return [1, marker & 0x0f];
}
