import { engramError } from '../../../kernel/errors.ts';

/** Limits of one document, enforced inside the worker beside its limits on time and memory. */
export interface DocumentLimits {
  /** Maximum pages of a PDF, slides, sheets or chapters. */
  readonly maxPages: number;
  /** Nesting of elements in XML and HTML, of values in JSON. Deeper parts of HTML are read flat, deeper XML is refused. */
  readonly maxDepth: number;
  readonly maxArchiveEntries: number;
  /** Sum of all unpacked parts of one archive. */
  readonly maxExpandedBytes: number;
  /** Unpacked ÷ packed size of one part; looked at only when the part is larger than 8 MiB, small parts are harmless. */
  readonly maxExpansionRatio: number;
  /** Cells of one workbook or text table, empty ones not counted. */
  readonly maxCells: number;
  /** Maximum text of a document, which cells and pages can repeat by reference. */
  readonly maxTextCharacters: number;
}

const MIB = 1024 * 1024;

export const defaultDocumentLimits: DocumentLimits = {
  maxPages: 5_000,
  maxDepth: 200,
  maxArchiveEntries: 10_000,
  maxExpandedBytes: 256 * MIB,
  maxExpansionRatio: 300,
  maxCells: 5_000_000,
  maxTextCharacters: 64 * MIB,
};

/** Input of every format reader beside the bytes. */
export interface ParseContext {
  /** Name without folders, for error messages. */
  readonly fileName: string;
  readonly declaredMimeType: string | undefined;
  readonly limits: DocumentLimits;
}

/** Counts text while it is read. Errors: `PayloadTooLargeError` when it becomes more than `limit`. */
export function textBudget(
  { fileName, limits }: ParseContext,
  limit = limits.maxTextCharacters,
): (text: string) => string {
  let characters = 0;
  return (text) => {
    characters += text.length;
    if (characters <= limit) return text;
    throw engramError(
      'PayloadTooLargeError',
      `'${fileName}' unpacks to too much: it repeats its text to more than the ${limit} characters allowed`,
    );
  };
}
