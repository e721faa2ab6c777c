import { type EngramError, engramError, isEngramError } from '../../kernel/errors.ts';
import type { LoaderInput, ParsedDocument } from '../../ports/documents.ts';
import { type Detection, detectFormat, packagedFormat, unsupportedType } from './detect-format.ts';
import { languageOfExtension } from './formats/code-languages.ts';
import { type DocumentDraft, finishDocument } from './formats/draft.ts';
import type { FormatDescription } from './formats/format-table.ts';
import type { DocumentLimits, ParseContext } from './formats/limits.ts';
import type { Grammars } from './formats/tree-sitter.ts';
import { openZip, type ZipArchive } from './formats/zip-archive.ts';

export interface ParseServices {
  readonly limits: DocumentLimits;
  readonly grammars: Grammars;
}

/** Parses one document from bytes to blocks, in the calling thread. Readers of formats are imported when first needed. */
export async function parseDocument(input: LoaderInput, services: ParseServices): Promise<ParsedDocument> {
  const context = contextOf(input, services.limits);
  const detection = await detectFormat({
    fileName: context.fileName,
    declaredMimeType: input.declaredMimeType,
    content: input.content,
    isWhole: true,
  });
  return parseDetected(input.content, detection, { ...services, context });
}

/** Returns the context of a document. Throws `UnreadableFileContentError` for an empty file. */
export function contextOf(input: LoaderInput, limits: DocumentLimits): ParseContext {
  const fileName = input.fileName.split(/[\\/]/).at(-1) || 'file';
  if (input.content.byteLength === 0)
    throw engramError('UnreadableFileContentError', `'${fileName}' cannot be read: it is empty`);
  return { fileName, declaredMimeType: input.declaredMimeType, limits };
}

interface Parsing extends ParseServices {
  readonly context: ParseContext;
}

export async function parseDetected(
  content: Uint8Array,
  detection: Detection,
  parsing: Parsing,
): Promise<ParsedDocument> {
  const { context } = parsing;
  if (detection.kind === 'unsupported') throw unsupportedType(context.fileName, detection);
  if (detection.kind === 'archive') {
    const { archive, format } = openPackage(content, context);
    return finish(format, context, () => readPackage(archive, format, context));
  }
  const { format } = detection;
  if (detection.kind === 'binary')
    return finish(format, context, async () => (await import('./formats/pdf.ts')).readPdf(content, context));
  return finish(format, context, () => readText(detection.decoded.text, { content, format, ...parsing }));
}

/** Runs a reader and finishes its document. Unknown errors of the libraries mean that the document is damaged. */
async function finish(
  format: FormatDescription,
  context: ParseContext,
  read: () => Promise<DocumentDraft>,
): Promise<ParsedDocument> {
  try {
    return finishDocument(await read(), format, context);
  } catch (error) {
    throw asDocumentError(error, format, context);
  }
}

function asDocumentError(error: unknown, format: FormatDescription, context: ParseContext): EngramError {
  if (isEngramError(error)) return error;
  if (
    error instanceof RangeError &&
    /call stack|string length|array (buffer )?(length|allocation)/i.test(error.message)
  ) {
    return engramError(
      'DocumentParsingError',
      `'${context.fileName}' cannot be read: it is nested too deeply or too large`,
      { cause: error },
    );
  }
  return engramError(
    'UnreadableFileContentError',
    `'${context.fileName}' cannot be read as ${format.format}: it is damaged`,
    { cause: error },
  );
}

function openPackage(content: Uint8Array, context: ParseContext): { archive: ZipArchive; format: FormatDescription } {
  const archive = openZip(content, context);
  const format = packagedFormat(archive.names, archive.readText('mimetype'));
  if (format === null) throw unsupportedType(context.fileName, { mimeType: 'application/zip', extension: 'zip' });
  return { archive, format };
}

async function readPackage(
  archive: ZipArchive,
  format: FormatDescription,
  context: ParseContext,
): Promise<DocumentDraft> {
  switch (format.format) {
    case 'docx':
      return (await import('./formats/docx.ts')).readDocx(archive, context);
    case 'xlsx':
      return (await import('./formats/xlsx.ts')).readXlsx(archive, context);
    case 'pptx':
      return (await import('./formats/pptx.ts')).readPptx(archive, context);
    case 'epub':
      return (await import('./formats/epub.ts')).readEpub(archive, context);
    default:
      return (await import('./formats/open-document.ts')).readOpenDocument(archive, context);
  }
}

async function readText(
  text: string,
  {
    content,
    format,
    context,
    grammars,
  }: Parsing & { readonly content: Uint8Array; readonly format: FormatDescription },
): Promise<DocumentDraft> {
  switch (format.format) {
    case 'markdown':
      return (await import('./formats/markdown.ts')).readMarkdown(text);
    case 'html':
      return (await import('./formats/html.ts')).readHtml(text, context);
    case 'csv':
      return (await import('./formats/csv.ts')).readCsv(text, context);
    case 'json':
      return (await import('./formats/json.ts')).readJson(text, context);
    case 'jsonl':
      return (await import('./formats/json.ts')).readJsonLines(text, context);
    case 'notebook':
      return (await import('./formats/json.ts')).readNotebook(text, context);
    case 'xml':
      return (await import('./formats/xml.ts')).readXml(text, context);
    case 'yaml':
      return (await import('./formats/plain-text.ts')).readSettings(text);
    case 'calendar':
      return (await import('./formats/calendar.ts')).readCalendar(text);
    case 'log':
      return (await import('./formats/plain-text.ts')).readLog(text);
    case 'email':
      return (await import('./formats/email.ts')).readEmail(content, context);
    case 'rtf':
      return (await import('./formats/rtf.ts')).readRtf(text);
    case 'code': {
      const language = languageOfExtension(format.extension);
      if (language !== null) return (await import('./formats/code.ts')).readCode(text, language, grammars);
      break;
    }
  }
  const { isMarkdown, readPlainText } = await import('./formats/plain-text.ts');
  const isWrittenAsMarkdown = format.mimeType === 'text/plain' && isMarkdown(text);
  return isWrittenAsMarkdown ? (await import('./formats/markdown.ts')).readMarkdown(text) : readPlainText(text);
}
