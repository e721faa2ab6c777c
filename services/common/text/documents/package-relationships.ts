import { posix } from 'node:path';
import type { ParseContext } from './limits.ts';
import { attribute, descendants, parseXml } from './xml-tree.ts';
import type { ZipArchive } from './zip-archive.ts';

/** Targets of the relationships of a part, by id, as paths inside the archive. */
export function relationships(
  archive: ZipArchive,
  partPath: string,
  context: ParseContext,
): Map<string, { readonly path: string; readonly type: string }> {
  const folder = posix.dirname(partPath);
  const source = archive.readText(`${folder}/_rels/${posix.basename(partPath)}.rels`);
  const found = new Map<string, { path: string; type: string }>();
  if (source === null) return found;
  for (const relationship of descendants(parseXml(source, context), 'Relationship')) {
    const target = attribute(relationship, 'Target') ?? '';
    const path = target.startsWith('/') ? target.slice(1) : posix.normalize(posix.join(folder, target));
    found.set(attribute(relationship, 'Id') ?? '', {
      path,
      type: attribute(relationship, 'Type')?.split('/').at(-1) ?? '',
    });
  }
  return found;
}
