import type { ApiClient } from './api-client.ts';
import type { Terminal } from './terminal.ts';

export interface OptionDescription {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
  readonly multiple?: boolean;
  /** Shown for the value in the help text. */
  readonly value?: string;
  readonly meaning: string;
}

export type OptionValues = Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;

export interface CommandCall {
  readonly arguments: readonly string[];
  readonly options: OptionValues;
  readonly api: ApiClient;
  readonly terminal: Terminal;
  /** Value of `--dataset`; null without it. */
  readonly datasetGiven: string | null;
  /** The one given, else `main_dataset`. */
  readonly dataset: string;
  /** Answers are to be printed as JSON. */
  readonly asJson: boolean;
}

/** One verb of a group: `engram users create <email>`. */
export interface Action {
  readonly name: string;
  /** Arguments: `<email>` must be there, `[id]` may be, `<id>...` is one or more. */
  readonly parameters?: string;
  readonly summary: string;
  readonly options?: Readonly<Record<string, OptionDescription>>;
  /** The effect, as a question to a person before it does: `Delete user x?`. */
  readonly asks?: (call: CommandCall) => string;
  /** Resolves to the answer of the server. */
  request(call: CommandCall): Promise<unknown>;
  /** Text for people; without it tables and lines are made of the answer. */
  readonly show?: (answer: unknown, call: CommandCall) => string;
  /** Fields of a table, in order; without it all that hold text or numbers. */
  readonly fields?: readonly string[];
}

export interface Command {
  readonly name: string;
  /** Text behind the name in the usage line. */
  readonly usage: string;
  readonly summary: string;
  readonly details?: string;
  readonly options: Readonly<Record<string, OptionDescription>>;
  /** Verbs of a group, for help and completion. */
  readonly actions?: readonly Action[];
  /** Gets its arguments as they are: another program reads them. */
  readonly takesAll?: boolean;
  /** Resolves to the exit code. */
  run(call: CommandCall): Promise<number>;
}

export function stringOption(options: OptionValues, name: string): string | null {
  const value = options[name];
  return typeof value === 'string' && value !== '' ? value : null;
}

export function stringList(options: OptionValues, name: string): string[] {
  const value = options[name];
  return Array.isArray(value) ? value.filter((entry): entry is string => typeof entry === 'string') : [];
}

export function isSet(options: OptionValues, name: string): boolean {
  return options[name] === true;
}
