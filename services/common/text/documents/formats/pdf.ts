import { constants, inflateSync } from 'node:zlib';
import { getDocumentProxy, getMeta } from 'unpdf';
import { engramError } from '../../../kernel/errors.ts';
import type { DocumentDraft } from './draft.ts';
import { type ParseContext, textBudget } from './limits.ts';
import { type PdfLine, type PdfTextRun, pdfLines, withoutRunningLines } from './pdf-lines.ts';
import { pdfParagraphs } from './pdf-paragraphs.ts';

type PdfDocument = Awaited<ReturnType<typeof getDocumentProxy>>;

/**
 * Reads headings (by font size), paragraphs and list items with their page, without running heads and page numbers. A document of
 * images only is refused with the reason.
 */
export async function readPdf(content: Uint8Array, context: ParseContext): Promise<DocumentDraft> {
  checkPdfStreams(content, context);
  const document = await open(content, context);
  try {
    if (document.numPages > context.limits.maxPages) {
      throw engramError(
        'PayloadTooLargeError',
        `'${context.fileName}' has ${document.numPages} pages; the limit is ${context.limits.maxPages}`,
      );
    }
    const pages: PdfLine[][] = [];
    const count = textBudget(context, textLimit(content, context));
    // The page tree may name a page twice.
    const read = new Set<string>();
    for (let number = 1; number <= document.numPages; number += 1) {
      const page = await document.getPage(number);
      const id = page.ref === null ? `page ${number}` : `${page.ref.num} ${page.ref.gen}`;
      pages.push(read.has(id) ? [] : await pageLines(page, count));
      read.add(id);
    }
    const blocks = pdfParagraphs(withoutRunningLines(pages));
    const metadata = await documentMetadata(document);
    const title = usableTitle(metadata['title']) ?? blocks.find((block) => block.kind === 'heading')?.text ?? null;
    const pageCount = document.numPages === 1 ? 'its only page holds' : `its ${document.numPages} pages hold`;
    return {
      blocks,
      title,
      metadata,
      emptyReason: `${pageCount} no text, as in a scan of paper; it needs text recognition first`,
    };
  } finally {
    await document.loadingTask.destroy();
  }
}

async function open(content: Uint8Array, context: ParseContext): Promise<PdfDocument> {
  try {
    // The library detaches the buffer, so it gets a copy.
    return await getDocumentProxy(Uint8Array.from(content), { verbosity: 0, stopAtErrors: false });
  } catch (error) {
    const isEncrypted = error instanceof Error && error.name === 'PasswordException';
    const reason = isEncrypted ? 'it is encrypted with a password' : 'the PDF is damaged';
    throw engramError('UnreadableFileContentError', `'${context.fileName}' cannot be read: ${reason}`, {
      cause: error,
    });
  }
}

/** Characters allowed for any file; more depend on its size, since compressed text is at most ten times as long as its file. */
const MIN_TEXT_LIMIT = 200_000;
const MAX_TEXT_RATIO = 50;

/** Limits text, which nested forms and repeated pages can draw many times. */
function textLimit({ byteLength }: Uint8Array, { limits }: ParseContext): number {
  return Math.min(limits.maxTextCharacters, Math.max(MIN_TEXT_LIMIT, byteLength * MAX_TEXT_RATIO));
}

type PdfPage = Awaited<ReturnType<PdfDocument['getPage']>>;
type TextItem = Awaited<ReturnType<PdfPage['getTextContent']>>['items'][number];

async function pageLines(page: PdfPage, count: (text: string) => string): Promise<PdfLine[]> {
  const runs: PdfTextRun[] = [];
  const parts = (page.streamTextContent() as ReadableStream<{ readonly items: readonly TextItem[] }>).getReader();
  try {
    for (let part = await parts.read(); !part.done; part = await parts.read()) {
      for (const item of part.value.items) {
        if (!('str' in item)) continue;
        // An empty run costs memory too.
        count(item.str === '' ? ' ' : item.str);
        runs.push(item);
      }
    }
  } catch (error) {
    await parts.cancel(error).catch(() => undefined);
    throw error;
  }
  page.cleanup();
  return pdfLines(runs);
}

async function documentMetadata(document: PdfDocument): Promise<Record<string, string>> {
  const { info } = await getMeta(document);
  const metadata: Record<string, string> = { pages: String(document.numPages) };
  for (const [key, name] of [
    ['title', 'Title'],
    ['author', 'Author'],
    ['subject', 'Subject'],
    ['keywords', 'Keywords'],
    ['created', 'CreationDate'],
  ] as const) {
    const value: unknown = (info as Record<string, unknown>)[name];
    if (typeof value === 'string' && value.trim() !== '') metadata[key] = key === 'created' ? isoDate(value) : value;
  }
  return metadata;
}

/** Whether a title is a file name, which some programs write. */
function usableTitle(title: string | undefined): string | null {
  return title === undefined ||
    /^(untitled|microsoft word|powerpoint|document\d*)\b|\.(docx?|pptx?|xlsx?|tex|dvi|indd|qxd|pdf)$/i.test(
      title.trim(),
    )
    ? null
    : title;
}

/** `D:20240131120000+01'00'` → `2024-01-31`. */
function isoDate(value: string): string {
  const parts = /^D:(\d{4})(\d{2})?(\d{2})?/.exec(value);
  return parts === null ? value : [parts[1], parts[2] ?? '01', parts[3] ?? '01'].join('-');
}

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
function checkPdfStreams(content: Uint8Array, context: ParseContext): void {
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
