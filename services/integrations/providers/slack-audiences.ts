import { type Audience, NOBODY_ELSE, type SourceAccess, SourceBusyError } from './connector.ts';
import { type SlackApi, SlackRefusedError } from './slack-api.ts';

const PAGE = 200;
/** A list of people that Slack asked to wait in is good for so long. */
const KEPT_MS = 1_800_000;
const NO_ADDRESSES =
  'Slack gives no addresses of people: install the app again with users:read and users:read.email. Until then only who connected it sees its items.';

interface SlackPerson {
  readonly id: string;
  readonly deleted?: boolean;
  readonly is_bot?: boolean;
  /** A guest sees the channels alone that they were invited to. */
  readonly is_restricted?: boolean;
  readonly is_ultra_restricted?: boolean;
  readonly is_email_confirmed?: boolean;
  readonly profile?: { readonly email?: string };
}

/**
 * Tells who sees a channel: its members, and a public one every member of the workspace who is no guest. People are known by the
 * addresses that they confirmed to Slack; those of other workspaces are not in its list.
 */
export function createSlackAudiences(
  api: SlackApi,
): (access: SourceAccess, channel: string) => Promise<Audience | null> {
  const lists = new WeakMap<SourceAccess, PeopleList>();
  /** By workspace: read by attempts that had to wait, for the next one. */
  const waited = new Map<string, PeopleList>();
  const ask = async <T>(access: SourceAccess, method: string, parameters: object): Promise<T> =>
    api.request<T>(method, parameters, { token: await access.token(), signal: access.signal });
  const membersOf = async (access: SourceAccess, channel: string): Promise<readonly string[]> => {
    const ids: string[] = [];
    for (let cursor = ''; ; ) {
      const asked = { channel, limit: PAGE, ...(cursor === '' ? {} : { cursor }) };
      const page: MembersPage = await ask(access, 'conversations.members', asked);
      ids.push(...(page.members ?? []));
      cursor = page.response_metadata?.next_cursor ?? '';
      if (cursor === '') return ids;
    }
  };
  /** Everybody of the workspace, read to the end, over as many attempts as Slack makes of it. */
  const peopleOf = async (access: SourceAccess): Promise<ReadonlyMap<string, SlackPerson>> => {
    const team = access.connection.accountId;
    const waiting = waited.get(team);
    waited.delete(team);
    const isGood = waiting !== undefined && Date.now() < waiting.untilMs;
    const list =
      lists.get(access) ?? (isGood ? waiting : { people: new Map(), cursor: '', untilMs: Date.now() + KEPT_MS });
    lists.set(access, list);
    while (list.cursor !== null) {
      const asked = { limit: PAGE, ...(list.cursor === '' ? {} : { cursor: list.cursor }) };
      const page: PeoplePage = await ask(access, 'users.list', asked);
      for (const person of page.members ?? []) list.people.set(person.id, person);
      list.cursor = page.response_metadata?.next_cursor || null;
    }
    return list.people;
  };
  return async (access, channel) => {
    try {
      const info = await ask<{ channel?: { is_private?: boolean } }>(access, 'conversations.info', { channel });
      const ids = await membersOf(access, channel);
      const people = await peopleOf(access);
      const members = ids.flatMap((id) => people.get(id) ?? []);
      const audience = { ...NOBODY_ELSE, groups: [{ id: channel, members: addressesOf(members) }] };
      const gaps = [...people.values()].some(({ profile }) => profile?.email)
        ? {}
        : { gaps: [{ reason: NO_ADDRESSES }] };
      if (info.channel?.is_private !== false) return { ...audience, ...gaps };
      const all = [...people.values()].filter((person) => !person.is_restricted && !person.is_ultra_restricted);
      return { ...audience, groups: [...audience.groups, { id: 'workspace', members: addressesOf(all) }], ...gaps };
    } catch (error) {
      const list = lists.get(access);
      if (error instanceof SourceBusyError && list !== undefined) waited.set(access.connection.accountId, list);
      if (!(error instanceof SlackRefusedError)) throw error;
      // The app was removed from it, the channel is gone, or a scope is missing.
      return error.code === 'missing_scope' ? { ...NOBODY_ELSE, gaps: [{ reason: NO_ADDRESSES }] } : NOBODY_ELSE;
    }
  };
}

interface PeopleList {
  readonly people: Map<string, SlackPerson>;
  /** Where the list goes on; null: it was read to the end. */
  cursor: string | null;
  untilMs: number;
}
interface MembersPage {
  readonly members?: readonly string[];
  readonly response_metadata?: { readonly next_cursor?: string };
}
interface PeoplePage {
  readonly members?: readonly SlackPerson[];
  readonly response_metadata?: { readonly next_cursor?: string };
}

function addressesOf(people: readonly SlackPerson[]): readonly string[] {
  return people.flatMap(({ deleted, is_bot: isBot, is_email_confirmed: isConfirmed, profile }) => {
    return deleted || isBot || isConfirmed !== true || !profile?.email ? [] : [profile.email];
  });
}
