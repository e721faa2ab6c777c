import { constants, inflateSync } from 'node:zlib';
import { engramError } from '../../../kernel/errors.ts';
import type { ParseContext } from './limits.ts';

const MIB = 1024 * 1024;

/** Unpacked size below which any ratio is accepted. */
const RATIO_MATTERS_ABOVE_BYTES = 8 * MIB;

/** Maximum length of the dictionary before a stream with text. */
const MAX_DICTIONARY_BYTES = 2_000;

/**
 * Refuses a PDF whose compressed streams unpack to too much, each or together, nested compression included, since the library
 * unpacks without limits. Skips streams that cannot be unpacked here, and pictures, which the library does not unpack. Throws
 * `PayloadTooLargeError`.
 */
export function checkPdfStreams(content: Uint8Array, context: ParseContext): void {
  const { maxExpandedBytes, maxExpansionRatio } = context.limits;
  const view = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  let remainingBytes = maxExpandedBytes;
  for (const { dictionary, packed } of pdfStreams(view)) {
    if (/\/Subtype\s*\/Image\b/.test(dictionary)) continue;
    const layers = dictionary.match(/\/(?:FlateDecode|Fl)\b/g)?.length ?? 0;
    const limit = Math.min(remainingBytes, Math.max(RATIO_MATTERS_ABOVE_BYTES, packed.length * maxExpansionRatio));
    let bytes = packed;
    for (let layer = 0; layer < layers; layer += 1) {
      const unpacked = inflateWithin(bytes, limit);
      if (unpacked === 'too large') {
        const size = `a stream of it unpacks to more than the ${limit} bytes allowed`;
        throw engramError('PayloadTooLargeError', `'${context.fileName}' unpacks to too much: ${size}`);
      }
      if (unpacked === null) break;
      bytes = unpacked;
      remainingBytes = Math.max(1, remainingBytes - bytes.length);
    }
  }
}

interface PdfStream {
  readonly dictionary: string;
  readonly packed: Buffer;
}

function* pdfStreams(view: Buffer): Generator<PdfStream> {
  let end = 0;
  for (let at = view.indexOf('stream'); at !== -1; at = view.indexOf('stream', end)) {
    let start = at + 'stream'.length;
    if (view[start] === 0x0d) start += 1;
    if (view[start] === 0x0a) start += 1;
    const found = view.indexOf('endstream', start);
    const before = view.toString('latin1', Math.max(end, at - MAX_DICTIONARY_BYTES), at);
    end = found === -1 ? view.length : found + 'endstream'.length;
    const dictionary = before.slice(before.lastIndexOf(' obj') + 1);
    yield { dictionary, packed: view.subarray(start, found === -1 ? view.length : found) };
  }
}

/** Unpacks a stream; null when it is encrypted or compressed otherwise. A truncated stream returns its readable part. */
function inflateWithin(packed: Buffer, limit: number): Buffer | 'too large' | null {
  try {
    return inflateSync(packed, { maxOutputLength: Math.max(1, limit), finishFlush: constants.Z_SYNC_FLUSH });
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? 'too large' : null;
  }
}
