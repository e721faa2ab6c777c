import type { drive_v3 } from '@googleapis/drive';
import { mapConcurrently } from '../../common/platform/async/map-concurrently.ts';
import { type Audience, type AudienceGap, NOBODY_ELSE } from './connector.ts';
import type { GroupMembers } from './google-groups.ts';

type File = drive_v3.Schema$File;
type Permission = drive_v3.Schema$Permission;

const CONCURRENT = 8;
const NOT_TOLD: AudienceGap = {
  reason:
    'Google Drive does not say who else sees files that the connected account may not share: here nobody else does.',
};
const BY_LINK: AudienceGap = {
  reason: 'What is open to everybody who has its link is seen here by those alone whom the file or its folder names.',
};
/** Google tells nobody's address of a target audience, which has a domain of its own. */
const TARGET_AUDIENCE = /\.audience\.googledomains\.com$/i;
const BY_TARGET: AudienceGap = {
  reason:
    'What is shared with a target audience of Google Workspace is seen here by those alone whom the file or its folder names.',
};

export const PERMISSION_FIELDS = 'type,emailAddress,domain,allowFileDiscovery,deleted,expirationTime,view';
/** What has to be known of a file to say who sees it. */
export const SEEN_FIELDS = `id,mimeType,parents,driveId,hasAugmentedPermissions,inheritedPermissionsDisabled,permissions(${PERMISSION_FIELDS})`;

interface Asked {
  /** Null: it is not told. */
  permissionsFor(fileId: string): Promise<readonly Permission[] | null>;
  membersOf(group: string): Promise<GroupMembers>;
}

/**
 * Tells who sees files of Google Drive. Those of My Drive say it themselves, if the person may share them. In a shared drive a file
 * has the permissions of its folder unless it has some of its own: `permissionsFor` is asked once for each folder.
 */
export function createAudiences({ permissionsFor, membersOf }: Asked) {
  const ofFolders = new Map<string, Promise<Audience | null>>();
  /** A drive has many files and few audiences. */
  const known = new Map<string, Promise<Audience | null>>();
  const audienceOf = (permissions: readonly Permission[] | null): Promise<Audience | null> => {
    const readers = permissions === null ? { ...NOBODY_ELSE, groups: [], gaps: [NOT_TOLD] } : readersOf(permissions);
    const key = JSON.stringify(readers);
    const audience = known.get(key) ?? withMembers(readers);
    known.set(key, audience);
    return audience;
  };
  const withMembers = async (readers: Readers | null): Promise<Audience | null> => {
    if (readers === null) return null;
    const { addresses, domains } = readers;
    const found = await mapConcurrently(readers.groups, CONCURRENT, membersOf);
    const groups = found.map(({ id, members }) => ({ id, members }));
    const gaps = [...readers.gaps, ...found.flatMap((group) => group.gaps)];
    return { addresses, groups, domains, ...(gaps.length === 0 ? {} : { gaps }) };
  };
  const asked = async (id: string) => audienceOf(await permissionsFor(id));
  const one = async (file: File) => {
    const { id, parents, driveId, permissions } = file;
    if (permissions) return audienceOf(permissions);
    if (!id) return NOBODY_ELSE;
    if (!driveId) return audienceOf(null);
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

/** An audience without the members of its groups. */
interface Readers extends Pick<Audience, 'addresses' | 'domains'> {
  readonly groups: readonly string[];
  readonly gaps: readonly AudienceGap[];
}

/** Null: everybody. A link alone lets nobody find a file: who is not named would have to be given it. */
function readersOf(permissions: readonly Permission[]): Readers | null {
  const now = new Date().toISOString();
  const valid = permissions.filter(
    ({ deleted, view, expirationTime }) => deleted !== true && !view && (!expirationTime || expirationTime > now),
  );
  const found = valid.filter(({ allowFileDiscovery }) => allowFileDiscovery === true);
  if (found.some(({ type }) => type === 'anyone')) return null;
  const isByLink = valid.some(
    ({ type, allowFileDiscovery }) => /^(anyone|domain)$/.test(type ?? '') && !allowFileDiscovery,
  );
  const addresses = valid.filter(({ type }) => type === 'user').flatMap(({ emailAddress }) => emailAddress ?? []);
  const groups = valid.filter(({ type }) => type === 'group').flatMap(({ emailAddress }) => emailAddress ?? []);
  const domains = found.filter(({ type }) => type === 'domain').flatMap(({ domain }) => domain ?? []);
  const isByTarget = domains.some((domain) => TARGET_AUDIENCE.test(domain));
  return {
    addresses: addresses.toSorted(),
    groups: [...new Set(groups)].toSorted(),
    domains: domains.filter((domain) => !TARGET_AUDIENCE.test(domain)).toSorted(),
    gaps: [...(isByLink ? [BY_LINK] : []), ...(isByTarget ? [BY_TARGET] : [])],
  };
}
