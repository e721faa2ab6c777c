import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type EngramError, engramError, isEngramError } from '../../kernel/errors.ts';
import { ArchiveTooLarge, InvalidArchive, tarMembers } from '../archives/members.ts';
import { packagedFormat } from './detect-format.ts';
import { defaultDocumentLimits } from './formats/limits.ts';
import { openZip } from './formats/zip-archive.ts';

/** Files of an archive that are documents of their own, and those that cannot be unpacked. */
interface FileArchive {
  readonly files: readonly { readonly path: string; readonly content: Uint8Array }[];
  readonly unread: readonly { readonly path: string; readonly error: EngramError }[];
}

const MIB = 1024 * 1024;
/** All files are held in memory until they are stored. */
const LIMITS = { members: 10_000, memberBytes: 64 * MIB, bytes: 128 * MIB } as const;

const ARCHIVE_NAME = /\.(?:zip|tar|tar\.gz|tgz)$/iu;
/** Archives of a memory have a way of their own (`content_type=cogx-archive`). */
const MEMORY_NAME = /\.cogx\.(?:tar\.gz|tgz)$/iu;
/** Hidden files, what systems and package managers put beside them: no one adds an archive for these. */
const PASSED_OVER = /(?:^|\/)(?:\.[^/]+|__MACOSX|__pycache__|node_modules)(?:\/|$)/u;

export function isFileArchive(fileName: string): boolean {
  return ARCHIVE_NAME.test(fileName) && !MEMORY_NAME.test(fileName);
}

/**
 * Unpacks an archive of files, without hidden and empty ones. Null: it is a document that is packed as ZIP. An archive in it is a file
 * like others. Errors: `UnreadableFileContentError`, `PayloadTooLargeError` for more than 10,000 files or 128 MiB, of the
 * archive as a whole; a file that is damaged or has a password is among `unread`.
 */
export async function readFileArchive(fileName: string, content: Uint8Array): Promise<FileArchive | null> {
  const archive = /\.zip$/iu.test(fileName) ? await readZip(fileName, content) : await readTar(fileName, content);
  if (archive !== null && archive.files.length + archive.unread.length === 0) {
    throw engramError('UnsupportedFileTypeError', `'${fileName}' is an archive without files that can be added`);
  }
  return archive;
}

async function readZip(fileName: string, content: Uint8Array): Promise<FileArchive | null> {
  const limits = { ...defaultDocumentLimits, maxArchiveEntries: LIMITS.members, maxExpandedBytes: LIMITS.bytes };
  const zip = openZip(content, { fileName, declaredMimeType: undefined, limits });
  if (packagedFormat(zip.names, zip.has('mimetype') ? zip.readText('mimetype') : null) !== null) return null;
  const files: { path: string; content: Uint8Array }[] = [];
  const unread: { path: string; error: EngramError }[] = [];
  for (const path of zip.names) {
    if (leadsOutside(path)) throw unreadable(fileName, 'The name of a member leads outside the archive.');
    if (path.endsWith('/') || PASSED_OVER.test(path)) continue;
    try {
      const own = zip.read(path);
      if (own !== null && own.length > 0) files.push({ path, content: own });
    } catch (error) {
      if (!isEngramError(error) || error.wireName !== 'UnreadableFileContentError') throw error;
      unread.push({ path, error });
    }
    // Unpacking blocks: others have their turn between two files.
    await nextTurn();
  }
  return { files, unread };
}

async function readTar(fileName: string, content: Uint8Array): Promise<FileArchive> {
  const files: { path: string; content: Uint8Array }[] = [];
  try {
    const options = { isCompressed: !/\.tar$/iu.test(fileName), limits: LIMITS };
    for await (const { name, content: parts } of tarMembers(Readable.from([content]), options)) {
      const path = name.replace(/^(?:\.\/)+/u, '');
      if (PASSED_OVER.test(path)) continue;
      const own = await buffer(parts);
      if (own.length > 0) files.push({ path, content: own });
    }
  } catch (error) {
    if (!(error instanceof InvalidArchive)) throw error;
    if (error instanceof ArchiveTooLarge) {
      throw engramError('PayloadTooLargeError', `'${fileName}' unpacks to too much: ${error.message}`, {
        cause: error,
      });
    }
    throw unreadable(fileName, error.message, error);
  }
  return { files, unread: [] };
}

function leadsOutside(path: string): boolean {
  return /^(?:\/|[a-z]:)/iu.test(path) || path.split('/').includes('..');
}

function unreadable(fileName: string, reason: string, cause?: unknown): EngramError {
  return engramError('UnreadableFileContentError', `'${fileName}' cannot be unpacked: ${reason}`, { cause });
}
