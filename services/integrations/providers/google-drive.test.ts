import { expect } from 'chai';
import { startFakeGoogle } from '../../../test/support/fake-google.ts';
import type { FakePermission } from '../../../test/support/fake-google-drive.ts';
import type { SourceConnection } from '../../common/records/integrations/connections.ts';
import type { Audience, SourceAccess } from './connector.ts';
import { createDriveConnector } from './google-drive.ts';
import { GROUPS_SCOPE } from './google-groups.ts';

describe('permissions of Google Drive', () => {
  let google: Awaited<ReturnType<typeof startFakeGoogle>>;
  let access: SourceAccess;
  beforeEach(async () => {
    google = await startFakeGoogle();
    google.allow('', GROUPS_SCOPE);
    const connection = { accountLabel: 'ada@acme.test', selection: null } as unknown as SourceConnection;
    access = { connection, signal: new AbortController().signal, token: async () => '' };
  });
  afterEach(() => google[Symbol.asyncDispose]());
  const open = (readsGroups = true) => {
    const client = { clientId: '', clientSecret: '', stateSecret: '', redirectUri: '', frontendUrl: '' };
    return createDriveConnector({ ...client, url: google.url, isShared: false }, { maxFileMb: 25, readsGroups });
  };
  const audiences = async (resource: string, ...keys: readonly string[]) =>
    (await open().permissionsOf?.(access, { resource, feed: 'files' }, keys)) ?? [];
  const user = (emailAddress: string): FakePermission => ({ type: 'user', emailAddress });
  const seenBy = (...addresses: readonly string[]): Audience => ({ addresses, groups: [], domains: [] });

  it('are those of the file and its folders: people, groups, domains, and everybody who can find it', async () => {
    const { drive } = google;
    const shared = drive.folder('Shared');
    drive.change(shared, { permissions: [user('grace@acme.test'), { ...user('gone@acme.test'), deleted: true }] });
    const file = (name: string, ...permissions: readonly FakePermission[]) =>
      drive.add({ name, parent: shared, permissions });
    const keys = [
      file('Plain'),
      file('Domain', { type: 'domain', domain: 'acme.test', allowFileDiscovery: true }),
      file('Target', { type: 'domain', domain: 'f7k.audience.googledomains.com', allowFileDiscovery: true }),
      file('Public', { type: 'anyone', allowFileDiscovery: true }),
      file('Link', { type: 'anyone', allowFileDiscovery: false }),
      file('Until', { ...user('late@acme.test'), expirationTime: '2020-01-01T00:00:00Z' }),
      drive.add({ name: 'Read only', parent: shared, isReadOnly: true }),
    ];
    const both = seenBy('ada@acme.test', 'grace@acme.test');
    const found = await audiences('root', ...keys);
    expect(found.map((audience) => audience && { ...audience, gaps: undefined })).to.deep.equal(
      [both, { ...both, domains: ['acme.test'] }, both, null, both, both, seenBy()].map(
        (audience) => audience && { ...audience, gaps: undefined },
      ),
    );
    const why = found.map((audience) => audience?.gaps?.map(({ reason }) => reason).join());
    expect(why[2]).to.match(/target audience/);
    expect(why[4]).to.match(/has its link/);
    expect(why[6]).to.match(/does not say who else/);
    expect([why[0], why[1], why[3], why[5]]).to.deep.equal([undefined, undefined, undefined, undefined]);
  });

  it('are those of its folder in a shared drive, asked for once, unless the file has some of its own', async () => {
    const { drive } = google;
    const team = drive.sharedDrive('Team', 'grace@acme.test');
    const secret = drive.folder('Secret', team);
    drive.change(secret, { permissions: [user('alan@acme.test')] });
    const plain = Array.from({ length: 60 }, (_, at) => drive.add({ name: `Note ${at}`, parent: team }));
    const below = drive.add({ name: 'Below', parent: secret });
    const own = drive.add({ name: 'Own', parent: team, permissions: [user('late@acme.test')] });
    const found = await audiences(team, ...plain, below, own, 'unknown');
    expect(new Set(found.slice(0, 60)).size, 'files that are seen by the same share it').to.equal(1);
    expect(found.slice(59)).to.deep.equal([
      seenBy('ada@acme.test', 'grace@acme.test'),
      seenBy('ada@acme.test', 'alan@acme.test', 'grace@acme.test'),
      seenBy('ada@acme.test', 'grace@acme.test', 'late@acme.test'),
      seenBy(),
    ]);
    const asked = google.requests.filter((line) => line.includes('/permissions'));
    expect(asked).to.have.length(3);
  });

  const sharedWith = (...addresses: readonly string[]) => {
    const permissions = addresses.map((emailAddress) => ({ type: 'group' as const, emailAddress }));
    return google.drive.add({ name: addresses.join(), permissions });
  };

  it('of a group are those of its members and of the groups in it, read in pages and once for all files', async () => {
    const many = Array.from({ length: 70 }, (_, at) => `p${at}@acme.test`);
    google.groups.add('all@acme.test', 'grace@acme.test', 'team@acme.test');
    // Each is in the other.
    const team = google.groups.add('team@acme.test', ...many, 'all@acme.test');
    const keys = [sharedWith('all@acme.test'), sharedWith('all@acme.test', 'team@acme.test')];
    const [one, two] = await audiences('root', ...keys);
    const everybody = ['grace@acme.test', ...many];
    expect(one).to.deep.equal({ ...seenBy('ada@acme.test'), groups: [{ id: 'all@acme.test', members: everybody }] });
    expect(two?.groups[1]).to.deep.equal({ id: 'team@acme.test', members: [...many, 'grace@acme.test'] });
    const asked = google.requests.filter((line) => line.includes('/v1/groups'));
    expect(asked, 'two look-ups, and three pages of members').to.have.length(5);
    team.members.delete('p7@acme.test');
    access = { ...access };
    const [later] = await audiences('root', ...keys);
    expect(later?.groups[0]?.members, 'by the next import').not.to.include('p7@acme.test');
  });

  it('of a group whose members Google does not show are nobody, and say which group and what to do', async () => {
    google.groups.add('all@acme.test', 'grace@acme.test', 'board@acme.test');
    google.groups.add('board@acme.test', 'alan@acme.test').isHidden = true;
    const [both, unknown] = await audiences('root', sharedWith('all@acme.test'), sharedWith('gone@acme.test'));
    expect(both?.groups).to.deep.equal([{ id: 'all@acme.test', members: ['grace@acme.test'] }]);
    expect(both?.gaps?.map(({ group }) => group)).to.deep.equal(['board@acme.test']);
    expect(both?.gaps?.[0]?.reason).to.match(/does not show ada@acme.test who they are: an owner of the group can/);
    expect(unknown?.groups).to.deep.equal([{ id: 'gone@acme.test', members: [] }]);
    expect(unknown?.gaps?.[0]?.group).to.equal('gone@acme.test');
  });

  it('of groups are asked for with a scope of their own: without it, or the API, the remedy is said and nothing asked twice', async () => {
    for (const address of ['a', 'b', 'c']) google.groups.add(`${address}@acme.test`, 'grace@acme.test');
    const keys = ['a', 'b', 'c'].map((address) => sharedWith(`${address}@acme.test`));
    const reasonOf = async (readsGroups: boolean) => {
      google.requests.length = 0;
      const found = await open(readsGroups).permissionsOf?.({ ...access }, { resource: 'root', feed: 'files' }, keys);
      const reasons = new Set(found?.map((audience) => audience?.gaps?.[0]?.reason));
      expect(reasons.size).to.equal(1);
      expect(found?.flatMap((audience) => audience?.groups[0]?.members)).to.deep.equal([]);
      return { reason: [...reasons][0], asked: google.requests.filter((line) => line.includes('/v1/groups')).length };
    };
    const scopeOf = (readsGroups: boolean) =>
      new URL(open(readsGroups).oauth?.authorizeUrl({ state: 's', codeChallenge: 'c' }) ?? '').searchParams.get(
        'scope',
      );
    expect(scopeOf(true)).to.contain(GROUPS_SCOPE);
    expect(scopeOf(false)).not.to.contain(GROUPS_SCOPE);
    expect(await reasonOf(false))
      .to.deep.include({ asked: 0 })
      .and.property('reason')
      .match(/GOOGLE_DRIVE_READ_GROUPS=true/);
    google.allow('', 'openid');
    const { reason, asked } = await reasonOf(true);
    expect(reason).to.match(/connect Google Drive again and let it see groups/);
    expect(asked).to.be.lessThan(4);
    google.groups.options.isEnabled = false;
    expect((await reasonOf(true)).reason).to.match(/enable the Cloud Identity API/);
  });
});
