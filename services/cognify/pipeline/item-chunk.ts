/** A passage of a document, as the pipeline works with it. */
export interface ItemChunk {
  /** Wire id, derived from document and text. */
  readonly id: string;
  /** 0-based position in the document. */
  readonly index: number;
  readonly text: string;
  /** Tokens. */
  readonly size: number;
  /** The limit it was cut under, tokens. */
  readonly maxTokens: number;
  readonly cutType: string;
  /** SHA-256 of the text, hex. */
  readonly contentHash: string;
  /** Outermost first. */
  readonly headings: readonly string[];
  readonly page: number | null;
}
