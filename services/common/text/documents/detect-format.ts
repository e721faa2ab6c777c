import { engramError } from '../../kernel/errors.ts';
import { languageOfShebang } from './formats/code-languages.ts';
import { type DecodedText, decodeText } from './formats/decode-text.ts';
import {
  BINARY_FORMATS,
  charsetOf,
  extensionOf,
  type FormatDescription,
  PLAIN_TEXT,
  textFormatOfExtension,
  textFormatOfMimeType,
} from './formats/format-table.ts';

/** The detected content: text of a format, a binary format, an archive, or an unsupported type. */
export type Detection =
  | { readonly kind: 'text'; readonly format: FormatDescription; readonly decoded: DecodedText }
  | { readonly kind: 'binary'; readonly format: FormatDescription }
  | { readonly kind: 'archive' }
  | { readonly kind: 'unsupported'; readonly mimeType: string; readonly extension: string | null };

interface DetectionInput {
  readonly fileName: string;
  readonly declaredMimeType?: string | undefined;
  readonly content: Uint8Array;
  /** False when `content` is only the head of the file: a character may be cut at its end. */
  readonly isWhole: boolean;
}

/** Detects the format by content; the name decides only among formats that content cannot distinguish. */
export async function detectFormat(input: DetectionInput): Promise<Detection> {
  const { content } = input;
  if (startsWith(content, [0x50, 0x4b, 0x03, 0x04]) || startsWith(content, [0x50, 0x4b, 0x05, 0x06]))
    return { kind: 'archive' };
  if (startsWith(content, [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1])) {
    return { kind: 'unsupported', mimeType: 'application/x-cfb', extension: null };
  }
  const decoded = decodeText(
    input.isWhole ? content : wholeCharacters(content),
    charsetOf(input.declaredMimeType) ?? charsetInMarkup(content),
  );
  if (isPdf(input, decoded)) return { kind: 'binary', format: BINARY_FORMATS['pdf'] ?? PLAIN_TEXT };
  if (decoded !== null && !(hasControlCharacters(decoded.text) && (await sniffBinary(content)) !== null)) {
    return { kind: 'text', format: textFormat(input, decoded.text), decoded };
  }
  return (await sniffBinary(content)) ?? { kind: 'unsupported', mimeType: 'application/octet-stream', extension: null };
}

/** Returns the format by the name and the first bytes of a file; null when nothing here reads it. */
export async function detectOfHead(fileName: string, head: Uint8Array): Promise<FormatDescription | null> {
  const detection = await detectFormat({ fileName, content: head, isWhole: false });
  if (detection.kind === 'text' || detection.kind === 'binary') return detection.format;
  return detection.kind === 'archive' ? packagedFormatOfHead(fileName, head) : null;
}

/** Returns the format of an archive by its parts; null for any other archive. */
export function packagedFormat(names: readonly string[], mimeTypePart: string | null): FormatDescription | null {
  const stated = Object.values(BINARY_FORMATS).find((format) => mimeTypePart?.trim().startsWith(format.mimeType));
  if (stated !== undefined) return stated;
  const holds = (prefix: string): boolean => names.some((name) => name.startsWith(prefix));
  if (holds('word/')) return BINARY_FORMATS['docx'] ?? null;
  if (holds('xl/')) return BINARY_FORMATS['xlsx'] ?? null;
  if (holds('ppt/')) return BINARY_FORMATS['pptx'] ?? null;
  if (names.includes('META-INF/container.xml')) return BINARY_FORMATS['epub'] ?? null;
  return null;
}

/** Returns the format of an archive by the local headers in the head of its file, which lacks the directory. */
function packagedFormatOfHead(fileName: string, head: Uint8Array): FormatDescription | null {
  const view = Buffer.from(head.buffer, head.byteOffset, head.byteLength);
  const names: string[] = [];
  let mimeTypePart: string | null = null;
  for (
    let at = view.indexOf('PK\u0003\u0004');
    at !== -1 && at + 30 <= view.length;
    at = view.indexOf('PK\u0003\u0004', at + 4)
  ) {
    const nameEnd = at + 30 + view.readUInt16LE(at + 26);
    const name = view.toString('utf8', at + 30, nameEnd);
    names.push(name);
    if (name === 'mimetype')
      mimeTypePart = view.toString('latin1', nameEnd + view.readUInt16LE(at + 28), nameEnd + 120);
  }
  const extension = extensionOf(fileName);
  const named = Object.hasOwn(BINARY_FORMATS, extension) ? BINARY_FORMATS[extension] : undefined;
  return packagedFormat(names, mimeTypePart) ?? (named === undefined || named.format === 'pdf' ? null : named);
}

/** Returns the error for an unsupported type. Binary content with the name of a text format is a text in an unknown encoding. */
export function unsupportedType(
  fileName: string,
  found: { readonly mimeType: string; readonly extension: string | null },
): Error {
  const kind = found.mimeType.split('/')[0];
  if (kind === 'image' || kind === 'audio' || kind === 'video') {
    return engramError(
      'UnsupportedFileTypeError',
      `'${fileName}' is ${found.mimeType}: this server reads no ${kind} files; add a text that tells what is in it`,
    );
  }
  if (found.mimeType === 'application/x-cfb') {
    return engramError(
      'UnsupportedFileTypeError',
      `'${fileName}' is an old Office document (application/x-cfb: doc, xls, ppt, msg); save it as docx, xlsx, pptx or pdf`,
    );
  }
  if (found.mimeType === 'application/octet-stream' && textFormatOfExtension(extensionOf(fileName)) !== null) {
    return engramError(
      'UnreadableFileContentError',
      `'${fileName}' cannot be read as text: its bytes are neither UTF-8 nor in an encoding that was declared; save it as UTF-8`,
    );
  }
  const isArchive = /[/-](zip|gzip|tar|rar|bzip2|xz|zstd|7z)(-compressed)?$/.test(found.mimeType);
  return engramError(
    'UnsupportedFileTypeError',
    `'${fileName}' is ${found.mimeType}, which cannot be read as a document${isArchive ? '; add the files in it instead' : ''}`,
  );
}

function startsWith(content: Uint8Array, magic: readonly number[]): boolean {
  return magic.every((byte, index) => content[index] === byte);
}

/**
 * Whether the content is a PDF: `%PDF-` at the start, or in the first KiB as other readers accept it. A text that merely
 * begins so has no `obj` lines, an ASCII-only PDF has.
 */
function isPdf({ fileName, content, isWhole }: DetectionInput, decoded: DecodedText | null): boolean {
  const head = Buffer.from(content.buffer, content.byteOffset, Math.min(content.byteLength, 1_024));
  const at = head.indexOf('%PDF-');
  if (at === -1) return false;
  if (decoded === null) return true;
  if (at === 0 && (extensionOf(fileName) === 'pdf' || !isWhole)) return true;
  return /^\d+ \d+ obj\b/m.test(decoded.text) && decoded.text.includes('endobj');
}

function textFormat({ fileName, declaredMimeType }: DetectionInput, text: string): FormatDescription {
  const named = textFormatOfExtension(extensionOf(fileName));
  if (named !== null) return named;
  const head = text.slice(0, 1_024).trimStart();
  if (/^(<!doctype html|<html[\s>])/i.test(head)) return { format: 'html', mimeType: 'text/html', extension: 'html' };
  if (/^<\?xml\s/.test(head)) {
    const isXhtml = /<html[\s>]/i.test(head);
    return textFormatOfExtension(isXhtml ? 'xhtml' : 'xml') ?? PLAIN_TEXT;
  }
  if (head.startsWith('{\\rtf')) return textFormatOfExtension('rtf') ?? PLAIN_TEXT;
  const script = languageOfShebang(head.slice(0, 200).split('\n')[0] ?? '');
  if (script !== null) return textFormatOfExtension(script.extensions[0] ?? '') ?? PLAIN_TEXT;
  return textFormatOfMimeType(declaredMimeType) ?? PLAIN_TEXT;
}

/** Returns the encoding that HTML or XML declares near its start. */
function charsetInMarkup(content: Uint8Array): string | undefined {
  const head = Buffer.from(content.buffer, content.byteOffset, Math.min(content.byteLength, 2_048)).toString('latin1');
  if (!head.includes('<')) return undefined;
  const found =
    /<\?xml[^>]{0,200}\bencoding\s*=\s*["']([\w.:+-]{1,40})/i.exec(head) ??
    /<meta[^>]{0,200}\bcharset\s*=\s*["']?([\w.:+-]{1,40})/i.exec(head);
  return found?.[1]?.toLowerCase();
}

function hasControlCharacters(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  return /[\u0000-\u0007\u000e-\u001a\u001c-\u001f\ufffd]/.test(text.slice(0, 4_096));
}

/** Detects binary formats by their signatures; the library is loaded only for content that is not text. */
async function sniffBinary(content: Uint8Array): Promise<Detection | null> {
  const { fileTypeFromBuffer } = await import('file-type');
  try {
    const found = await fileTypeFromBuffer(content);
    return found === undefined ? null : { kind: 'unsupported', mimeType: found.mime, extension: found.ext };
  } catch {
    return null; // the head was cut in the middle of a header
  }
}

/** Removes an incomplete UTF-8 sequence from the end. */
function wholeCharacters(head: Uint8Array): Uint8Array {
  for (let back = 1; back <= 3 && back <= head.length; back += 1) {
    const byte = head[head.length - back] ?? 0;
    if (byte < 0x80) return head;
    if (byte >= 0xc0) return head.subarray(0, head.length - back);
  }
  return head;
}
