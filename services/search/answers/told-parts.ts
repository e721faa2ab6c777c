import type { ReadPassage } from './rank-sentences.ts';
import type { Statement } from './statements.ts';

/** Parts of documentation that answer a question as they stand. */
export interface ToldParts {
  /** What is said before them: a version, a date; null when they say all. */
  readonly short: string | null;
  /** What is quoted, as one text for each place. */
  readonly quotes: readonly { readonly text: string; readonly statement: Statement; readonly passage: ReadPassage }[];
}
