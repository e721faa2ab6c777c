import { relative, sep } from 'node:path';

/** Whether a path is a folder itself or lies in it; both without links and `..`. */
export function isBelow(root: string, path: string): boolean {
  const inside = relative(root, path);
  return inside === '' || (!inside.startsWith(`..${sep}`) && inside !== '..' && !inside.startsWith(sep));
}

/** Decodes the percent signs of a path; a path that holds others stays as it is. */
export function decodedPath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
