import { inflateRawSync } from 'node:zlib';
import { engramError } from '../../../kernel/errors.ts';
import type { ParseContext } from './limits.ts';

/**
 * Reads single parts of a ZIP file, each unpacked when it is asked for. Sizes that the archive declares are not believed: unpacking
 * stops at the limits. Nothing is ever unpacked twice or recursively, so a bomb costs at most `maxExpandedBytes`.
 */
export interface ZipArchive {
  readonly names: readonly string[];
  has(name: string): boolean;
  /** Null when there is no such part. Errors: `UnreadableFileContentError` (damaged, encrypted), `PayloadTooLargeError`. */
  read(name: string): Uint8Array | null;
  readText(name: string): string | null;
}

interface Entry {
  readonly name: string;
  readonly encrypted: boolean;
  readonly method: number;
  readonly packedBytes: number;
  readonly headerOffset: number;
}

const END_OF_DIRECTORY = 0x06054b50;
const ZIP64_LOCATOR = 0x07064b50;
const DIRECTORY_ENTRY = 0x02014b50;
const LOCAL_HEADER = 0x04034b50;

/** Below this size a part is harmless whatever its ratio. */
const RATIO_MATTERS_ABOVE_BYTES = 8 * 1024 * 1024;

export function openZip(content: Uint8Array, context: ParseContext): ZipArchive {
  const view = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const entries = new Map(readDirectory(view, context).map((entry) => [entry.name, entry]));
  const parts = new Map<string, Uint8Array>();
  let expandedBytes = 0;
  const read = (name: string): Uint8Array | null => {
    const known = parts.get(name);
    if (known !== undefined) return known;
    const entry = entries.get(name);
    if (entry === undefined) return null;
    const part = unpack(view, entry, { context, remainingBytes: context.limits.maxExpandedBytes - expandedBytes });
    expandedBytes += part.byteLength;
    parts.set(name, part);
    return part;
  };
  return {
    names: [...entries.keys()],
    has: (name) => entries.has(name),
    read,
    readText: (name) => {
      const part = read(name);
      return part === null ? null : decodePart(part);
    },
  };
}

/** XML parts are UTF-8, or UTF-16 with a byte order mark. */
function decodePart(part: Uint8Array): string {
  const isUtf16 = (part[0] === 0xff && part[1] === 0xfe) || (part[0] === 0xfe && part[1] === 0xff);
  return new TextDecoder(isUtf16 ? (part[0] === 0xff ? 'utf-16le' : 'utf-16be') : 'utf-8').decode(part);
}

function damaged(context: ParseContext, reason: string, cause?: unknown): Error {
  return engramError(
    'UnreadableFileContentError',
    `'${context.fileName}' cannot be read: its archive is damaged (${reason})`,
    {
      cause,
    },
  );
}

function readDirectory(view: Buffer, context: ParseContext): Entry[] {
  const { count, offset } = locateDirectory(view, context);
  if (count > context.limits.maxArchiveEntries) {
    throw engramError(
      'PayloadTooLargeError',
      `'${context.fileName}' has ${count} archive entries; the limit is ${context.limits.maxArchiveEntries}`,
    );
  }
  const entries: Entry[] = [];
  let position = offset;
  for (let index = 0; index < count; index += 1) {
    if (position + 46 > view.length || view.readUInt32LE(position) !== DIRECTORY_ENTRY)
      throw damaged(context, 'directory cut off');
    const nameLength = view.readUInt16LE(position + 28);
    const extraLength = view.readUInt16LE(position + 30);
    const commentLength = view.readUInt16LE(position + 32);
    const nameEnd = position + 46 + nameLength;
    const extra = view.subarray(nameEnd, nameEnd + extraLength);
    const wide = wideFields(extra, {
      expandedBytes: view.readUInt32LE(position + 24),
      packedBytes: view.readUInt32LE(position + 20),
      headerOffset: view.readUInt32LE(position + 42),
    });
    entries.push({
      name: view.toString('utf8', position + 46, nameEnd).replaceAll('\\', '/'),
      encrypted: (view.readUInt16LE(position + 8) & 1) === 1,
      method: view.readUInt16LE(position + 10),
      packedBytes: wide.packedBytes,
      headerOffset: wide.headerOffset,
    });
    position = nameEnd + extraLength + commentLength;
  }
  return entries;
}

function locateDirectory(view: Buffer, context: ParseContext): { count: number; offset: number } {
  const lowest = Math.max(0, view.length - 65_557);
  for (let position = view.length - 22; position >= lowest; position -= 1) {
    if (view.readUInt32LE(position) !== END_OF_DIRECTORY) continue;
    const count = view.readUInt16LE(position + 10);
    const offset = view.readUInt32LE(position + 16);
    const locator = position - 20;
    if (locator < 0 || view.readUInt32LE(locator) !== ZIP64_LOCATOR) return { count, offset };
    const end = Number(view.readBigUInt64LE(locator + 8));
    if (end + 56 > view.length) throw damaged(context, 'directory cut off');
    return { count: Number(view.readBigUInt64LE(end + 32)), offset: Number(view.readBigUInt64LE(end + 48)) };
  }
  throw damaged(context, 'no directory at its end');
}

interface WideFields {
  readonly expandedBytes: number;
  readonly packedBytes: number;
  readonly headerOffset: number;
}

/** ZIP64: a field of 0xFFFFFFFF stands, in this order, in the extra field 0x0001. */
function wideFields(extra: Buffer, fields: WideFields): WideFields {
  if (fields.expandedBytes !== 0xffffffff && fields.packedBytes !== 0xffffffff && fields.headerOffset !== 0xffffffff)
    return fields;
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== 1) continue;
    let position = at + 4;
    const next = (narrow: number): number => {
      if (narrow !== 0xffffffff || position + 8 > extra.length) return narrow;
      position += 8;
      return Number(extra.readBigUInt64LE(position - 8));
    };
    const expandedBytes = next(fields.expandedBytes);
    const packedBytes = next(fields.packedBytes);
    return { expandedBytes, packedBytes, headerOffset: next(fields.headerOffset) };
  }
  return fields;
}

function unpack(
  view: Buffer,
  entry: Entry,
  { context, remainingBytes }: { readonly context: ParseContext; readonly remainingBytes: number },
): Uint8Array {
  if (entry.encrypted) {
    throw engramError(
      'UnreadableFileContentError',
      `'${context.fileName}' cannot be read: it is encrypted with a password`,
    );
  }
  const header = entry.headerOffset;
  if (header + 30 > view.length || view.readUInt32LE(header) !== LOCAL_HEADER)
    throw damaged(context, `no header for ${entry.name}`);
  const start = header + 30 + view.readUInt16LE(header + 26) + view.readUInt16LE(header + 28);
  const packed = view.subarray(start, start + entry.packedBytes);
  if (packed.length < entry.packedBytes) throw damaged(context, `${entry.name} is cut off`);
  const byRatio = Math.max(RATIO_MATTERS_ABOVE_BYTES, packed.length * context.limits.maxExpansionRatio);
  const maxOutputLength = Math.max(1, Math.min(remainingBytes, byRatio));
  if (entry.method === 0) {
    if (packed.length > remainingBytes) throw tooLarge(context, entry, maxOutputLength);
    return packed;
  }
  if (entry.method !== 8) throw damaged(context, `${entry.name} is packed by an unknown method ${entry.method}`);
  try {
    return inflateRawSync(packed, { maxOutputLength });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE')
      throw tooLarge(context, entry, maxOutputLength);
    throw damaged(context, `${entry.name} does not unpack`, error);
  }
}

function tooLarge(context: ParseContext, entry: Entry, limitBytes: number): Error {
  return engramError(
    'PayloadTooLargeError',
    `'${context.fileName}' unpacks to too much: its part ${entry.name} is larger than the ${limitBytes} bytes allowed`,
  );
}
