import { type GoogleAnswer, GoogleFault, pageOf } from './fake-google.ts';

interface FakeGroup {
  /** Addresses of people and of other groups. */
  readonly members: Set<string>;
  /** The person who connects it may not see its members. */
  isHidden?: boolean;
}

const SCOPE = 'https://www.googleapis.com/auth/cloud-identity.groups.readonly';

/** Groups as the Cloud Identity API shows them: looked up by address, their members in pages and with a type in the full view. */
export function createFakeGroups(state: { readonly page: number }) {
  const groups = new Map<string, FakeGroup>();
  const options = {
    /** The API is switched on for the project of the OAuth client. */
    isEnabled: true,
  };
  /** It says the same of a group that is not there. */
  const hidden = (resourceName: string) => {
    const description = `Error(2028): Permission denied for resource ${resourceName} (or it may not exist).`;
    const type = 'type.googleapis.com/google.rpc.ResourceInfo';
    return denied(description, { '@type': type, resourceType: 'cloudidentity.googleapis.com/Group', resourceName });
  };

  const read = (path: string, query: URLSearchParams, scope: string): GoogleAnswer | undefined => {
    const [, lookup, id] = /^\/v1\/groups(?:(:lookup)|\/([^/]+)\/memberships)$/.exec(path) ?? [];
    if (lookup === undefined && id === undefined) return undefined;
    if (!options.isEnabled) {
      throw denied(
        'Cloud Identity API has not been used in project 1 before or it is disabled.',
        info('SERVICE_DISABLED'),
      );
    }
    if (!scope.split(' ').includes(SCOPE)) {
      throw denied('Request had insufficient authentication scopes.', info('ACCESS_TOKEN_SCOPE_INSUFFICIENT'));
    }
    if (lookup !== undefined) {
      const address = query.get('groupKey.id') ?? '';
      if (!groups.has(address)) throw hidden(`groups/${address}`);
      return { json: { name: `groups/${idOf(address)}` } };
    }
    const [, group] = [...groups].find(([address]) => idOf(address) === id) ?? [];
    if (group === undefined || group.isHidden) throw hidden(`groups/${id}`);
    const { items, ...next } = pageOf([...group.members], query, state.page);
    const memberships = items.map((member) => ({
      name: `groups/${id}/memberships/${idOf(member)}`,
      preferredMemberKey: { id: member },
      ...(query.get('view') === 'FULL' ? { type: groups.has(member) ? 'GROUP' : 'USER' } : {}),
      roles: [{ name: 'MEMBER' }],
    }));
    return { json: { memberships, ...next } };
  };

  return {
    read,
    options,
    add(address: string, ...members: readonly string[]): FakeGroup {
      const group: FakeGroup = { members: new Set(members) };
      groups.set(address, group);
      return group;
    },
  };
}

function idOf(address: string): string {
  return Buffer.from(address).toString('hex');
}

function info(reason: string): object {
  return { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'googleapis.com' };
}

function denied(message: string, detail: object): GoogleFault {
  return new GoogleFault(403, '', message, { status: 'PERMISSION_DENIED', details: [detail] });
}
