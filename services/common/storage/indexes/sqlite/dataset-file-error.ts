import { engramError, isEngramError } from '../../../kernel/errors.ts';
import { storeError } from '../../documents/sqlite/sqlite-errors.ts';

/** Says what can be done about a damaged dataset file: unlike the records, it can be made anew from what was added. */
export function datasetFileError(error: unknown, path: string): unknown {
  if (!isDamaged(error, path)) return error;
  return engramError(
    'CorruptStoreError',
    `The index file ${path} of the dataset is damaged or no SQLite database. Restore it from a backup, or forget the ` +
      "dataset's memory (memory_only) and cognify it again: what was added is kept elsewhere",
    { cause: error },
  );
}

export function isDamaged(error: unknown, path: string): boolean {
  const known = storeError(error, path) ?? error;
  return isEngramError(known) && known.wireName === 'CorruptStoreError';
}
