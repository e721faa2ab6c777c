import { expect } from 'chai';
import { off, open, startAuth, type TestAuth } from '../../../test/support/auth-service.ts';
import { failureOf } from '../../../test/support/refusal-of.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import type { Reply } from '../../common/platform/http/route.ts';
import { createUsers } from '../../common/records/auth/users.ts';

const PASSWORD = 'correct horse';

const register = (auth: TestAuth, email: string, more: object = {}) =>
  auth.call('POST', '/api/v1/auth/register', { body: { email, password: PASSWORD, ...more } });
const login = (auth: TestAuth, username: string, password = PASSWORD, remoteAddress = '127.0.0.1') =>
  auth.call('POST', '/api/v1/auth/login', { body: { username, password }, remoteAddress });
const tokenOf = (reply: Reply) => (reply.json as { access_token: string }).access_token;
const bearer = (value: string) => ({ kind: 'bearer', value }) as const;

describe('accounts', () => {
  let auth: TestAuth;
  beforeEach(async () => {
    auth = await startAuth();
  });
  afterEach(() => auth[Symbol.asyncDispose]());

  it('creates one account per address, also for concurrent requests', async () => {
    const names = ['ada@example.com', 'ADA@example.com', 'Ada@Example.COM', 'ada@example.com'];
    const replies = await Promise.allSettled(names.map((name) => register(auth, name)));
    expect(replies.filter((reply) => reply.status === 'fulfilled')).to.have.length(1);
    const refusal = { status: 400, body: { detail: 'REGISTER_USER_ALREADY_EXISTS' } };
    expect(await failureOf(register(auth, 'aDa@example.com'))).to.deep.equal(refusal);
    expect(await auth.events()).to.deep.equal(['user.registered']);
  });

  it('refuses a password that is too short, counted in characters', async () => {
    const send = (password: string) =>
      auth.call('POST', '/api/v1/auth/register', { body: { email: 'a@example.com', password } });
    for (const password of ['', 'a', 'seven77', '🔑🔑🔑🔑']) {
      const detail = { code: 'REGISTER_INVALID_PASSWORD', reason: 'Password should be at least 8 characters' };
      expect(await failureOf(send(password)), password).to.deep.equal({ status: 400, body: { detail } });
    }
    expect((await send('🔑'.repeat(8))).status).to.equal(201);
  });

  it('signs tokens with the claims of the contract', async () => {
    await register(auth, 'ada@example.com');
    const [header = '', payload = ''] = tokenOf(await login(auth, 'ada@example.com')).split('.');
    const decode = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>;
    const { kid, ...rest } = decode(header);
    expect(rest).to.deep.equal({ alg: 'HS256', typ: 'JWT' });
    expect(kid).to.match(/^[\w-]{16}$/);
    const claims = decode(payload);
    expect(claims).to.have.all.keys('sub', 'aud', 'pwd', 'exp', 'jti');
    expect(claims['aud']).to.deep.equal(['fastapi-users:auth']);
    expect(claims['pwd']).to.match(/^[0-9a-f]{64}$/);
    expect(claims['exp']).to.equal(Math.floor(auth.clock.now().getTime() / 1000) + 3600);
  });

  it('throttles failed logins before hashing and forgives them with time', async () => {
    await register(auth, 'ada@example.com');
    const attempts = await Promise.all(
      Array.from({ length: 14 }, () => failureOf(login(auth, 'ada@example.com', 'wrong'))),
    );
    expect(attempts.map(({ status }) => status).sort()).to.deep.equal([
      ...Array<number>(10).fill(401),
      ...Array<number>(4).fill(429),
    ]);
    expect((await failureOf(login(auth, 'ada@example.com'))).status).to.equal(429);
    // From elsewhere the owner still gets in.
    expect(tokenOf(await login(auth, 'ada@example.com', PASSWORD, '10.1.1.1'))).to.be.a('string');
    auth.clock.advance(10_000);
    expect(tokenOf(await login(auth, 'ada@example.com'))).to.be.a('string');
  });

  it('does not count successful logins', async () => {
    await register(auth, 'ada@example.com');
    for (let count = 0; count < 12; count += 1) await login(auth, 'ada@example.com');
  });

  it('refuses an expired token', async () => {
    await register(auth, 'ada@example.com');
    const token = tokenOf(await login(auth, 'ada@example.com'));
    auth.clock.advance(3_599_000);
    expect(await auth.authenticate(bearer(token))).not.to.equal(null);
    auth.clock.advance(2_000);
    expect(await auth.authenticate(bearer(token))).to.equal(null);
  });
});

describe('the default account', () => {
  it('does not exist and cannot be logged into until it is configured', async () => {
    await using auth = await startAuth();
    expect((await failureOf(login(auth, 'default_user@example.com', 'default_password'))).status).to.equal(401);
    expect(await auth.authenticate()).to.equal(null);
    expect(await auth.events()).to.deep.equal([]);
  });

  it('is created at start with the configured password, as a superuser', async () => {
    await using auth = await startAuth({ secrets: { defaultUserPassword: 'default_password' } });
    const token = tokenOf(await login(auth, 'default_user@example.com', 'default_password'));
    expect(await auth.authenticate(bearer(token))).to.include({ isSuperuser: true });
    expect((await failureOf(login(auth, 'default_user@example.com', 'other'))).status).to.equal(401);
  });

  it('gets a password if it has none, and keeps another one with a warning', async () => {
    const anonymous = await startAuth({ settings: { posture: open } });
    const principal = await anonymous.authenticate();
    await anonymous[Symbol.asyncDispose]();
    const { store } = anonymous;
    const first = await startAuth({ store, secrets: { defaultUserPassword: 'first' } });
    const token = tokenOf(await login(first, 'default_user@example.com', 'first'));
    expect(await first.authenticate(bearer(token))).to.deep.equal(principal);
    await first[Symbol.asyncDispose]();
    const second = await startAuth({ store, secrets: { defaultUserPassword: 'second' } });
    expect((await failureOf(login(second, 'default_user@example.com', 'second'))).status).to.equal(401);
    await second[Symbol.asyncDispose]();
    expect(second.warnings).to.deep.equal(['auth.default_user.password_differs']);
    expect(await second.events()).to.deep.equal(['user.registered']);
  });

  it('is used by all requests in open mode, and created once', async () => {
    await using auth = await startAuth({ settings: { posture: open } });
    const principals = await Promise.all(Array.from({ length: 20 }, () => auth.authenticate(bearer('garbage'))));
    expect(new Set(principals.map((principal) => principal?.id)).size).to.equal(1);
    expect(principals[0]).to.include({ email: 'default_user@example.com', isSuperuser: true });
    expect(await auth.events()).to.deep.equal(['user.registered']);
  });

  it('accepts any password in open mode, unlike other accounts', async () => {
    await using auth = await startAuth({ settings: { posture: open } });
    const token = tokenOf(await login(auth, 'Default_User@example.com', 'default_password'));
    expect(await auth.authenticate(bearer(token))).to.include({ isSuperuser: true });
    await register(auth, 'ada@example.com');
    expect((await failureOf(login(auth, 'ada@example.com', 'wrong'))).status).to.equal(401);
  });

  it('accepts no password where credentials are optional on a public address', async () => {
    await using auth = await startAuth({ settings: { posture: off } });
    expect(await auth.authenticate()).to.include({ email: 'default_user@example.com' });
    expect((await failureOf(login(auth, 'default_user@example.com', 'anything'))).status).to.equal(401);
  });

  it('is not used in open mode while it is inactive', async () => {
    await using auth = await startAuth({ settings: { posture: open } });
    await auth.authenticate();
    const users = createUsers(auth.store);
    const user = await users.findByEmail('default_user@example.com');
    if (user === null) throw new Error('no default account');
    await auth.store.commit(SYSTEM_SCOPE, [users.replaceWrite({ ...user, isActive: false })]);
    auth.clock.advance(1_000);
    expect(await auth.authenticate()).to.equal(null);
    expect((await failureOf(login(auth, 'default_user@example.com'))).status).to.equal(401);
  });

  it('keeps its address', async () => {
    await using auth = await startAuth({ settings: { posture: open } });
    const principal = await auth.authenticate();
    if (principal === null) throw new Error('no default account');
    const work = auth.call('PATCH', '/api/v1/users/me', { principal, body: { email: 'me@example.com' } });
    expect((await failureOf(work)).status).to.equal(403);
  });
});
