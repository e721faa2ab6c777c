import { posix } from 'node:path';
import type { ParseContext } from './limits.ts';
import { attribute, childElements, descendants, localName, parseXml, textOf } from './xml-tree.ts';
import type { ZipArchive } from './zip-archive.ts';

const WANTED: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    title: 'title',
    creator: 'author',
    subject: 'subject',
    keywords: 'keywords',
    description: 'description',
    created: 'created',
    'creation-date': 'created',
    modified: 'modified',
    date: 'modified',
  }),
);

/** Returns title, author and dates of an office document: `docProps/core.xml` (OOXML) or `meta.xml` (OpenDocument). */
export function packageProperties(archive: ZipArchive, context: ParseContext): Record<string, string> {
  const source = archive.readText('docProps/core.xml') ?? archive.readText('meta.xml');
  const properties: Record<string, string> = {};
  if (source === null) return properties;
  for (const root of childElements(parseXml(source, context))) {
    const meta = childElements(root, 'meta')[0] ?? root;
    for (const element of childElements(meta)) {
      const key = WANTED.get(localName(element));
      const value = textOf(element).trim();
      if (key !== undefined && value !== '') properties[key] = value;
    }
  }
  return properties;
}

/** Returns the targets of a part's relationships by id, as paths in the archive. */
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
