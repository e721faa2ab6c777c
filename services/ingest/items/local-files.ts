import { createReadStream } from 'node:fs';
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { engramError } from '../../common/kernel/errors.ts';
import { createContentDigest } from '../../common/kernel/hashes.ts';
import { isBelow } from '../../common/kernel/paths.ts';
import type { IngestSettings } from '../dependencies.ts';
import { fileAddress, type Source } from './input-source.ts';

const MAX_FILES = 1000;

/**
 * Reads paths of the server where the configuration allows it, and only below the listed roots (links resolved first).
 * The answer is null for text that names no existing path, so it stays text. A folder gives its files, hidden ones left out.
 */
export function createLocalReader(
  settings: IngestSettings,
): ((value: string) => Promise<readonly Source[] | null>) | null {
  if (!settings.acceptLocalPaths) return null;
  return async (value) => {
    const path = await existingPath(value);
    if (path === null) return null;
    const roots = await Promise.all(settings.localRoots.map((root) => realpath(root).catch(() => root)));
    if (!roots.some((root) => isBelow(root, path))) {
      throw engramError('PermissionDeniedError', 'the path is outside the folders that this server may read');
    }
    const files = (await stat(path)).isDirectory() ? await filesBelow(path) : [path];
    return Promise.all(files.map((file) => fileSource(file, relative(dirname(path), file), settings.maxDocumentBytes)));
  };
}

async function existingPath(value: string): Promise<string | null> {
  if (value.length > 4096 || value.includes('\n') || value.includes('\0')) return null;
  const isFileUrl = /^file:\/\//i.test(value);
  if (!isFileUrl && !value.startsWith('/') && !/^[a-z]:[\\/]/i.test(value)) return null;
  try {
    return await realpath(isFileUrl ? fileURLToPath(value) : value);
  } catch {
    // No such path, or not one we may look at: alike to the caller.
    return null;
  }
}

async function filesBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  const files = entries
    .filter(
      (entry) => entry.isFile() && !entry.name.startsWith('.') && !/[\\/]\./.test(relative(folder, entry.parentPath)),
    )
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
  if (files.length > MAX_FILES) {
    throw engramError('InvalidRequestError', `the folder holds more than ${MAX_FILES} files; add its parts one by one`);
  }
  return files;
}

async function fileSource(path: string, place: string, maxBytes: number): Promise<Source> {
  const { size } = await stat(path);
  if (size > maxBytes) throw engramError('PayloadTooLargeError', `${basename(path)} is larger than ${maxBytes} bytes`);
  const digest = createContentDigest();
  for await (const chunk of createReadStream(path)) digest.add(chunk as Buffer);
  const fileName = basename(path);
  return {
    fileName,
    ...digest.result(),
    sizeBytes: size,
    sourceUri: fileAddress(place),
    plainText: false,
    bytes: () => readFile(path),
  };
}
