import { existsSync, mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { engramError } from '../common/kernel/errors.ts';

/** Errors: `ServiceUnavailableError` with the reason. */
export function makeDataDirectory(directory: string): void {
  try {
    makePath(resolve(directory));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw engramError('ServiceUnavailableError', `The data directory ${directory} cannot be made: ${reason}`, {
      cause,
    });
  }
}

/** Makes a folder and its parents. `recursive` of `mkdirSync` never ends below folders that take none, such as /proc (Node 24). */
function makePath(path: string): void {
  if (existsSync(path)) return void mkdirSync(path, { recursive: true });
  if (!existsSync(dirname(path))) makePath(dirname(path));
  mkdirSync(path, { mode: 0o700 });
}
