/** Input of chunking: the part of a parsed document (`ports/documents.ts`) that it uses. */
export interface ChunkableDocument {
  /** The derived text; chunks tile it. */
  readonly text: string;
  readonly blocks: readonly ChunkableBlock[];
}

export interface ChunkableBlock {
  readonly kind: 'heading' | 'paragraph' | 'list-item' | 'table' | 'record' | 'code' | 'quote' | 'page-break';
  readonly text: string;
  readonly level?: number;
  readonly page?: number;
  readonly symbol?: string;
}

export interface ChunkOptions {
  /** Never exceeded, as far as `countTokens` is right: the contract's effective chunk size. */
  readonly maxTokens: number;
  /** Target size of a chunk; default 400, at most `maxTokens`. */
  readonly targetTokens?: number;
  readonly countTokens: (text: string) => number;
  /** Sentences of a text with their offsets, in order (`language/sentences.ts`). */
  readonly sentences: (text: string) => readonly { readonly start: number; readonly end: number }[];
}

/** Wire values of cognify-improve.md §1.7 that this chunker uses. */
export type CutType = 'paragraph_end' | 'sentence_end' | 'sentence_cut' | 'row_end' | 'default';

/** A part of a chunk's text with the kind of its blocks. */
export interface ChunkPart {
  readonly kind: ChunkableBlock['kind'];
  /** Offsets in the text of the chunk. */
  readonly start: number;
  readonly end: number;
  /** Where they differ from those of the chunk. */
  readonly headings?: readonly string[];
  readonly symbol?: string;
}

export interface ChunkDraft {
  /** `document.text.slice(start, end)`; a table's later chunks have its header row in front. */
  readonly text: string;
  /** 0-based. */
  readonly index: number;
  /** Offsets in the derived text; absent when a block is not found in it. Consecutive chunks meet without a gap. */
  readonly start?: number;
  readonly end?: number;
  /** Headings above the first block, outermost first. */
  readonly headings: readonly string[];
  /** Position of the first block. */
  readonly page?: number;
  /** 1-based number of the first row of a table or sheet in it. */
  readonly row?: number;
  /** Qualified name of the definition when the chunk is code of one. */
  readonly symbol?: string;
  readonly parts: readonly ChunkPart[];
  readonly cutType: CutType;
  readonly tokenCount: number;
  /** SHA-256 of the text, hex. */
  readonly contentHash: string;
  /** Number of chunks before this one with the same text: `chunkId(documentId, contentHash, occurrence)`. */
  readonly occurrence: number;
}
