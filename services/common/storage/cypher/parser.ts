import type { Expression } from './syntax.ts';
import type { TokenReader } from './token-reader.ts';

/** State of the reading of one query. */
export interface Parser {
  readonly reader: TokenReader;
  /** Reads any expression; given here because patterns and expressions contain each other. */
  readonly expression: () => Expression;
  /** Whether a list is being built from a list: two such in each other could build one of any size. */
  isInComprehension: boolean;
}

/** `attempt` of the reader, with the state of the parser. */
export function attempt<T>(parser: Parser, read: () => T): T | null {
  const { isInComprehension } = parser;
  const result = parser.reader.attempt(read);
  if (result === null) parser.isInComprehension = isInComprehension;
  return result;
}
