import type { AudienceGap, SourceAccess } from './connector.ts';
import { askJson, type GoogleApp, GoogleError } from './google.ts';

/** Scope by which Google shows the members of groups, to a person who may see them. */
export const GROUPS_SCOPE = 'https://www.googleapis.com/auth/cloud-identity.groups.readonly';

const API = 'https://cloudidentity.googleapis.com/v1/';
const PAGE = 500;
const CLOSED = 'Members of {groups} do not see here what is shared with the group alone';
const UNASKED = `${CLOSED}: set GOOGLE_DRIVE_READ_GROUPS=true and connect Google Drive again.`;
const NOT_GRANTED = `${CLOSED}: connect Google Drive again and let it see groups.`;
const NOT_ENABLED = `${CLOSED}: enable the Cloud Identity API in the Google Cloud project of the OAuth client.`;

/** Addresses of the members of a group, those of groups within it included. */
export interface GroupMembers {
  readonly id: string;
  readonly members: readonly string[];
  readonly gaps: readonly AudienceGap[];
}

/** Members of a group itself, people and groups. */
interface Direct {
  readonly people: readonly string[];
  readonly groups: readonly string[];
  readonly gap?: AudienceGap;
}

interface Membership {
  readonly preferredMemberKey?: { readonly id?: string };
  /** Of the full view alone. */
  readonly type?: string;
}

/**
 * Reads who is in a group of Google over the Cloud Identity API, once for each import. It answers members of the group where its
 * settings let them see each other, its owners, and administrators; the search for members of members takes an edition of
 * Workspace that not everybody has, so groups within groups are read one by one.
 */
export function createGoogleGroups(app: GoogleApp, { isAsked }: { readonly isAsked: boolean }) {
  const imports = new WeakMap<
    SourceAccess,
    { readonly direct: Map<string, Promise<Direct>>; refusal: string | null }
  >();

  const listed = async (access: SourceAccess, group: string): Promise<Direct> => {
    const key = new URLSearchParams({ 'groupKey.id': group });
    const { name } = await askJson<{ readonly name: string }>(app, access, `${API}groups:lookup?${key}`);
    const all: Membership[] = [];
    for (let pageToken = ''; ; ) {
      const query = new URLSearchParams({ view: 'FULL', pageSize: String(PAGE), ...(pageToken && { pageToken }) });
      const page: MembershipsPage = await askJson(app, access, `${API}${name}/memberships?${query}`);
      all.push(...(page.memberships ?? []));
      pageToken = page.nextPageToken ?? '';
      if (pageToken === '') break;
    }
    const idsOf = (kind: string) =>
      all.filter(({ type }) => type === kind).flatMap(({ preferredMemberKey: member }) => member?.id ?? []);
    return { people: idsOf('USER'), groups: idsOf('GROUP') };
  };

  const directOf = async (access: SourceAccess, group: string): Promise<Direct> => {
    const state = imports.get(access) ?? { direct: new Map(), refusal: isAsked ? null : UNASKED };
    imports.set(access, state);
    const closed = (reason: string): Direct => ({ people: [], groups: [], gap: { reason, group } });
    // What is refused for the whole connection is not asked for again.
    if (state.refusal !== null) return closed(state.refusal);
    const asked =
      state.direct.get(group) ??
      listed(access, group).catch((error: unknown) => {
        const reason = refusalOf(error, access);
        if (reason === NOT_GRANTED || reason === NOT_ENABLED) state.refusal = reason;
        return closed(reason);
      });
    state.direct.set(group, asked);
    return asked;
  };

  return async (access: SourceAccess, id: string): Promise<GroupMembers> => {
    const groups = new Set([id]);
    const members = new Set<string>();
    const gaps: AudienceGap[] = [];
    // A set may grow while it is gone through.
    for (const group of groups) {
      const { people, groups: inner, gap } = await directOf(access, group);
      for (const one of people) members.add(one);
      for (const one of inner) groups.add(one);
      if (gap !== undefined) gaps.push(gap);
    }
    return { id, members: [...members], gaps };
  };
}

interface MembershipsPage {
  readonly memberships?: readonly Membership[];
  readonly nextPageToken?: string;
}

/** Why Google does not show a group; throws what will pass. */
function refusalOf(error: unknown, { connection }: SourceAccess): string {
  if (!(error instanceof GoogleError) || ![400, 403, 404].includes(error.status)) throw error;
  if (/^(ACCESS_TOKEN_SCOPE_INSUFFICIENT|insufficientPermissions)$/.test(error.reason)) return NOT_GRANTED;
  if (/^(SERVICE_DISABLED|accessNotConfigured)$/.test(error.reason)) return NOT_ENABLED;
  const who = connection.accountLabel;
  return `${CLOSED}, as Google does not show ${who} who they are: an owner of the group can let its members see each other, or an administrator of groups can connect Google Drive.`;
}
