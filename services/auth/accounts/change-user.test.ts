import { expect } from 'chai';
import { off, open, startAuth, type TestAuth, type TestAuthOptions } from '../../../test/support/auth-service.ts';
import { refusalOf } from '../../../test/support/refusal-of.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { createUsers } from '../../common/records/auth/users.ts';
import { auditRecordsCollection } from '../repositories/audit-log.ts';

const PASSWORD = 'correct horse';

describe('changing an account', () => {
  let auth: TestAuth;
  let root: Principal;
  const start = async (options: TestAuthOptions = {}) => {
    auth = await startAuth(options);
    root = await auth.addUser({ isSuperuser: true, email: 'root@example.com' });
  };
  afterEach(() => auth[Symbol.asyncDispose]());

  const patch = (id: string, body: object) =>
    auth.call('PATCH', '/api/v1/users/:userId', { params: { userId: id }, principal: root, body });
  const patchOwn = (principal: Principal, body: object) => auth.call('PATCH', '/api/v1/users/me', { principal, body });
  const register = async (email: string) =>
    (await auth.call('POST', '/api/v1/auth/register', { body: { email, password: PASSWORD } })).json as {
      id: Principal['id'];
    };
  const login = async (username: string, password = PASSWORD) =>
    ((await auth.call('POST', '/api/v1/auth/login', { body: { username, password } })).json as { access_token: string })
      .access_token;
  const whoIs = (value: string) => auth.authenticate({ kind: 'bearer', value });
  const audited = async (subject: string) =>
    (await auth.store.find(SYSTEM_SCOPE, auditRecordsCollection, { limit: 1000 })).items
      .map(({ value }) => value)
      .filter((record) => record.subject === subject && !record.action.startsWith('session.'))
      .map(({ action, actor, details }) => [action, actor, JSON.parse(details)]);

  it('is audited with its actor, without the password', async () => {
    await start();
    const { id } = await register('ada@example.com');
    await patch(id, { is_verified: true, password: 'another one' });
    await patch(id, { is_verified: true });
    const ada = { ...root, id, email: 'ada@example.com', isSuperuser: false };
    await patchOwn(ada, { email: 'ada2@example.com' });
    expect(await audited(id)).to.deep.equal([
      ['user.registered', null, { email: 'ada@example.com', is_superuser: false }],
      ['user.changed', root.id, { is_verified: true }],
      ['user.password_changed', root.id, {}],
      ['user.changed', id, { email: 'ada2@example.com', is_verified: false }],
    ]);
  });

  it('refuses an inactive account at once, and its old tokens also after reactivation', async () => {
    await start();
    const { id } = await register('ada@example.com');
    const before = await login('ada@example.com');
    expect(await whoIs(before)).to.include({ id });
    await patch(id, { is_active: false });
    expect(await whoIs(before)).to.equal(null);
    await patch(id, { is_active: true });
    expect(await whoIs(before)).to.equal(null);
    const after = await login('ada@example.com');
    expect(await whoIs(after)).to.include({ id });
    await patch(id, { is_verified: true });
    expect(await whoIs(after)).to.include({ id });
  });

  it('refuses the agents of an inactive account', async () => {
    await start();
    const ada = await auth.addUser();
    const agent = await auth.addUser({ parentId: ada.id, email: 'bot+1@cognee.agent' });
    const { key } = (await auth.call('POST', '/api/v1/auth/api-keys', { principal: agent, body: {} })).json as {
      key: string;
    };
    expect(await auth.authenticate({ kind: 'api-key', value: key })).to.include({ id: agent.id });
    await patch(ada.id, { is_active: false });
    expect(await auth.authenticate({ kind: 'api-key', value: key })).to.equal(null);
  });

  it('leaves at least one active superuser', async () => {
    await start();
    for (const change of [{ is_active: false }, { is_superuser: false }]) {
      expect((await refusalOf(patch(root.id, change))).text).to.include('last superuser');
    }
    const other = await auth.addUser({ isSuperuser: true });
    const outcomes = await Promise.allSettled([
      patch(root.id, { is_superuser: false }),
      patch(other.id, { is_active: false }),
      patch(root.id, { is_active: false }),
      patch(other.id, { is_superuser: false }),
    ]);
    expect(outcomes.some(({ status }) => status === 'fulfilled')).to.equal(true);
    expect(await createUsers(auth.store).superusers()).to.have.length(1);
  });

  it('keeps the default account an active superuser while requests use it', async () => {
    for (const posture of [open, off]) {
      await start({ settings: { posture } });
      const standIn = await auth.addUser({ isSuperuser: true, email: 'default_user@example.com' });
      for (const change of [{ is_active: false }, { is_superuser: false }]) {
        expect((await refusalOf(patch(standIn.id, change))).text).to.include('all requests use the default account');
      }
      expect((await refusalOf(patch(standIn.id, { email: 'else@example.com' }))).text).to.include('DEFAULT_USER_EMAIL');
      expect((await patch(standIn.id, { is_verified: true })).status).to.equal(200);
      await auth[Symbol.asyncDispose]();
    }
    await start();
    const standIn = await auth.addUser({ isSuperuser: true, email: 'default_user@example.com' });
    expect((await patch(standIn.id, { is_active: false })).json).to.include({ is_active: false });
  });

  it('refuses a password, another address and superuser rights for agents', async () => {
    await start();
    const ada = await auth.addUser();
    const agent = await auth.addUser({ parentId: ada.id, email: 'bot+1@cognee.agent' });
    for (const change of [{ password: 'a long one' }, { email: 'bot@example.com' }, { is_superuser: true }]) {
      expect((await refusalOf(patch(agent.id, change))).status, JSON.stringify(change)).to.equal(403);
    }
    expect((await refusalOf(patchOwn(agent, { password: 'a long one' }))).status).to.equal(403);
    expect((await patch(agent.id, { is_active: false })).json).to.include({ is_active: false });
  });

  it('keeps all concurrent changes', async () => {
    await start();
    const { id } = await register('ada@example.com');
    await Promise.all([
      patch(id, { is_verified: true }),
      patch(id, { is_superuser: true }),
      patch(id, { is_active: false }),
      patch(id, { password: 'another one' }),
    ]);
    const user = await createUsers(auth.store).get(id);
    expect(user).to.include({ isVerified: true, isSuperuser: true, isActive: false });
    await patch(id, { is_active: true });
    expect(await whoIs(await login('ada@example.com', 'another one'))).to.include({ id });
  });
});

describe('signing up', () => {
  it('can be closed', async () => {
    await using auth = await startAuth({ settings: { signUp: 'closed' } });
    const body = { email: 'ada@example.com', password: PASSWORD };
    expect(await refusalOf(auth.call('POST', '/api/v1/auth/register', { body }))).to.deep.equal({
      status: 403,
      text: 'Sign-up is closed on this server: ask an administrator for an account. [PermissionDeniedError]',
    });
    expect(await auth.events()).to.deep.equal([]);
  });

  it('makes the first account of a closed server a superuser, who makes the others', async () => {
    await using auth = await startAuth({ settings: { signUp: 'closed', registersFirstSuperuser: true } });
    expect(auth.warnings).to.include('auth.sign_up.first_account_missing');
    const register = (email: string, headers: Record<string, string> = {}) =>
      auth.call('POST', '/api/v1/auth/register', { body: { email, password: PASSWORD }, headers });
    expect((await register('root@example.com')).json).to.include({ is_superuser: true });
    expect((await refusalOf(register('stranger@example.com'))).status).to.equal(403);
    const login = await auth.call('POST', '/api/v1/auth/login', {
      body: { username: 'root@example.com', password: PASSWORD },
    });
    const { access_token: token } = login.json as { access_token: string };
    const invited = await register('ada@example.com', { authorization: `Bearer ${token}` });
    expect(invited.status).to.equal(201);
    expect(invited.json).to.include({ is_superuser: false });
  });

  it('refuses a first account where another way to one is configured', async () => {
    await using auth = await startAuth({ settings: { signUp: 'closed' } });
    const body = { email: 'ada@example.com', password: PASSWORD };
    expect((await refusalOf(auth.call('POST', '/api/v1/auth/register', { body }))).status).to.equal(403);
    expect(auth.warnings).to.deep.equal([]);
  });

  it('is for superusers while it is closed, with a credential without limits', async () => {
    await using auth = await startAuth({ settings: { signUp: 'closed', posture: off } });
    const keyOf = async (principal: Principal, body: object = {}) =>
      ((await auth.call('POST', '/api/v1/auth/api-keys', { principal, body })).json as { key: string }).key;
    const root = await auth.addUser({ isSuperuser: true });
    const register = (key: string) =>
      auth.call('POST', '/api/v1/auth/register', {
        body: { email: 'ada@example.com', password: PASSWORD },
        headers: { 'x-api-key': key },
      });
    const refused = [await keyOf(await auth.addUser()), await keyOf(root, { permissions: ['read'] }), 'no key'];
    for (const key of refused) expect((await refusalOf(register(key))).status).to.equal(403);
    const { status, json } = await register(await keyOf(root));
    expect(status).to.equal(201);
    const records = (await auth.store.find(SYSTEM_SCOPE, auditRecordsCollection, { limit: 100 })).items;
    const told = records.find(({ value }) => value.action === 'user.registered');
    expect(told?.value).to.include({ actor: root.id, subject: (json as { id: string }).id });
  });
});
