import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rename, rm, rmdir, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { createContentDigest } from '../../../kernel/hashes.ts';
import type { Scope } from '../../../kernel/scope.ts';
import { nullIf } from '../../../platform/async/null-if.ts';
import { compareCodePoints } from '../../documents/rules/ordering.ts';
import type { BlobStore, FoundBlob } from '../../ports/blob-store.ts';
import { storeFaults } from '../../rules/store-faults.ts';
import { isBlobKey, requireBlobKey } from '../rules/blob-key.ts';
import { contentChunks } from '../rules/incoming-content.ts';
import { decodeSegment, encodeKey, encodeSegment, readEntry } from './path-encoding.ts';

interface FileBlobStoreOptions {
  /** Made when it is missing. One process at a time (the lock of the data directory). */
  readonly directory: string;
}

/** Folder of incomplete content, and of content that is being removed. Tenants never begin with a dot. */
const INCOMING = '.incoming';
/** Every lost race means that another call went on, so this many in a row do not happen. */
const MAX_ATTEMPTS = 100;

/**
 * Blobs as files: `<tenant>/datasets/<dataset>/<key>`, blobs of a tenant as such in `<tenant>/own/<key>`. What a put
 * acknowledges survives the death of the process. A power cut may take or tear what was put since the last quiet second
 * (`createLateSync`), half a minute at most under load.
 */
export async function createFileBlobStore({ directory }: FileBlobStoreOptions): Promise<BlobStore> {
  const incoming = join(directory, INCOMING);
  await guard(directory, () => prepare(incoming));
  const lateSync = createLateSync();
  const pathOf = (scope: Scope, key: string) => join(placeOf(directory, scope), ...encodeKey(key));

  return {
    put(scope, key, content, signal) {
      requireBlobKey(key);
      return guard(directory, async () => {
        const place = pathOf(scope, key);
        // Bytes at hand do not break off: the directory is made while they are written. A failure shows itself below.
        const made = content instanceof Uint8Array ? makeDirectory(place).catch(() => null) : null;
        let received: string | null = null;
        try {
          const { path, ...info } = await receive(incoming, content, signal);
          received = path;
          await made;
          await moveInto(path, place);
          lateSync.note(place);
          return { key, ...info };
        } catch (error) {
          if (received !== null) await rm(received, { force: true });
          // A directory without content would stay for ever: no key leads to it.
          await made;
          await prune(place, placeOf(directory, scope));
          throw error;
        }
      });
    },
    async get(scope, key) {
      if (!isBlobKey(key)) return null;
      // The descriptor stays with the bytes it was opened on, whatever replaces or removes them meanwhile.
      return (await openIfThere(pathOf(scope, key)))?.createReadStream() ?? null;
    },
    async stat(scope, key) {
      if (!isBlobKey(key)) return null;
      const size = await sizeOf(pathOf(scope, key));
      return size === null ? null : { sizeBytes: size };
    },
    async remove(scope, keys) {
      let removed = 0;
      for (const key of new Set(keys)) {
        if (isBlobKey(key) && (await removeFile(pathOf(scope, key), placeOf(directory, scope)))) removed += 1;
      }
      return removed;
    },
    removeAll(scope, prefix = '') {
      return guard(directory, () =>
        prefix === '' ? removePlaces(directory, scope) : removeBelow(placeOf(directory, scope), prefix),
      );
    },
    async list(scope, { prefix = '', limit }) {
      const found: FoundBlob[] = [];
      for await (const { key, path } of walkKeys(placeOf(directory, scope), prefix)) {
        if (found.length === limit) break;
        const sizeBytes = await sizeOf(path);
        if (sizeBytes !== null) found.push({ key, sizeBytes });
      }
      return found;
    },
  };
}

function tenantPlace(directory: string, scope: Scope): string {
  return join(directory, encodeSegment(scope.tenant));
}

function placeOf(directory: string, scope: Scope): string {
  const tenant = tenantPlace(directory, scope);
  return scope.dataset === undefined ? join(tenant, 'own') : join(tenant, 'datasets', encodeSegment(scope.dataset));
}

/** Removes content that an earlier process left half written. */
async function prepare(incoming: string): Promise<void> {
  await rm(incoming, { recursive: true, force: true });
  await mkdir(incoming, { recursive: true, mode: 0o700 });
}

/** The directory may be missing, also after it was made: a removal elsewhere prunes what is empty. */
async function moveInto(from: string, to: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await rename(from, to);
      return;
    } catch (error) {
      if (!isMissing(error) || attempt === MAX_ATTEMPTS) throw error;
      await makeDirectory(to);
    }
  }
}

async function makeDirectory(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
}

function openIfThere(path: string): Promise<FileHandle | null> {
  return nullIf(isMissing, open(path, 'r'));
}

async function sizeOf(path: string): Promise<number | null> {
  return (await nullIf(isMissing, stat(path)))?.size ?? null;
}

async function removeFile(path: string, place: string): Promise<boolean> {
  if ((await nullIf(isMissing, unlink(path))) === null) return false;
  await prune(path, place);
  return true;
}

/** Removes the directories above a path that are empty now, up to and including the place of the scope. */
async function prune(path: string, place: string): Promise<void> {
  for (let parent = dirname(path); parent.startsWith(place); parent = dirname(parent)) {
    try {
      await rmdir(parent);
    } catch {
      return; // not empty, or another removal was faster: both end the way up
    }
  }
}

async function removeBelow(place: string, prefix: string): Promise<number> {
  let removed = 0;
  for await (const { path } of walkKeys(place, prefix)) {
    if (await removeFile(path, place)) removed += 1;
  }
  return removed;
}

/** The place of the scope, or all places of its tenant. Moved aside first, so that readers stop seeing it at once. */
async function removePlaces(directory: string, scope: Scope): Promise<number> {
  const root = scope.dataset === undefined ? tenantPlace(directory, scope) : placeOf(directory, scope);
  const aside = join(directory, INCOMING, randomUUID());
  if ((await nullIf(isMissing, rename(root, aside))) === null) return 0;
  const entries = await readdir(aside, { recursive: true, withFileTypes: true });
  await rm(aside, { recursive: true, force: true });
  return entries.filter((entry) => entry.isFile()).length;
}

async function guard<T>(directory: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw fileError(error, directory);
  }
}

/**
 * Writes content to a file of its own while hashing it, so that what is later renamed into place is whole. A broken or
 * aborted stream leaves nothing.
 */
async function receive(directory: string, content: Readable | Uint8Array, signal?: AbortSignal) {
  const path = join(directory, randomUUID());
  signal?.throwIfAborted();
  const handle = await open(path, 'wx', 0o600);
  try {
    const written = await writeAll(handle, content, signal);
    await handle.close();
    return { path, ...written };
  } catch (error) {
    await handle.close();
    await rm(path, { force: true });
    throw error;
  }
}

async function writeAll(handle: FileHandle, content: Readable | Uint8Array, signal: AbortSignal | undefined) {
  const digest = createContentDigest();
  for await (const chunk of contentChunks(content, signal)) {
    digest.add(chunk);
    await handle.writeFile(chunk);
  }
  return digest.result();
}

interface LateSyncOptions {
  /** Quiet time after which files go to the disk. Default 1 s, as the document store does with its log. */
  readonly idleMs?: number;
  /** For tests; never rejects. */
  readonly sync?: (path: string) => Promise<void>;
}

/** By then the operating system has written the file back (Linux: 30 s until dirty pages expire, 5 s a round). */
const WRITTEN_BACK_MS = 35_000;

/**
 * Brings files to the disk when nothing was written for a while, so that a power cut can take the last moments only and
 * no request waits for the disk: a sync costs 1 to 10 ms, and makes everybody else's new files wait too. The death of the
 * process loses nothing either way.
 */
export function createLateSync({ idleMs = 1_000, sync = syncFile }: LateSyncOptions = {}) {
  const written = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let isSyncing = false;

  const syncAll = async () => {
    if (isSyncing) return;
    isSyncing = true;
    for (const [path, at] of written) {
      written.delete(path);
      if (Date.now() - at < WRITTEN_BACK_MS) await sync(path);
    }
    isSyncing = false;
  };
  return {
    /** The file was written or moved here. */
    note(path: string) {
      // A path that is written again goes to the end.
      written.delete(path);
      written.set(path, Date.now());
      timer ??= setTimeout(() => void syncAll(), idleMs).unref();
      timer.refresh();
    },
  };
}

/** A removed file needs no sync; an error of the disk shows when the file is read. */
async function syncFile(path: string): Promise<void> {
  try {
    const handle = await open(path, 'r');
    try {
      await handle.datasync();
    } finally {
      await handle.close();
    }
  } catch {}
}

/** Blobs below a directory with keys that begin with `prefix`, in code point order of the key. */
async function* walkKeys(
  directory: string,
  prefix: string,
  parent = '',
): AsyncGenerator<{ readonly key: string; readonly path: string }> {
  const entries = await readEntries(directory, '');
  for (const { name, path, isFile } of entries.sort((a, b) => compareCodePoints(a.name, b.name))) {
    const key = parent + name;
    // The key of a directory ends in `/`: every key in it begins with that.
    if (isFile && key.startsWith(prefix)) yield { key, path };
    else if (!isFile && (key.startsWith(prefix) || prefix.startsWith(key))) yield* walkKeys(path, prefix, key);
  }
}

interface Entry {
  /** Name; of a directory with its `/`, so that sorting entries sorts the keys below them. */
  readonly name: string;
  readonly path: string;
  readonly isFile: boolean;
}

/** A continued name is read through: its parts are entries of the directory that its first part stands in. */
async function readEntries(directory: string, begun: string): Promise<Entry[]> {
  const found: Entry[] = [];
  for (const name of await namesIn(directory)) {
    const path = join(directory, name);
    const { kind, encoded } = readEntry(name);
    if (kind === 'continued') found.push(...(await readEntries(path, begun + encoded)));
    else if (kind === 'file') found.push({ name: decodeSegment(begun + encoded), path, isFile: true });
    else found.push({ name: `${decodeSegment(begun + encoded)}/`, path, isFile: false });
  }
  return found;
}

/** Empty for a directory that is removed while walking, or before anything was put. */
async function namesIn(directory: string): Promise<readonly string[]> {
  return (await nullIf(isMissing, readdir(directory))) ?? [];
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | null)?.code;
}

/** Whether the path, or a directory on the way to it, does not exist. */
function isMissing(error: unknown): boolean {
  return codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR';
}

/** One clear message for what an operator can fix; any other error as it is. */
function fileError(error: unknown, directory: string): unknown {
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
