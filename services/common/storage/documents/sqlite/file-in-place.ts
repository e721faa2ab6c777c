import { type BigIntStats, statSync } from 'node:fs';
import { basename } from 'node:path';
import { engramError } from '../../../kernel/errors.ts';

/**
 * Remembers which file stands at the path now. The answer throws `ServiceUnavailableError` when the file was removed or
 * another one stands there: SQLite would go on with the old one, which is gone when the process ends.
 */
export function rememberFile(path: string): () => void {
  const known = identityOf(path);
  return () => {
    const current = identityOf(path);
    if (current !== null && current.dev === known?.dev && current.ino === known.ino) return;
    throw engramError(
      'ServiceUnavailableError',
      `The file ${basename(path)} was ${current === null ? 'removed' : 'replaced'} while the server was running, so ` +
        'nothing is written any more. Stop the server, restore the data directory and start it again',
    );
  };
}

/** Null when nothing can be read at the path, for whatever reason. */
function identityOf(path: string): BigIntStats | null {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}
