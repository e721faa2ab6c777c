import { engramError } from '../../../kernel/errors.ts';

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | null)?.code;
}

/** The path, or a directory on the way to it, does not exist. */
export function isMissing(error: unknown): boolean {
  return codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR';
}

/** One clear message for what an operator can mend; any other error as it is. */
export function fileError(error: unknown, directory: string): unknown {
  const options = { cause: error };
  switch (codeOf(error)) {
    case 'ENOSPC':
    case 'EDQUOT':
      return engramError('ServiceUnavailableError', `The disk that holds ${directory} is full; nothing was written`, {
        ...options,
        retryable: true,
      });
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
    case 'ENOTDIR':
    case 'EEXIST':
      return engramError('ServiceUnavailableError', `The directory ${directory} cannot be written`, options);
    case 'EMFILE':
    case 'ENFILE':
      return engramError('ServiceUnavailableError', 'Too many files are open', { ...options, retryable: true });
    default:
      return error;
  }
}
