import type { Expression, Pattern } from './syntax.ts';
import type { Value } from './values.ts';

/** Values of the variables, each in its slot. One frame holds those of the whole query. */
export type Row = Value[];
export type Evaluator = (row: Row) => Value;
/** Variables and functions that an expression is compiled with. */
export interface Environment {
  /** Variables by name. */
  readonly scope: ReadonlyMap<string, number>;
  newSlot(): number;
  /** Expressions whose value is in a slot already: aggregates and columns. By `expressionKey`. */
  readonly known: ReadonlyMap<string, number>;
  match(patterns: readonly Pattern[], where: Expression | null, environment: Environment): Matcher;
}

/** Returns false to end the matching. */
export type Emit = (row: Row) => boolean;

export interface Matcher {
  /** Variables from here on. */
  readonly scope: ReadonlyMap<string, number>;
  /** Slots that a match fills; nulls for a match that is optional. */
  readonly slots: readonly number[];
  /** Gives each match of the patterns as the row with their variables, one row that changes; false when it was ended. */
  run(row: Row, emit: Emit): boolean;
}
