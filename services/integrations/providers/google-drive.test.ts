import { expect } from 'chai';
import { startFakeGoogle } from '../../../test/support/fake-google.ts';
import type { FakePermission } from '../../../test/support/fake-google-drive.ts';
import type { SourceConnection } from '../../common/records/integrations/connections.ts';
import type { Audience, SourceAccess } from './connector.ts';
import { createDriveConnector } from './google-drive.ts';

describe('permissions of Google Drive', () => {
  let google: Awaited<ReturnType<typeof startFakeGoogle>>;
  let access: SourceAccess;
  beforeEach(async () => {
    google = await startFakeGoogle();
    google.allow('');
    const connection = { accountLabel: 'ada@acme.test', selection: null } as unknown as SourceConnection;
    access = { connection, signal: new AbortController().signal, token: async () => '' };
  });
  afterEach(() => google[Symbol.asyncDispose]());
  const audiences = (resource: string, ...keys: readonly string[]) => {
    const client = { clientId: '', clientSecret: '', stateSecret: '', redirectUri: '', frontendUrl: '' };
    const connector = createDriveConnector({ ...client, url: google.url, isShared: false }, { maxFileMb: 25 });
    return connector.permissionsOf?.(access, { resource, feed: 'files' }, keys);
  };
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
      file('Group', { type: 'group', emailAddress: 'all@acme.test' }),
      file('Domain', { type: 'domain', domain: 'acme.test', allowFileDiscovery: true }),
      file('Public', { type: 'anyone', allowFileDiscovery: true }),
      file('Link', { type: 'anyone', allowFileDiscovery: false }),
      file('Until', { ...user('late@acme.test'), expirationTime: '2020-01-01T00:00:00Z' }),
      drive.add({ name: 'Read only', parent: shared, isReadOnly: true }),
    ];
    const both = seenBy('ada@acme.test', 'grace@acme.test');
    expect(await audiences('root', ...keys)).to.deep.equal([
      both,
      { ...both, groups: [{ id: 'all@acme.test', members: [] }] },
      { ...both, domains: ['acme.test'] },
      null,
      both,
      both,
      seenBy(),
    ]);
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
    expect(new Set(found?.slice(0, 60)).size, 'files that are seen by the same share it').to.equal(1);
    expect(found?.slice(59)).to.deep.equal([
      seenBy('ada@acme.test', 'grace@acme.test'),
      seenBy('ada@acme.test', 'alan@acme.test', 'grace@acme.test'),
      seenBy('ada@acme.test', 'grace@acme.test', 'late@acme.test'),
      seenBy(),
    ]);
    const asked = google.requests.filter((line) => line.includes('/permissions'));
    expect(asked).to.have.length(3);
  });
});
