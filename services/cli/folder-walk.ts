import { open, opendir } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import type { DocumentLoader } from '../common/ports/documents.ts';

export interface FoundFile {
  readonly path: string;
  /** Path from the named folder, with forward slashes. */
  readonly relativePath: string;
  readonly sizeBytes: number;
}

export interface SkippedFile {
  readonly relativePath: string;
  readonly reason: 'empty' | 'too large' | 'not a document' | 'symbolic link' | 'unreadable';
}

export interface WalkOptions {
  readonly maxBytes: number;
  readonly detect: DocumentLoader['detect'];
}

/** Folders that hold what tools made, not what people wrote. */
const TOOL_FOLDERS = new Set(['node_modules', 'bower_components', '__pycache__', 'venv', 'site-packages']);

/** The documents below a folder in a stable order; hidden files and folders are passed over in silence. */
export async function walkFolder(
  root: string,
  options: WalkOptions,
): Promise<{ files: FoundFile[]; skipped: SkippedFile[] }> {
  const files: FoundFile[] = [];
  const skipped: SkippedFile[] = [];
  const visit = async (folder: string): Promise<void> => {
    const entries = [];
    for await (const entry of await opendir(folder)) if (!entry.name.startsWith('.')) entries.push(entry);
    entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        if (!TOOL_FOLDERS.has(entry.name)) await visit(path);
      } else if (entry.isFile()) {
        const relativePath = relative(root, path).split(sep).join('/');
        const looked = await look(path, entry.name, options);
        if (typeof looked === 'string') skipped.push({ relativePath, reason: looked });
        else files.push({ path, relativePath, sizeBytes: looked });
      } else if (entry.isSymbolicLink()) {
        skipped.push({ relativePath: relative(root, path).split(sep).join('/'), reason: 'symbolic link' });
      }
    }
  };
  await visit(root);
  return { files, skipped };
}

/** The size of a file worth sending, or why it is none. */
async function look(path: string, name: string, options: WalkOptions): Promise<number | SkippedFile['reason']> {
  let handle: Awaited<ReturnType<typeof open>> | null = null;
  try {
    handle = await open(path);
    const { size } = await handle.stat();
    if (size === 0) return 'empty';
    if (size > options.maxBytes) return 'too large';
    const head = Buffer.alloc(Math.min(size, 4_100));
    await handle.read(head, 0, head.length, 0);
    return (await options.detect(name, head)) === null ? 'not a document' : size;
  } catch {
    return 'unreadable';
  } finally {
    await handle?.close();
  }
}
