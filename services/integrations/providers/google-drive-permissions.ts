import type { drive_v3 } from '@googleapis/drive';
import { mapConcurrently } from '../../common/platform/async/map-concurrently.ts';
import { type Audience, NOBODY_ELSE } from './connector.ts';

type File = drive_v3.Schema$File;
type Permission = drive_v3.Schema$Permission;

const CONCURRENT = 8;

export const PERMISSION_FIELDS = 'type,emailAddress,domain,allowFileDiscovery,deleted,expirationTime,view';
/** What has to be known of a file to say who sees it. */
export const SEEN_FIELDS = `id,mimeType,parents,driveId,hasAugmentedPermissions,inheritedPermissionsDisabled,permissions(${PERMISSION_FIELDS})`;

/**
 * Tells who sees files of Google Drive. Those of My Drive say it themselves, if the person may share them. In a shared drive a file
 * has the permissions of its folder unless it has some of its own: `permissionsFor` is asked once for each folder.
 */
export function createAudiences(permissionsFor: (fileId: string) => Promise<readonly Permission[] | null>) {
  const ofFolders = new Map<string, Promise<Audience | null>>();
  /** A drive has many files and few audiences. */
  const known = new Map<string, Audience | null>();
  const audienceOf = (permissions: readonly Permission[] | null): Audience | null => {
    const audience = readersOf(permissions ?? []);
    const key = JSON.stringify(audience);
    if (!known.has(key)) known.set(key, audience);
    return known.get(key) ?? null;
  };
  const asked = async (id: string) => audienceOf(await permissionsFor(id));
  const one = async (file: File) => {
    const { id, parents, driveId, permissions } = file;
    if (permissions) return audienceOf(permissions);
    if (!id || !driveId) return NOBODY_ELSE;
    const parent = parents?.[0];
    if (file.hasAugmentedPermissions || file.inheritedPermissionsDisabled || !parent) return asked(id);
    const ofFolder = ofFolders.get(parent) ?? asked(parent);
    ofFolders.set(parent, ofFolder);
    return ofFolder;
  };
  return {
    one,
    async all(pages: AsyncIterable<{ readonly files: readonly File[] }>) {
      const found = new Map<string, Audience | null>();
      for await (const { files } of pages) {
        const audiences = await mapConcurrently(files, CONCURRENT, one);
        for (const [at, { id }] of files.entries()) found.set(id ?? '', audiences[at] ?? null);
      }
      return found;
    },
  };
}

/**
 * Null: everybody. A link alone lets nobody find a file: who is not named would have to be given it. Google tells no members of
 * groups to an app of one person.
 */
function readersOf(permissions: readonly Permission[]): Audience | null {
  const now = new Date().toISOString();
  const valid = permissions.filter(
    ({ deleted, view, expirationTime }) => deleted !== true && !view && (!expirationTime || expirationTime > now),
  );
  const found = valid.filter(({ allowFileDiscovery }) => allowFileDiscovery === true);
  if (found.some(({ type }) => type === 'anyone')) return null;
  const addresses = valid.filter(({ type }) => type === 'user').flatMap(({ emailAddress }) => emailAddress ?? []);
  const groups = valid.filter(({ type }) => type === 'group').flatMap(({ emailAddress }) => emailAddress ?? []);
  const domains = found.filter(({ type }) => type === 'domain').flatMap(({ domain }) => domain ?? []);
  return {
    addresses: addresses.toSorted(),
    groups: groups.toSorted().map((id) => ({ id, members: [] })),
    domains: domains.toSorted(),
  };
}
