import type { DocumentBlock } from '../../../ports/documents.ts';
import { personOfAddress } from '../../language/turns.ts';
import { decodeText } from './decode-text.ts';
import type { DocumentDraft } from './draft.ts';
import { charsetOf } from './format-table.ts';
import { readHtmlFragment } from './html-page.ts';
import type { ParseContext } from './limits.ts';
import { readSignatures } from './mail-signature.ts';
import { paragraphBlocks } from './plain-text.ts';

interface Part {
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

const SHOWN = ['from', 'to', 'cc', 'date', 'subject'] as const;
/** Maximum nesting of multipart bodies. */
const MAX_NESTED_PARTS = 10;

/**
 * Reads a mail: its main headers, then its text (plain before HTML), signatures as records; attachments are named, not read.
 * postal-mime 4.0.0 was measured instead: it exceeds 100 s on 5 million line breaks (here 1 s) and refuses nested or large headers read here.
 */
export function readEmail(content: Uint8Array, context: ParseContext): DocumentDraft {
  const mail = splitPart(Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('latin1'));
  const metadata: Record<string, string> = {};
  for (const name of SHOWN) {
    const value = mail.headers.get(name);
    if (value !== undefined) metadata[name] = decodeHeader(value);
  }
  const lines = SHOWN.flatMap((name) =>
    metadata[name] === undefined ? [] : `${name[0]?.toUpperCase()}${name.slice(1)}: ${metadata[name]}`,
  );
  const attachments: string[] = [];
  const body = bodyBlocks(mail, { context, attachments, depthLeft: MAX_NESTED_PARTS });
  const sender = metadata['from'] === undefined ? null : personOfAddress(metadata['from']);
  const blocks: DocumentBlock[] = [{ kind: 'record', text: lines.join('\n') }, ...readSignatures(body, sender)];
  if (attachments.length > 0) blocks.push({ kind: 'paragraph', text: `Attachments: ${attachments.join(', ')}` });
  return { blocks, title: metadata['subject'] ?? null, metadata };
}

/** Headers longer than this are cut off where one header alone is asked for. */
const MAX_HEADERS = 256 * 1024;

/** One decoded header of a mail, by its lower-case name; null: it has none. */
export function readMailHeader(content: Uint8Array, name: string): string | null {
  const head = Buffer.from(content.buffer, content.byteOffset, Math.min(content.byteLength, MAX_HEADERS));
  const value = splitPart(head.toString('latin1')).headers.get(name);
  return value === undefined ? null : decodeHeader(value);
}

function splitPart(source: string): Part {
  const end = /\r?\n\r?\n/.exec(source);
  const head = end === null ? source : source.slice(0, end.index);
  const headers = new Map<string, string>();
  for (const line of head.replaceAll(/\r?\n[ \t]+/g, ' ').split(/\r?\n/)) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).trim().toLowerCase();
    if (colon > 0 && !headers.has(name)) headers.set(name, line.slice(colon + 1).trim());
  }
  return { headers, body: end === null ? '' : source.slice(end.index + end[0].length) };
}

interface BodyOptions {
  readonly context: ParseContext;
  readonly attachments: string[];
  readonly depthLeft: number;
}

function bodyBlocks(part: Part, options: BodyOptions): DocumentBlock[] {
  const type = part.headers.get('content-type') ?? 'text/plain';
  const bare = type.split(';')[0]?.trim().toLowerCase() ?? '';
  if (bare.startsWith('multipart/')) return options.depthLeft === 0 ? [] : multipartBlocks(part, bare, type, options);
  const name = /(?:file)?name\*?=(?:"([^"]*)"|([^;\s]+))/i.exec(
    `${part.headers.get('content-disposition') ?? ''}; ${type}`,
  );
  const isAttachment = /^attachment/i.test(part.headers.get('content-disposition') ?? '') || !bare.startsWith('text/');
  if (isAttachment) {
    const fileName = name?.[1] ?? name?.[2];
    if (fileName !== undefined) options.attachments.push(decodeHeader(fileName));
    return [];
  }
  const bytes = decodeTransfer(part.body, part.headers.get('content-transfer-encoding') ?? '7bit');
  const text = decodeText(bytes, charsetOf(type))?.text ?? bytes.toString('latin1');
  return bare === 'text/html' ? readHtmlFragment(text, options.context) : paragraphBlocks(text);
}

function multipartBlocks(part: Part, bare: string, type: string, options: BodyOptions): DocumentBlock[] {
  const boundary = /boundary=(?:"([^"]{1,200})"|([^;\s]{1,200}))/i.exec(type);
  const mark = boundary?.[1] ?? boundary?.[2];
  if (mark === undefined) return paragraphBlocks(part.body);
  const inner = { ...options, depthLeft: options.depthLeft - 1 };
  const parts = `\n${part.body}`
    .split(`\n--${mark}`)
    .slice(1)
    .filter((piece) => !piece.startsWith('--'))
    .map((piece) => splitPart(piece.replace(/^[ \t]*\r?\n/, '')));
  if (bare !== 'multipart/alternative') return parts.flatMap((piece) => bodyBlocks(piece, inner));
  const isPlain = (piece: Part): boolean => /^text\/plain/i.test(piece.headers.get('content-type') ?? 'text/plain');
  const ordered = [...parts.filter(isPlain), ...parts.filter((piece) => !isPlain(piece))];
  for (const piece of ordered) {
    const blocks = bodyBlocks(piece, inner);
    if (blocks.length > 0) return blocks;
  }
  return [];
}

function decodeTransfer(body: string, encoding: string): Buffer {
  const name = encoding.trim().toLowerCase();
  if (name === 'base64') return Buffer.from(body, 'base64');
  if (name !== 'quoted-printable') return Buffer.from(body, 'latin1');
  const joined = body.replaceAll(/=[ \t]*\r?\n/g, '');
  return Buffer.from(
    joined.replaceAll(/=([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  );
}

/** Decodes encoded words (RFC 2047, `=?utf-8?Q?Gr=C3=BC=C3=9Fe?=`); raw 8-bit headers are UTF-8. */
function decodeHeader(value: string): string {
  const raw = Buffer.from(value, 'latin1');
  const text = decodeText(raw)?.text ?? value;
  return text
    .replaceAll(/\?=\s+=\?/g, '?==?')
    .replaceAll(/=\?([\w-]{1,40})\?([bq])\?([^?]*)\?=/gi, (written, charset: string, kind: string, data: string) => {
      const bytes =
        kind.toLowerCase() === 'b'
          ? Buffer.from(data, 'base64')
          : decodeTransfer(data.replaceAll('_', ' '), 'quoted-printable');
      return decodeText(bytes, charset.toLowerCase())?.text ?? written;
    });
}
