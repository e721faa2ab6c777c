import { extname } from 'node:path';
import type { Readable } from 'node:stream';
import type { drive_v3 } from '@googleapis/drive';
import { engramError } from '../../common/kernel/errors.ts';
import { sha256OfJson } from '../../common/kernel/hashes.ts';
import { mapConcurrently } from '../../common/platform/async/map-concurrently.ts';
import { once } from '../../common/platform/async/once.ts';
import {
  type Audience,
  type ChangePage,
  type Connector,
  oncePerImport,
  type SourceAccess,
  type SourceResource,
} from './connector.ts';
import {
  ask,
  clientOptions,
  type GoogleApp,
  GoogleError,
  googleDatasetName,
  googleSteps,
  pagesOf,
  unless,
} from './google.ts';
import { createAudiences, PERMISSION_FIELDS, SEEN_FIELDS } from './google-drive-permissions.ts';
import { createGoogleGroups, GROUPS_SCOPE } from './google-groups.ts';

type File = drive_v3.Schema$File;

const SCOPE = 'https://www.googleapis.com/auth/drive.readonly';
const FOLDER = 'application/vnd.google-apps.folder';
const SHORTCUT = 'application/vnd.google-apps.shortcut';
/** The person's own drive, by the name that the API gives it. */
const ROOT = 'root';
const PAGE = 1000;
/** Folders that can be chosen from; those that are chosen are there besides. */
const MAX_FOLDERS = 5000;
/** Folders whose files are asked for at once. */
const PARENTS = 40;
const CONCURRENT = 8;
const EVERYWHERE = { supportsAllDrives: true, includeItemsFromAllDrives: true };
const FIELDS = 'id,name,mimeType,size,md5Checksum,modifiedTime,webViewLink,trashed,capabilities(canDownload)';
const LISTED = 'id,name,mimeType,md5Checksum,modifiedTime,parents,trashed';

/** Forms in which documents of Google's own kinds are exported; those of other kinds have none that is text. */
const EXPORTS: ReadonlyMap<string, { readonly mimeType: string; readonly extension: string }> = new Map([
  ['application/vnd.google-apps.document', { mimeType: 'text/markdown', extension: 'md' }],
  [
    'application/vnd.google-apps.spreadsheet',
    { mimeType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', extension: 'xlsx' },
  ],
  ['application/vnd.google-apps.presentation', { mimeType: 'text/plain', extension: 'txt' }],
]);

interface DriveSettings {
  readonly maxFileMb: number;
  /** Whether people are asked for the members of groups, too. */
  readonly readsGroups: boolean;
}

/** How far the changes were read, and the folders that were below the chosen one then. */
interface DriveCursor {
  readonly token: string;
  readonly folders: readonly string[];
  /** Hash of what else was chosen: a chosen folder inside of another one is read by itself. */
  readonly others: string;
}

/**
 * Folders of Google Drive with everything below them. The folders are known from a listing, so a change of a file tells by its
 * parents whether it belongs here; a folder that came, went or moved takes its files along without a word and has them listed again.
 */
export function createDriveConnector(app: GoogleApp, { maxFileMb, readsGroups }: DriveSettings): Connector {
  const drive = createDrive(app);
  const { open, about } = drive;
  const changes = createChanges(drive);
  return {
    provider: 'google_drive',
    capabilities: {
      title: 'Google Drive',
      feeds: ['files'],
      selection: 'nothing at first',
      accounts: 'exclusive',
      everyMs: 900_000,
    },
    datasetName: googleDatasetName('google_drive'),
    async list(access) {
      const root = await about(access, ROOT, 'id,name');
      const [drives, folders] = await Promise.all([drive.sharedDrives(access), drive.foldersOf(access)]);
      const tops = new Map(drives.map(({ id, name }) => [id ?? '', name ?? '']));
      if (root?.id) tops.set(root.id, root.name ?? 'My Drive');
      const known = new Set([ROOT, ...tops.keys(), ...folders.map(({ id }) => id)]);
      for (const id of access.connection.selection ?? []) {
        if (known.has(id)) continue;
        const folder = await about(access, id, `${LISTED},driveId`);
        if (folder?.mimeType === FOLDER && folder.trashed !== true) folders.push(folder);
      }
      return [
        { id: ROOT, name: root?.name ?? 'My Drive', description: null, attributes: { root: true } },
        ...drives.map(({ id, name }) => ({
          id: id ?? '',
          name: name ?? '',
          description: 'Shared drive',
          attributes: { drive_id: id ?? '', shared_drive: true },
        })),
        ...resourcesOf(folders, tops),
      ];
    },
    async *changesSince(access, { resource }, cursor) {
      const place = await placeOf(access, resource, about);
      if (place === null) throw new Error('The folder is not there, or is not shared any more.');
      const others = sha256OfJson([...place.others].toSorted());
      const before = cursor as DriveCursor | null;
      const isListed = before !== null && before.others === others;
      if (!isListed || (yield* changes.followed(access, place, before))) yield* changes.listed(access, place, others);
    },
    async fetch(access, { key }) {
      const file = await about(access, key, FIELDS);
      if (file === null || file.trashed === true) return null;
      const { name = '', mimeType, size, capabilities, webViewLink } = file;
      const own = EXPORTS.get(mimeType ?? '');
      if (own === undefined && mimeType?.startsWith('application/vnd.google-apps.')) throw leftOut('it has no text');
      if (Number(size ?? 0) > maxFileMb * 1024 * 1024) throw leftOut(`it is larger than ${maxFileMb} MB`);
      if (capabilities?.canDownload === false) throw leftOut('its owner does not let it be downloaded');
      const bare = (name ?? '').replaceAll(/[\\/]/g, ' ');
      return {
        ...(own === undefined
          ? { fileName: bare, mimeType: extname(bare) === '' ? (mimeType ?? null) : null }
          : { fileName: `${bare}.${own.extension}`, mimeType: own.mimeType }),
        content: await contentOf(access, await open(), key, own?.mimeType ?? null),
        version: versionOf(file),
        uri: webViewLink ?? null,
      };
    },
    permissionsOf: createPermissions(drive, createGoogleGroups(app, { isAsked: readsGroups })),
    oauth: googleSteps(app, SCOPE, readsGroups ? [GROUPS_SCOPE] : []),
  };
}

type Drive = ReturnType<typeof createDrive>;

/** What is asked of the API of Google Drive. */
function createDrive(app: GoogleApp) {
  const open = once(async () => {
    const { drive } = await import('@googleapis/drive');
    return drive({ version: 'v3', ...clientOptions(app) });
  });
  const about = async (access: SourceAccess, fileId: string, fields: string): Promise<File | null> => {
    const api = await open();
    const request = { fileId, fields, supportsAllDrives: true };
    return unless(
      [404],
      ask(access, (options) => api.files.get(request, options)),
    );
  };
  const foldersOf = async (access: SourceAccess): Promise<File[]> => {
    const api = await open();
    const request = {
      q: `mimeType = '${FOLDER}' and trashed = false`,
      corpora: 'allDrives',
      pageSize: PAGE,
      ...EVERYWHERE,
      fields: 'nextPageToken,files(id,name,mimeType,parents,driveId)',
    };
    const all: File[] = [];
    for await (const { files } of pagesOf(access, (from, options) =>
      api.files.list({ ...request, ...from }, options),
    )) {
      all.push(...(files ?? []));
      if (all.length >= MAX_FOLDERS) break;
    }
    return all;
  };
  const sharedDrives = async (access: SourceAccess): Promise<readonly drive_v3.Schema$Drive[]> => {
    const api = await open();
    const request = { pageSize: 100, fields: 'nextPageToken,drives(id,name)' };
    const pages = pagesOf(access, (from, options) => api.drives.list({ ...request, ...from }, options));
    return (await Array.fromAsync(pages)).flatMap(({ drives }) => drives ?? []);
  };

  /** Everything below a chosen folder, in pages; `folders` are those that were found so far. */
  async function* below(access: SourceAccess, place: Place, fields: string) {
    const api = await open();
    const folders = new Set([place.id]);
    const waiting = [place.id];
    let pageToken: string | undefined;
    for (let batch = waiting.splice(0, PARENTS); ; ) {
      const request = {
        q: `(${batch.map((id) => `'${id}' in parents`).join(' or ')}) and trashed = false`,
        pageSize: PAGE,
        ...EVERYWHERE,
        ...place.files,
        fields: `nextPageToken,files(${fields})`,
        ...(pageToken && { pageToken }),
      };
      const { files = [], nextPageToken } = await ask(access, (options) => api.files.list(request, options));
      for (const { id, mimeType } of files) {
        if (mimeType !== FOLDER || typeof id !== 'string' || place.others.has(id) || folders.has(id)) continue;
        folders.add(id);
        waiting.push(id);
      }
      pageToken = nextPageToken ?? undefined;
      const isLast = pageToken === undefined && waiting.length === 0;
      yield { files: files.filter(isDocument), folders, isLast };
      if (isLast) return;
      if (pageToken === undefined) batch = waiting.splice(0, PARENTS);
    }
  }
  return { open, about, foldersOf, sharedDrives, below };
}

/** Who sees the files of a folder, which is listed once for an import. */
function createPermissions(
  { open, about, below }: Drive,
  groups: ReturnType<typeof createGoogleGroups>,
): NonNullable<Connector['permissionsOf']> {
  const permissionsFor = async (access: SourceAccess, fileId: string) => {
    const api = await open();
    const request = {
      fileId,
      pageSize: 100,
      supportsAllDrives: true,
      fields: `nextPageToken,permissions(${PERMISSION_FIELDS})`,
    };
    const pages = pagesOf(access, (from, options) => api.permissions.list({ ...request, ...from }, options));
    // Who may not share a file is not told who sees it.
    const all = await unless([403, 404], Array.fromAsync(pages));
    return all?.flatMap(({ permissions }) => permissions ?? []) ?? null;
  };
  const seen = async (access: SourceAccess, resource: string) => {
    const audiences = createAudiences({
      permissionsFor: (id) => permissionsFor(access, id),
      membersOf: (group) => groups(access, group),
    });
    const place = await placeOf(access, resource, about);
    const listed = place === null ? new Map() : await audiences.all(below(access, place, SEEN_FIELDS));
    return { ...audiences, listed: listed as ReadonlyMap<string, Audience | null> };
  };
  const seenBy = oncePerImport(seen);
  return async (access, { resource }, keys) => {
    const { listed, one } = await seenBy(access, resource);
    return mapConcurrently(keys, CONCURRENT, async (key) => {
      const audience = listed.get(key);
      // It came after the list.
      return audience === undefined ? one((await about(access, key, SEEN_FIELDS)) ?? {}) : audience;
    });
  };
}

/** The documents below a folder: all of them, or what changed. */
function createChanges({ open, below }: Pick<Drive, 'open' | 'below'>) {
  async function* listed(access: SourceAccess, place: Place, others: string): AsyncGenerator<ChangePage> {
    const api = await open();
    // What changes while it is listed comes again as a change.
    const start = await ask(access, (options) => api.changes.getStartPageToken(place.changes, options));
    for await (const { files, folders, isLast } of below(access, place, LISTED)) {
      const page = { present: files.map(presentOf), gone: [] };
      const cursor = { token: start.startPageToken ?? '', folders: [...folders], others };
      yield isLast ? { ...page, cursor, isWhole: true } : { ...page, cursor: null };
    }
  }

  /** Returns true when the folder has to be listed again. */
  async function* followed(access: SourceAccess, place: Place, before: DriveCursor) {
    const api = await open();
    const folders = new Set(before.folders);
    for (let token = before.token; ; ) {
      const fields = `nextPageToken,newStartPageToken,changes(changeType,removed,fileId,file(${LISTED}))`;
      const request = { pageToken: token, pageSize: PAGE, fields, ...EVERYWHERE, ...place.changes };
      // A token that is too old, or of a drive that is gone.
      const page = await unless(
        [400, 404, 410],
        ask(access, (options) => api.changes.list(request, options)),
      );
      if (page === null) return true;
      const files = (page.changes ?? []).filter(({ changeType }) => changeType !== 'drive');
      if (files.some((change) => movesFolder(change, folders, place.others))) return true;
      const isHere = ({ removed, file }: drive_v3.Schema$Change) =>
        removed !== true && file?.trashed !== true && (file?.parents ?? []).some((parent) => folders.has(parent));
      const present = files.flatMap((change) =>
        change.file && isHere(change) && isDocument(change.file) ? [presentOf(change.file)] : [],
      );
      const gone = files.filter((change) => !isHere(change)).map(({ fileId }) => fileId ?? '');
      const next = page.nextPageToken ?? page.newStartPageToken ?? token;
      if (next !== before.token || files.length > 0) yield { present, gone, cursor: { ...before, token: next } };
      if (!page.nextPageToken) return false;
      token = page.nextPageToken;
    }
  }

  return { listed, followed };
}

/** A chosen folder, and how the API is asked about it. */
interface Place {
  readonly id: string;
  readonly files: { readonly corpora: string; readonly driveId?: string };
  readonly changes: { readonly driveId?: string; readonly supportsAllDrives: true };
  /** Other chosen folders, which are read by themselves. */
  readonly others: ReadonlySet<string>;
}

async function placeOf(
  access: SourceAccess,
  resource: string,
  about: (access: SourceAccess, id: string, fields: string) => Promise<File | null>,
): Promise<Place | null> {
  const folder = await about(access, resource, 'id,driveId,trashed');
  if (folder?.id == null || folder.trashed === true) return null;
  const drive = folder.driveId ? { driveId: folder.driveId } : {};
  return {
    id: folder.id,
    files: { corpora: folder.driveId ? 'drive' : 'user', ...drive },
    changes: { ...drive, supportsAllDrives: true },
    others: new Set((access.connection.selection ?? []).filter((id) => id !== resource)),
  };
}

/** A streamed download: a file may be as large as the limit. */
async function contentOf(access: SourceAccess, api: drive_v3.Drive, fileId: string, exported: string | null) {
  const request = { fileId, supportsAllDrives: true };
  const send = (options: object): Promise<{ data: Readable }> =>
    exported === null
      ? api.files.get({ ...request, alt: 'media' }, { ...options, responseType: 'stream' })
      : api.files.export({ fileId, mimeType: exported }, { ...options, responseType: 'stream' });
  try {
    return await ask(access, send, { isDownload: true });
  } catch (error) {
    const isTooLarge = error instanceof GoogleError && error.reason === 'exportSizeLimitExceeded';
    throw isTooLarge ? leftOut('Google exports no document of its size') : error;
  }
}

/** Folders with the path to them, as far as it is known. */
function resourcesOf(folders: readonly File[], tops: ReadonlyMap<string, string>): readonly SourceResource[] {
  const byId = new Map(folders.map((folder) => [folder.id ?? '', folder]));
  const pathTo = ({ parents }: File, depthLeft = 50): readonly string[] => {
    const parent = parents?.[0] ?? '';
    const top = tops.get(parent);
    const above = byId.get(parent);
    if (top !== undefined || above === undefined || depthLeft === 0) return top === undefined ? [] : [top];
    return [...pathTo(above, depthLeft - 1), above.name ?? ''];
  };
  const described = folders.map((folder) => {
    const { id, name, mimeType, driveId } = folder;
    const description = pathTo(folder).join(' / ') || 'Shared with me';
    const attributes = { mime_type: mimeType ?? FOLDER, ...(driveId ? { drive_id: driveId } : {}) };
    return { id: id ?? '', name: name ?? '', description, attributes, isPart: true as const };
  });
  const orderOf = ({ description, name }: SourceResource) => `${description} / ${name}`;
  return described.toSorted((one, other) => (orderOf(one) < orderOf(other) ? -1 : 1));
}

/** Whether a folder that was below the chosen one is not any more, or the other way round. */
function movesFolder(
  { fileId, file, removed }: drive_v3.Schema$Change,
  folders: ReadonlySet<string>,
  others: ReadonlySet<string>,
): boolean {
  const id = fileId ?? '';
  const isOut = removed === true || file?.trashed === true;
  if (isOut || file?.mimeType !== FOLDER) return isOut && folders.has(id);
  const isBelow = !others.has(id) && (file.parents ?? []).some((parent) => folders.has(parent));
  // The chosen folder itself may be anywhere.
  return isBelow !== folders.has(id) && id !== [...folders][0];
}

function isDocument({ mimeType }: File): boolean {
  return mimeType !== FOLDER && mimeType !== SHORTCUT;
}

function presentOf(file: File): ChangePage['present'][number] {
  return { key: file.id ?? '', version: versionOf(file) };
}

/** A new name is a new version: the item gets it. */
function versionOf({ md5Checksum, modifiedTime, name }: File): string {
  return `${md5Checksum ?? modifiedTime} ${name}`;
}

/** It is counted as skipped, and not looked at again until it changes. */
function leftOut(why: string): Error {
  return engramError('UnsupportedFileTypeError', `It is left out: ${why}.`);
}
