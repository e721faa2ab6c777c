import type { Readable } from 'node:stream';
import type { CodeFacts } from './code-facts.ts';

/**
 * The kind of structure a block had in the source; chunking keeps tables, code and list items whole where it can. `record`:
 * keys with values (JSON, YAML, INI, front matter, headers of mails).
 */
export type BlockKind = 'heading' | 'paragraph' | 'list-item' | 'table' | 'record' | 'code' | 'quote' | 'page-break';

export interface DocumentBlock {
  readonly kind: BlockKind;
  readonly text: string;
  /** 1 to 6 for headings; for items of a list how deep it is nested, absent at 1. */
  readonly level?: number;
  /** 1-based page, slide or sheet number where the format has one. */
  readonly page?: number;
  /** Code: qualified name of the definition the block holds, and its language. */
  readonly symbol?: string;
  readonly language?: string;
}

export interface ParsedDocument {
  /** The derived text as the wire shows it; `blocks` joined by blank lines unless the format is verbatim text. */
  readonly text: string;
  readonly blocks: readonly DocumentBlock[];
  readonly title: string | null;
  /** `text`, `markdown`, `html`, `pdf`, `docx`, `csv`, `code` … */
  readonly format: string;
  /** `mimeType` and `extension` of the content, always; and further facts of the format. */
  readonly metadata: Readonly<Record<string, string>>;
  /** A file of code: its definitions and uses. */
  readonly code?: CodeFacts;
}

/** Metadata of a document. */
export type DocumentFacts = Omit<ParsedDocument, 'text' | 'blocks'>;

/** A document as it is stored. */
export interface EncodedDocument extends DocumentFacts {
  /** The whole `ParsedDocument` as JSON, in pieces of a size that a busy thread can handle one at a time. */
  readonly json: readonly Uint8Array[];
}

export interface LoaderInput {
  readonly fileName: string;
  /** Declared by the client; the content decides when they disagree. */
  readonly declaredMimeType?: string;
  readonly sizeBytes: number;
  readonly content: Uint8Array;
}

/**
 * Reads a document. Parsing runs in a killable worker with limits on time, memory, pages, depth and expansion.
 * Errors: `UnsupportedFileTypeError` naming the type, `UnreadableFileContentError` (not text, broken, encrypted),
 * `PayloadTooLargeError` (a limit of expansion), `DocumentParsingError` (time or memory).
 */
export interface DocumentLoader {
  load(input: LoaderInput, signal?: AbortSignal): Promise<ParsedDocument>;
  /** The same for storing: nothing of the size of the document is serialised in the calling thread. */
  loadEncoded(input: LoaderInput, signal?: AbortSignal): Promise<EncodedDocument>;
  /** Cheap: looks at the name and the first bytes only. Null when nothing here can read it. */
  detect(
    fileName: string,
    head: Uint8Array,
  ): Promise<{ readonly format: string; readonly mimeType: string; readonly extension: string } | null>;
  close(): Promise<void>;
}

/** The only way out to the network: public addresses only, redirects checked again, bounded in size and time. */
export interface Fetcher {
  /** `SSRFProtectionError` (403) for private, unresolvable or refused targets; `IngestionError` for a failed fetch. */
  fetch(url: string, signal?: AbortSignal): Promise<FetchedResource>;
}

/** Follows pages over time: asks for one only when it has changed. Errors: those of `Fetcher`, with `retryAfterSeconds` on request. */
export interface PageFetcher {
  /** `unchanged`: it is as the validators say. `gone`: there is no such page. */
  fetchChanged(
    url: string,
    known: PageValidators,
    signal?: AbortSignal,
  ): Promise<(FetchedResource & PageValidators) | 'unchanged' | 'gone'>;
}

/** Headers that tell versions of a page apart. */
export interface PageValidators {
  readonly etag: string | null;
  readonly lastModified: string | null;
}

export interface FetchedResource {
  readonly url: string;
  readonly mimeType: string;
  readonly fileName: string;
  readonly body: Readable;
}
