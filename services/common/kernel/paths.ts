import { relative, sep } from 'node:path';

/** Whether a path is a folder itself or lies in it; both without links and `..`. */
export function isBelow(root: string, path: string): boolean {
  const inside = relative(root, path);
  return inside === '' || (!inside.startsWith(`..${sep}`) && inside !== '..' && !inside.startsWith(sep));
}
