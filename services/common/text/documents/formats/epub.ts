import { posix } from 'node:path';
import { engramError } from '../../../kernel/errors.ts';
import { append } from '../../../kernel/long-lists.ts';
import { decodedPath } from '../../../kernel/paths.ts';
import type { DocumentBlock } from '../../../ports/documents.ts';
import type { DocumentDraft } from './draft.ts';
import { readHtmlFragment } from './html-page.ts';
import type { ParseContext } from './limits.ts';
import { attribute, descendants, firstDescendant, localName, parseXml, textOf, type XmlElement } from './xml-tree.ts';
import type { ZipArchive } from './zip-archive.ts';

/** Reads the chapters of an e-book in reading order, without the table of contents. */
export function readEpub(archive: ZipArchive, context: ParseContext): DocumentDraft {
  const container = archive.readText('META-INF/container.xml');
  const rootFile = container === null ? null : firstDescendant(parseXml(container, context), 'rootfile');
  const packagePath = rootFile === null ? null : attribute(rootFile, 'full-path');
  const source = packagePath === null ? null : archive.readText(packagePath);
  if (source === null || packagePath === null) {
    throw engramError('UnreadableFileContentError', `'${context.fileName}' cannot be read: it has no package document`);
  }
  const root = parseXml(source, context);
  // The reading order may name a chapter twice.
  const chapters = [...new Set(chapterPaths(root, posix.dirname(packagePath)))];
  if (chapters.length > context.limits.maxPages) {
    throw engramError(
      'PayloadTooLargeError',
      `'${context.fileName}' has ${chapters.length} chapters; the limit is ${context.limits.maxPages}`,
    );
  }
  refuseProtected(archive, chapters, context);
  const blocks: DocumentBlock[] = [];
  for (const path of chapters) {
    const chapter = archive.readText(path);
    if (chapter !== null) append(blocks, readHtmlFragment(chapter, context));
  }
  const metadata = bookMetadata(root);
  return { blocks, title: metadata['title'] ?? null, metadata };
}

function chapterPaths(root: XmlElement, folder: string): string[] {
  const items = new Map([...descendants(root, 'item')].map((item) => [attribute(item, 'id') ?? '', item]));
  return [...descendants(root, 'itemref')].flatMap((reference) => {
    const item = items.get(attribute(reference, 'idref') ?? '');
    const href = item === undefined ? null : attribute(item, 'href');
    if (item === undefined || href === null || /\bnav\b/.test(attribute(item, 'properties') ?? '')) return [];
    return [posix.normalize(posix.join(folder, decodedPath(href.split('#')[0] ?? '')))];
  });
}

/** Whether copy protection encrypts chapters; obfuscated fonts alone are common and harmless. */
function refuseProtected(archive: ZipArchive, chapters: readonly string[], context: ParseContext): void {
  const source = archive.readText('META-INF/encryption.xml');
  if (source === null) return;
  const paths = new Set(chapters);
  for (const reference of descendants(parseXml(source, context), 'CipherReference')) {
    if (paths.has(decodedPath(attribute(reference, 'URI') ?? ''))) {
      throw engramError(
        'UnreadableFileContentError',
        `'${context.fileName}' cannot be read: it is encrypted by copy protection`,
      );
    }
  }
}

/** Elements of the package's metadata and their names in our metadata. */
const METADATA: ReadonlyMap<string, string> = new Map([
  ['title', 'title'],
  ['creator', 'author'],
  ['language', 'language'],
  ['publisher', 'publisher'],
  ['date', 'published'],
  ['description', 'description'],
]);

function bookMetadata(root: XmlElement): Record<string, string> {
  const found: Record<string, string> = {};
  const element = firstDescendant(root, 'metadata');
  for (const child of element?.children ?? []) {
    if (typeof child === 'string') continue;
    const name = localName(child);
    const key = METADATA.get(name);
    if (key === undefined) continue;
    const text = textOf(child)
      .replaceAll(/<[^<>]*>/g, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim();
    if (text !== '')
      found[key] = found[key] === undefined || key !== 'author' ? (found[key] ?? text) : `${found[key]}, ${text}`;
  }
  return found;
}
