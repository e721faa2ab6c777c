import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { SignJWT } from 'jose';
import { startAuth, type TestAuth } from '../../../test/support/auth-service.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { apiKeysCollection } from '../../common/records/auth/api-keys.ts';
import { createUsers } from '../../common/records/auth/users.ts';
import { createAccessTokens } from '../credentials/access-tokens.ts';
import { revokedTokensCollection } from '../repositories/revoked-tokens.ts';

interface KeyRecord {
  readonly key: string;
  readonly label: string;
  readonly name: string | null;
  readonly id: string;
}

const path = '/api/v1/auth/api-keys';
const SECRET = 'a secret for tests only';

describe('API keys', () => {
  let auth: TestAuth;
  let principal: Principal;
  beforeEach(async () => {
    auth = await startAuth();
    principal = await auth.addUser();
  });
  afterEach(() => auth[Symbol.asyncDispose]());

  const create = async (name?: string | null) =>
    (await auth.call('POST', path, { principal, body: { name } })).json as KeyRecord;
  const list = async () => (await auth.call('GET', path, { principal })).json as readonly KeyRecord[];
  const remove = (apiKeyId: string) => auth.call('DELETE', `${path}/:apiKeyId`, { principal, params: { apiKeyId } });
  const use = (value: string) => auth.authenticate({ kind: 'api-key', value });

  it('shows a key once and stores its hash only', async () => {
    const created = await create('ci');
    expect(created.key).to.match(/^[0-9a-f]{64}$/);
    expect(created).to.include({ label: `${created.key.slice(0, 8)}****`, name: 'ci' });
    expect(await list()).to.deep.equal([{ ...created, key: '' }]);
    const stored = await auth.store.find(SYSTEM_SCOPE, apiKeysCollection, { limit: 10 });
    expect(JSON.stringify(stored)).not.to.contain(created.key);
    expect(stored.items[0]?.value.hash).to.equal(createHash('sha256').update(created.key).digest('hex'));
  });

  it('works at once after a refusal and stops at once when deleted', async () => {
    const { key, id } = await create();
    expect(await use(key)).not.to.equal(null);
    expect((await remove(id)).json).to.equal(null);
    expect(await use(key)).to.equal(null);
  });

  it('replaces the least recently used key of the same name at the limit', async () => {
    const created: KeyRecord[] = [];
    for (let count = 0; count < 10; count += 1) {
      auth.clock.advance(1000);
      created.push(await create(count % 2 === 0 ? 'plugin' : 'other'));
    }
    auth.clock.advance(1000);
    await use(created[0]?.key ?? '');
    const replacement = await create('plugin');
    const names = (await list()).map(({ id }) => id);
    expect(names).to.have.length(10);
    expect(names).to.include(replacement.id).and.to.include(created[0]?.id).and.not.to.include(created[2]?.id);
    expect(await use(created[2]?.key ?? '')).to.equal(null);
  });

  it('refuses a key of another name, or without one, at the limit', async () => {
    for (let count = 0; count < 10; count += 1) await create();
    for (const name of ['new', null, undefined]) {
      const error = await create(name).catch((thrown: unknown) => thrown);
      expect(error).to.have.property('status', 400);
      expect(error).to.have.nested.property('body.error.message').that.is.a('string');
    }
  });

  it('never exceeds the limit with concurrent requests', async () => {
    const results = await Promise.allSettled(Array.from({ length: 25 }, (_, index) => create(`key ${index}`)));
    expect(results.filter(({ status }) => status === 'fulfilled')).to.have.length(10);
    expect(await list()).to.have.length(10);
  });

  it('records the last use at most every five minutes', async () => {
    const { key } = await create();
    const lastUse = async () =>
      (await auth.store.find(SYSTEM_SCOPE, apiKeysCollection, { limit: 1 })).items[0]?.value.lastUsedAt;
    await use(key);
    const first = await lastUse();
    expect(first).to.equal(auth.clock.now().toISOString());
    auth.clock.advance(299_000);
    await use(key);
    expect(await lastUse()).to.equal(first);
    auth.clock.advance(2_000);
    await use(key);
    expect(await lastUse()).to.equal(auth.clock.now().toISOString());
  });

  it('stops within a second when another process deactivates the account', async () => {
    const { key } = await create();
    await use(key);
    const users = createUsers(auth.store);
    const user = await users.get(principal.id);
    if (user === null) throw new Error('no user');
    await auth.store.commit(SYSTEM_SCOPE, [users.replaceWrite({ ...user, isActive: false })]);
    auth.clock.advance(999);
    expect(await use(key)).not.to.equal(null);
    auth.clock.advance(1);
    expect(await use(key)).to.equal(null);
  });
});

describe('login tokens', () => {
  it('are accepted only with a signature of this service', async () => {
    await using auth = await startAuth();
    const { id } = await auth.addUser();
    const { clock } = auth;
    const ids = { uuid: () => '0d6c0000-0000-4000-8000-000000000001', ordered: () => '1' };
    const issue = async (secret: string) =>
      (
        await createAccessTokens({ secret, lifetimeSeconds: 3600, clock, ids }).issue({
          id,
          passwordHash: '!',
          sessionEpoch: 0,
        })
      ).text;
    const good = await issue(SECRET);
    const use = (value: string) => auth.authenticate({ kind: 'bearer', value });
    expect(await use(good)).to.include({ id });

    const [header = '', payload = '', signature = ''] = good.split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>;
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const sign = (changes: Record<string, unknown>) =>
      new SignJWT({ ...claims, ...changes }).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(SECRET));
    expect(await use(await sign({}))).to.include({ id });

    const forged = {
      'another secret': await issue('another secret'),
      'no signature': `${encode({ alg: 'none' })}.${payload}.`,
      'cut signature': `${header}.${payload}.${signature.slice(0, -2)}`,
      'another subject': `${header}.${encode({ ...claims, sub: (await auth.addUser()).id })}.${signature}`,
      'a reset token': await sign({ aud: ['fastapi-users:reset'] }),
      'no audience': await sign({ aud: undefined }),
      'no password mark': await sign({ pwd: undefined }),
      'password mark of another type': await sign({ pwd: 5 }),
      'another password mark': await sign({ pwd: 'f'.repeat(64) }),
      'no token id': await sign({ jti: undefined }),
      'no subject': await sign({ sub: undefined }),
      'subject that is no id': await sign({ sub: '../users' }),
      expired: await sign({ exp: Math.floor(clock.now().getTime() / 1000) - 1 }),
      garbage: '...',
      empty: '',
    };
    for (const [what, token] of Object.entries(forged)) expect(await use(token), what).to.equal(null);
  });

  it('are removed from the list of revoked ones after their expiry', async () => {
    await using auth = await startAuth();
    const user = await auth.addUser();
    const logout = async (tokenId: string) => {
      const ids = { uuid: () => tokenId, ordered: () => tokenId };
      const tokens = createAccessTokens({ secret: SECRET, lifetimeSeconds: 3600, clock: auth.clock, ids });
      const token = await tokens.issue({ id: user.id, passwordHash: '!', sessionEpoch: 0 });
      await auth.call('POST', '/api/v1/auth/logout', { headers: { authorization: `Bearer ${token.text}` } });
    };
    const count = () => auth.store.count(SYSTEM_SCOPE, revokedTokensCollection, {});
    await logout('one');
    await logout('two');
    expect(await count()).to.equal(2);
    auth.clock.advance(3_601_000);
    await logout('three');
    expect(await count()).to.equal(1);
  });
});
