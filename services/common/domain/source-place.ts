import { decodedPath } from '../kernel/paths.ts';
import type { DataItem } from './data-item.ts';

/**
 * Returns the path of an item in its repository or folder, and the repository where its source is one: as a client of the
 * import gave it, else by its address. Without either it is the name of the file.
 */
export function sourcePlace({ fileName, externalMetadata }: Pick<DataItem, 'fileName' | 'externalMetadata'>): {
  readonly path: string;
  readonly repository: string | null;
} {
  const { source_path: given, _cognee: origin } = externalMetadata;
  if (typeof given === 'string' && given !== '') return { path: joinPath('', given), repository: null };
  const { source_uri: uri } = Object(origin) as { readonly source_uri?: unknown };
  const address = typeof uri === 'string' ? URL.parse(uri) : null;
  const path = decodedPath(address?.pathname ?? '');
  if (address?.protocol === 'file:' && path.endsWith(`/${fileName}`)) {
    return { path: joinPath('', path), repository: null };
  }
  const [, repository, inside] = /^\/([^/]+\/[^/]+)(?:\/-)?\/blob\/[^/]+\/(.+)$/u.exec(path) ?? [];
  if (repository === undefined || inside === undefined) return { path: fileName, repository: null };
  return { path: inside, repository };
}

/** Resolves a relative path of a file in a folder (`./a.ts` in `src` is `src/a.ts`); what leads out of the repository is dropped. */
export function joinPath(folder: string, path: string): string {
  const parts: string[] = [];
  for (const part of `${folder}/${path}`.split(/[\\/]/u)) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return parts.join('/');
}

export function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}
