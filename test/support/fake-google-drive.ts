import { createHash } from 'node:crypto';
import { type GoogleAnswer, GoogleFault, pageOf } from './fake-google.ts';

interface FakeDriveFile {
  name: string;
  mimeType: string;
  parent: string;
  content: string;
  modified: number;
  trashed?: boolean;
  canDownload?: boolean;
  /** Granted on the file or folder itself; what is below a folder has them as well. */
  permissions?: readonly FakePermission[];
  /** The person who connects it may only read it, and is not told who else may. */
  isReadOnly?: boolean;
}

export interface FakePermission {
  readonly type: 'user' | 'group' | 'domain' | 'anyone';
  readonly emailAddress?: string;
  readonly domain?: string;
  readonly allowFileDiscovery?: boolean;
  readonly deleted?: boolean;
  readonly expirationTime?: string;
}

const GOOGLE = 'application/vnd.google-apps.';
export const DRIVE_FOLDER = `${GOOGLE}folder`;
export const MY_DRIVE = '0AMyDriveRoot';

/** Google Drive with its log of changes, one per shared drive and one of the person. */
export function createFakeDrive(state: { readonly page: number; readonly person: { readonly email: string } }) {
  const files = new Map<string, FakeDriveFile>();
  const drives = new Map<string, string>();
  /** Members of shared drives. */
  const members = new Map<string, readonly FakePermission[]>();
  const log: { readonly fileId: string; readonly driveId: string | null; readonly isRemoved: boolean }[] = [];
  const options = {
    /** Tokens before it are not known any more. */
    firstToken: 0,
  };
  let ids = 0;
  let clock = Date.UTC(2026, 0, 1);

  const driveOf = (id: string): string | null => {
    if (drives.has(id)) return id;
    const parent = files.get(id)?.parent;
    return parent === undefined ? null : driveOf(parent);
  };
  const isTrashed = (id: string): boolean => {
    const file = files.get(id);
    return file !== undefined && (file.trashed === true || isTrashed(file.parent));
  };
  const note = (fileId: string, driveId: string | null, isRemoved = false) => {
    log.push({ fileId, driveId, isRemoved });
  };
  /** Its own, and those of the folders above it. */
  const permissionsOf = (id: string): readonly FakePermission[] => {
    const file = files.get(id);
    if (file !== undefined) return [...(file.permissions ?? []), ...permissionsOf(file.parent)];
    return members.get(id) ?? [{ type: 'user', emailAddress: state.person.email }];
  };
  const fileOf = (asked: string): object | undefined => {
    const id = asked === 'root' ? MY_DRIVE : asked;
    const isTop = id === MY_DRIVE || drives.has(id);
    const file = isTop
      ? { name: drives.has(id) ? 'Drive' : 'My Drive', mimeType: DRIVE_FOLDER, parent: null, content: '', modified: 0 }
      : files.get(id);
    if (file === undefined) return undefined;
    const driveId = driveOf(id);
    const isOwn = file.mimeType.startsWith(GOOGLE);
    return {
      kind: 'drive#file',
      id,
      name: file.name,
      mimeType: file.mimeType,
      trashed: isTrashed(id),
      modifiedTime: new Date(file.modified).toISOString(),
      webViewLink: `https://drive.google.test/${id}`,
      capabilities: { canDownload: !('canDownload' in file) || file.canDownload !== false },
      ...(file.parent === null ? {} : { parents: [file.parent] }),
      ...(driveId === null ? {} : { driveId, hasAugmentedPermissions: (files.get(id)?.permissions ?? []).length > 0 }),
      ...(driveId === null && files.get(id)?.isReadOnly !== true ? { permissions: permissionsOf(id) } : {}),
      ...(isOwn ? {} : { size: String(Buffer.byteLength(file.content)), md5Checksum: md5(file.content) }),
    };
  };

  /** The parts of the query language that are used, and no others. */
  const matching = (query: URLSearchParams): readonly string[] => {
    const q = query.get('q') ?? '';
    const parents = [...q.matchAll(/'([^']+)' in parents/g)].map(([, id = '']) => (id === 'root' ? MY_DRIVE : id));
    const kind = /mimeType = '([^']+)'/.exec(q)?.[1];
    const rest = q.replaceAll(/'[^']+' in parents|mimeType = '[^']+'|trashed = false|\b(and|or)\b|[() ]/g, '');
    if (rest !== '') throw new GoogleFault(400, 'invalid', 'Invalid Value');
    const corpora = query.get('corpora') ?? 'user';
    if (corpora === 'drive' && !drives.has(query.get('driveId') ?? '')) throw new GoogleFault(404, 'notFound');
    return [...files].flatMap(([id, file]) => {
      const driveId = driveOf(id);
      const isIn = corpora === 'drive' ? driveId === query.get('driveId') : corpora === 'allDrives' || driveId === null;
      const isAsked =
        (parents.length === 0 || parents.includes(file.parent)) && (kind ?? file.mimeType) === file.mimeType;
      return isIn && isAsked && !isTrashed(id) ? [id] : [];
    });
  };

  const changes = (query: URLSearchParams): object => {
    const token = Number(query.get('pageToken'));
    if (!(token >= options.firstToken && token <= log.length)) throw new GoogleFault(400, 'invalid', 'Invalid Value');
    const size = Math.min(state.page, Number(query.get('pageSize') ?? 100));
    const entries = log.slice(token, token + size);
    const next = token + entries.length;
    const seen = new Set<string>();
    const told = entries
      .toReversed()
      .filter(({ fileId, driveId }) => {
        const isLast = !seen.has(fileId);
        seen.add(fileId);
        return isLast && driveId === query.get('driveId');
      })
      .toReversed();
    return {
      changes: told.map(({ fileId, isRemoved }) => {
        const file = isRemoved ? undefined : fileOf(fileId);
        return { kind: 'drive#change', changeType: 'file', fileId, removed: file === undefined, ...(file && { file }) };
      }),
      ...(next < log.length ? { nextPageToken: String(next) } : { newStartPageToken: String(next) }),
    };
  };

  const read = (path: string, query: URLSearchParams): GoogleAnswer | undefined => {
    const [, rest] = /^\/drive\/v3\/(.*)$/.exec(path) ?? [];
    if (rest === undefined) return undefined;
    if (rest === 'drives') {
      const { items, ...next } = pageOf([...drives], query, state.page);
      return { json: { drives: items.map(([id, name]) => ({ id, name })), ...next } };
    }
    if (rest === 'changes/startPageToken') return { json: { startPageToken: String(log.length) } };
    if (rest === 'changes') return { json: changes(query) };
    if (rest === 'files') {
      const { items, ...next } = pageOf(matching(query), query, state.page);
      return { json: { files: items.map(fileOf), ...next } };
    }
    const shared = /^files\/([^/]+)\/permissions$/.exec(rest)?.[1];
    if (shared !== undefined) {
      if (files.get(shared)?.isReadOnly) throw new GoogleFault(403, 'insufficientFilePermissions');
      const { items, ...next } = pageOf(permissionsOf(shared), query, state.page);
      return { json: { kind: 'drive#permissionList', permissions: items, ...next } };
    }
    const [, id = '', exported] = /^files\/([^/]+)(\/export)?$/.exec(rest) ?? [];
    const known = fileOf(id);
    const file = files.get(id);
    if (known === undefined) throw new GoogleFault(404, 'notFound', `File not found: ${id}.`);
    if (exported !== undefined && file !== undefined) {
      const type = query.get('mimeType') ?? '';
      if (!file.mimeType.startsWith(GOOGLE)) throw new GoogleFault(403, 'fileNotExportable');
      if (file.content.length > 10_000_000) throw new GoogleFault(403, 'exportSizeLimitExceeded');
      return { bytes: Buffer.from(file.content), type };
    }
    if (query.get('alt') !== 'media') return { json: known };
    if (file === undefined || file.mimeType.startsWith(GOOGLE)) throw new GoogleFault(403, 'fileNotDownloadable');
    return { bytes: Buffer.from(file.content), type: file.mimeType };
  };

  return {
    read,
    options,
    /** Returns the id of a new file. */
    add(file: Partial<FakeDriveFile> & { readonly name: string }): string {
      ids += 1;
      const id = `file${ids}`;
      clock += 1000;
      const made = { mimeType: 'text/markdown', parent: MY_DRIVE, content: '', modified: clock, ...file };
      files.set(id, made);
      note(id, driveOf(id));
      return id;
    },
    folder(name: string, parent: string = MY_DRIVE): string {
      return this.add({ name, parent, mimeType: DRIVE_FOLDER });
    },
    sharedDrive(name: string, ...people: readonly string[]): string {
      const id = `0ADrive${drives.size + 1}`;
      drives.set(id, name);
      members.set(
        id,
        [state.person.email, ...people].map((emailAddress) => ({ type: 'user', emailAddress })),
      );
      return id;
    },
    /** What is below a folder that moves has no change of its own. */
    change(id: string, change: Partial<FakeDriveFile>): void {
      const file = files.get(id);
      if (file === undefined) throw new Error(`there is no ${id}`);
      clock += 1000;
      Object.assign(file, { ...(change.content === undefined ? {} : { modified: clock }), ...change });
      note(id, driveOf(id));
    },
    remove(id: string): void {
      const driveId = driveOf(id);
      files.delete(id);
      note(id, driveId, true);
    },
  };
}

function md5(text: string): string {
  return createHash('md5').update(text).digest('hex');
}
