import { getDocumentProxy, getMeta } from 'unpdf';
import { engramError } from '../../domain/errors.ts';
import type { DocumentDraft } from '../draft.ts';
import type { ParseContext } from '../limits.ts';
import { type PdfLine, type PdfTextRun, pdfLines, withoutRunningLines } from '../pdf-lines.ts';
import { pdfParagraphs } from '../pdf-paragraphs.ts';

type PdfDocument = Awaited<ReturnType<typeof getDocumentProxy>>;

/**
 * Headings (by size of letters), paragraphs and list items with their page. Running heads and page numbers go. Pages that are only
 * images have no text: a document with nothing else is refused and the reason told.
 */
export async function readPdf(content: Uint8Array, context: ParseContext): Promise<DocumentDraft> {
  const document = await open(content, context);
  try {
    if (document.numPages > context.limits.maxPages) {
      throw engramError(
        'PayloadTooLargeError',
        `'${context.fileName}' has ${document.numPages} pages; the limit is ${context.limits.maxPages}`,
      );
    }
    const pages: PdfLine[][] = [];
    for (let number = 1; number <= document.numPages; number += 1) pages.push(await pageLines(document, number));
    const blocks = pdfParagraphs(withoutRunningLines(pages));
    const metadata = await documentMetadata(document);
    const title = usableTitle(metadata['title']) ?? blocks.find((block) => block.kind === 'heading')?.text ?? null;
    const count = document.numPages === 1 ? 'its only page holds' : `its ${document.numPages} pages hold`;
    return {
      blocks,
      title,
      metadata,
      emptyReason: `${count} no text, as in a scan of paper; it needs text recognition first`,
    };
  } finally {
    await document.loadingTask.destroy();
  }
}

async function open(content: Uint8Array, context: ParseContext): Promise<PdfDocument> {
  try {
    // The library takes the bytes over and detaches them, so it gets its own copy.
    return await getDocumentProxy(Uint8Array.from(content), { verbosity: 0, stopAtErrors: false });
  } catch (error) {
    const isEncrypted = error instanceof Error && error.name === 'PasswordException';
    const reason = isEncrypted ? 'it is encrypted with a password' : 'the PDF is damaged';
    throw engramError('UnreadableFileContentError', `'${context.fileName}' cannot be read: ${reason}`, {
      cause: error,
    });
  }
}

async function pageLines(document: PdfDocument, number: number): Promise<PdfLine[]> {
  const page = await document.getPage(number);
  const { items } = await page.getTextContent();
  page.cleanup();
  return pdfLines(items.filter((item): item is typeof item & PdfTextRun => 'str' in item));
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

/** Programs put file names there. */
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
