import type { Readable, Writable } from 'node:stream';

/** Parts of the process that a command may use; tests give their own. */
export interface Terminal {
  /** Answers, the only thing that scripts read. */
  readonly out: Writable;
  /** Progress, notes and errors. */
  readonly err: Writable;
  readonly input: Readable;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** A person can be asked, and sees a bar move. */
  readonly isInteractive: boolean;
  /** Calls the listener right before a signal (Ctrl-C) ends the process; the result removes it. */
  readonly onInterrupt?: (listener: () => void) => () => void;
}

export const exitCodes = {
  ok: 0,
  /** The server refused, or some of the work failed. */
  failed: 1,
  /** The command line is wrong. */
  usage: 2,
  /** No server answers. */
  unreachable: 3,
} as const;

/** Ends a command with one clear message. */
export class CliFailure extends Error {
  override readonly name = 'CliFailure';
  readonly exitCode: number;

  constructor(message: string, exitCode: number, options: ErrorOptions = {}) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

export function usageFailure(message: string): CliFailure {
  return new CliFailure(message, exitCodes.usage);
}
