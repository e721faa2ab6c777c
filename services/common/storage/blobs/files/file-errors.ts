import { storeFaults } from '../../rules/store-faults.ts';

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | null)?.code;
}

/** Whether the path, or a directory on the way to it, does not exist. */
export function isMissing(error: unknown): boolean {
  return codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR';
}

/** One clear message for what an operator can fix; any other error as it is. */
export function fileError(error: unknown, directory: string): unknown {
  const faults = storeFaults(error);
  switch (codeOf(error)) {
    case 'ENOSPC':
    case 'EDQUOT':
      return faults.unavailable(`The disk that holds ${directory} is full; nothing was written`);
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
    case 'ENOTDIR':
    case 'EEXIST':
      return faults.refused(`The directory ${directory} cannot be written`);
    case 'EMFILE':
    case 'ENFILE':
      return faults.unavailable('Too many files are open');
    default:
      return error;
  }
}
