/** A statement made by the structure of a document: a row, a column and a cell; a key and its value; a file and its import. */
export interface Fact {
  readonly subject: Named;
  /** Words of the column or key, snake_case. */
  readonly relation: string;
  readonly value: Named;
  /** In words: `city: Berlin`. */
  readonly evidence: string;
}

export interface Named {
  readonly name: string;
  readonly type: string;
}

/** Facts of a part of a text, and what of it is no prose, as offsets. */
export interface Reading {
  readonly facts: readonly Fact[];
  readonly skipped: readonly Span[];
}

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Words of a key or column: `monthlyFee` and `Monthly fee` are `monthly_fee`. */
export function relationOf(key: string): string {
  const words = key.replace(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ').toLowerCase();
  return words.replace(/[^\p{L}\p{N}]+/gu, '_').replace(/^_+|_+$/gu, '');
}
