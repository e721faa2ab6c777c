import type { Dirent, Stats } from 'node:fs';
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { basename, join, sep } from 'node:path';
import { engramError } from '../../common/kernel/errors.ts';
import { isBelow } from '../../common/kernel/paths.ts';
import type { ChangePage, Connector, SourceResource } from './connector.ts';

const PAGE = 500;
const QUIET_MS = 1000;
/** The resource of the files that lie at the address itself. */
export const TOP = '.';

/**
 * A folder of the server, below one of the roots that its operator lists, with the folders in it as resources. It is watched, and
 * looked through every ten minutes besides: some file systems report nothing. Hidden files and links are left out.
 */
export function createFolderConnector({
  roots,
  maxBytes,
}: {
  readonly roots: readonly string[];
  readonly maxBytes: number;
}): Connector {
  const allowed = async (address: string): Promise<string> => {
    const path = await realpath(address).catch(() => null);
    const resolved = await Promise.all(roots.map((root) => realpath(root).catch(() => root)));
    // A folder that does not exist and one that may not be read are alike to the caller.
    if (path === null || !resolved.some((root) => isBelow(root, path))) {
      throw engramError(
        'PermissionDeniedError',
        'There is no such folder among those that this server may read (COGNEE_ALLOWED_LOCAL_FILE_ROOTS).',
      );
    }
    if (!(await stat(path)).isDirectory()) throw engramError('InvalidRequestError', 'The path is not a folder.');
    return path;
  };
  /** The folder of a connection; one that is gone is not taken for an empty one. */
  const open = (path: string) =>
    allowed(path).catch(() => {
      throw new Error(`The folder ${basename(path)} cannot be read.`);
    });
  return {
    provider: 'folder',
    capabilities: {
      title: 'Folder',
      feeds: ['files'],
      selection: 'optional',
      accounts: 'of each user',
      everyMs: 600_000,
    },
    datasetName: ({ accountLabel }) => `folder_${slug(accountLabel)}`,
    async connect(address) {
      const path = await allowed(address);
      return { accountId: path, label: basename(path), authType: 'none', scopes: [], metadata: {} };
    },
    async list({ connection }) {
      const entries = await readdir(await open(connection.accountId), { withFileTypes: true });
      const folders = entries.filter((entry) => entry.isDirectory() && !isHidden(entry)).map(({ name }) => name);
      return folderResources('Files in the folder itself', folders.toSorted());
    },
    async *changesSince({ connection, signal }, { resource }) {
      const root = await open(connection.accountId);
      const files: string[] = [];
      for await (const file of filesOf(root, resource)) {
        signal.throwIfAborted();
        files.push(file);
      }
      yield* pagesOf(root, files);
    },
    async fetch({ connection }, { key }) {
      const root = await open(connection.accountId);
      const path = join(root, key);
      const facts = await factsOf(path);
      if (facts === null || !isBelow(root, await realpath(path))) return null;
      if (facts.size > maxBytes) throw engramError('PayloadTooLargeError', `it is larger than ${maxBytes} bytes`);
      const uri = `file:///${key.split(sep).map(encodeURIComponent).join('/')}`;
      const content = await readFile(path);
      return { fileName: basename(key), mimeType: null, content, version: versionOf(facts), uri };
    },
    watch({ accountId }, changed) {
      let timer: NodeJS.Timeout | undefined;
      const later = () => {
        clearTimeout(timer);
        timer = setTimeout(changed, QUIET_MS);
      };
      const opening = openWatcher(accountId, later);
      return {
        async close() {
          await (await opening).close();
          clearTimeout(timer);
        },
      };
    },
  };
}

async function* pagesOf(root: string, files: readonly string[]): AsyncGenerator<ChangePage> {
  for (let at = 0; at < files.length || at === 0; at += PAGE) {
    const slice = files.slice(at, at + PAGE);
    const found = await Promise.all(slice.map(async (key) => ({ key, facts: await factsOf(join(root, key)) })));
    const present = found.flatMap(({ key, facts }) =>
      facts === null || facts.size === 0 ? [] : [{ key, version: versionOf(facts) }],
    );
    const isLast = at + PAGE >= files.length;
    yield { present, gone: [], cursor: null, total: files.length, ...(isLast ? { isWhole: true } : {}) };
  }
}

/** Loaded with the first folder that is connected. */
async function openWatcher(folder: string, changed: () => void) {
  const { watch } = await import('chokidar');
  const ignored = (path: string) => path !== folder && basename(path).startsWith('.');
  const watcher = watch(folder, { ignoreInitial: true, followSymlinks: false, ignored });
  watcher.on('all', changed);
  // What changed before it was watched.
  watcher.on('ready', changed);
  // What it cannot watch is found by the periodic import.
  watcher.on('error', () => {});
  return watcher;
}

/** Paths below the root, in a stable order; `TOP` gives the files that lie in it. */
async function* filesOf(root: string, folder: string): AsyncGenerator<string> {
  const entries = await readdir(join(root, folder), { withFileTypes: true });
  const named = entries.filter((entry) => !isHidden(entry)).toSorted((one, other) => (one.name < other.name ? -1 : 1));
  for (const entry of named) {
    const path = folder === TOP ? entry.name : join(folder, entry.name);
    if (entry.isFile()) yield path;
    else if (entry.isDirectory() && folder !== TOP) yield* filesOf(root, path);
  }
}

function isHidden({ name }: Dirent): boolean {
  return name.startsWith('.');
}

/** Null: it is gone. */
async function factsOf(path: string): Promise<Stats | null> {
  return stat(path).catch(() => null);
}

function versionOf({ mtimeMs, size }: Stats): string {
  return `${mtimeMs}:${size}`;
}

/** The folders at an address as resources, after the files that lie in none of them. */
export function folderResources(topName: string, folders: readonly string[]): readonly SourceResource[] {
  return [TOP, ...folders].map((id) => ({
    id,
    name: id === TOP ? topName : id,
    description: null,
    attributes: {},
  }));
}

/** As the contract makes names of datasets from labels. */
export function slug(label: string): string {
  return label
    .replaceAll(/\W+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .toLowerCase();
}
