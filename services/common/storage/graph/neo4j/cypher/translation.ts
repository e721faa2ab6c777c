import type { TokenReader } from './token-reader.ts';

/** Label of every node of the view, see `schema.ts`. */
export const VIEW_LABEL = '__Node__';
/** Property of the view that no query's result shows. */
export const VIEW_KEY = '_ref';

/** State of the translation of one query. */
export interface Translation {
  readonly reader: TokenReader;
  /** Label that every node of the query must bear. */
  readonly label: string;
  /** Texts of the query travel as parameters: nothing that its author wrote in quotes is printed. */
  readonly parameter: (text: string) => string;
  /** Reads any expression; given here because patterns and expressions contain each other. */
  readonly expression: () => string;
  /** Whether a list is being built from a list: two such in each other could build one of any size. */
  isInComprehension: boolean;
}

/** Names hold no back-tick: `tokens.ts` refuses them. */
export function quoted(name: string): string {
  return `\`${name}\``;
}

/** `attempt` of the reader, with the state of the translation. */
export function attempt(translation: Translation, read: () => string): string | null {
  const { isInComprehension } = translation;
  const result = translation.reader.attempt(read);
  if (result === null) translation.isInComprehension = isInComprehension;
  return result;
}
