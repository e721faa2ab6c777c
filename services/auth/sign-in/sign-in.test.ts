import { argon2Sync, randomBytes } from 'node:crypto';
import { hash as bcryptHash } from 'bcryptjs';
import { expect } from 'chai';
import { open, startAuth, type TestAuth, type TestAuthOptions } from '../../../test/support/auth-service.ts';
import { beforeCommits } from '../../../test/support/before-commits.ts';
import type { UserId } from '../../common/kernel/brand.ts';
import type { EngramError } from '../../common/kernel/errors.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import type { Reply } from '../../common/platform/http/route.ts';
import { createUsers } from '../../common/records/auth/users.ts';
import { createPasswordHasher, type PasswordHasher } from '../credentials/password-hasher.ts';
import { auditRecordsCollection } from '../repositories/audit-log.ts';

const PASSWORD = 'correct horse';
const ADDRESS = '192.0.2.7';
/** Shared by the services of the tests, which close it when they stop. */
const hasher = createPasswordHasher();
const passwords: PasswordHasher = { ...hasher, close: async () => {} };

const login = async (auth: TestAuth, username: string, password = PASSWORD): Promise<string> => {
  const body = { username, password };
  const reply: Reply = await auth.call('POST', '/api/v1/auth/login', { body, remoteAddress: ADDRESS });
  return (reply.json as { access_token: string }).access_token;
};
const logout = (auth: TestAuth, headers: Readonly<Record<string, string>>) =>
  auth.call('POST', '/api/v1/auth/logout', { headers, remoteAddress: ADDRESS });
const isGood = async (auth: TestAuth, token: string) =>
  (await auth.authenticate({ kind: 'bearer', value: token })) !== null;
const idOf = (token: string): string =>
  (JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { jti: string }).jti;

async function refusal(work: Promise<unknown>): Promise<number> {
  try {
    await work;
  } catch (error) {
    if (error instanceof HttpError) expect(error.body).to.deep.equal({ detail: 'LOGIN_BAD_CREDENTIALS' });
    return (error as HttpError | EngramError).status;
  }
  throw new Error('expected a refusal');
}

async function audited(auth: TestAuth) {
  const { items } = await auth.store.find(SYSTEM_SCOPE, auditRecordsCollection, { limit: 1000 });
  const sessions = items.map(({ value }) => value).filter(({ action }) => action.startsWith('session.'));
  return sessions
    .toSorted((one, other) => one.number - other.number)
    .map(({ action, actor, subject, details }) => ({ action, actor, subject, ...(JSON.parse(details) as object) }));
}

function argon2Hash(
  password: string,
  cost: { readonly memory: number; readonly passes: number; readonly parallelism: number },
) {
  const nonce = randomBytes(16);
  const tag = argon2Sync('argon2id', { message: password, nonce, tagLength: 32, ...cost });
  const text = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '');
  return `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${text(nonce)}$${text(tag)}`;
}

describe('signing in and out', () => {
  after(() => hasher.close());
  let auth: TestAuth;
  const start = async (options: TestAuthOptions = {}) => {
    auth = await startAuth({ passwords, ...options });
  };
  afterEach(() => auth[Symbol.asyncDispose]());
  const addUser = async () => auth.addUser({ passwordHash: await passwords.hash(PASSWORD) });
  const storedHash = async (id: UserId) => (await createUsers(auth.store).get(id))?.passwordHash ?? '';

  it('accepts hashes of an earlier system, and replaces them at the first login', async () => {
    await start();
    for (const imported of [
      await bcryptHash(PASSWORD, 5),
      (await bcryptHash(PASSWORD, 5)).replace('$2b', '$2a'),
      (await bcryptHash(PASSWORD, 5)).replace('$2b', '$2y'),
      argon2Hash(PASSWORD, { memory: 65_536, passes: 3, parallelism: 4 }),
    ]) {
      const { id, email } = await auth.addUser({ passwordHash: imported });
      expect(await refusal(login(auth, email, 'wrong')), imported).to.equal(401);
      expect(await storedHash(id)).to.equal(imported);
      const token = await login(auth, email);
      const replaced = await storedHash(id);
      expect(replaced).to.match(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
      expect(await isGood(auth, token), 'the token of the sign-in that replaced it').to.equal(true);
      expect(await isGood(auth, await login(auth, email))).to.equal(true);
      expect(await storedHash(id)).to.equal(replaced);
      expect(await isGood(auth, token), 'after another sign-in').to.equal(true);
    }
  });

  it('replaces an imported hash once for concurrent logins, all of which succeed', async () => {
    await start();
    const { email } = await auth.addUser({ passwordHash: await bcryptHash(PASSWORD, 5) });
    const tokens = await Promise.all(Array.from({ length: 6 }, () => login(auth, email)));
    const good = await Promise.all(tokens.map((token) => isGood(auth, token)));
    expect(good).to.deep.equal(tokens.map(() => true));
  });

  it('refuses a password that was changed while it was verified', async () => {
    let whileVerified: (() => Promise<void>) | null = null;
    const slow: PasswordHasher = {
      ...passwords,
      async hash(password) {
        await whileVerified?.();
        whileVerified = null;
        return passwords.hash(password);
      },
    };
    await start({ passwords: slow });
    const { id, email } = await auth.addUser({ passwordHash: await bcryptHash(PASSWORD, 5) });
    whileVerified = async () => {
      const users = createUsers(auth.store);
      const user = await users.get(id);
      if (user === null) throw new Error('no user');
      const changed = { ...user, passwordHash: await passwords.hash('another one') };
      await auth.store.commit(SYSTEM_SCOPE, [users.replaceWrite(changed)]);
    };
    expect(await refusal(login(auth, email))).to.equal(401);
    expect(await isGood(auth, await login(auth, email, 'another one'))).to.equal(true);
  });

  it('computes one hash for every kind of failure, and does not reveal the kind', async () => {
    const verified: string[] = [];
    const counting: PasswordHasher = {
      ...passwords,
      verify(password, phc) {
        verified.push(password);
        return passwords.verify(password, phc);
      },
    };
    await start({ passwords: counting });
    const { email } = await addUser();
    const inactive = await auth.addUser({ isActive: false, passwordHash: await passwords.hash(PASSWORD) });
    const passwordless = await auth.addUser();
    const attempts = [
      [email, 'wrong'],
      ['nobody@example.com', PASSWORD],
      [inactive.email, PASSWORD],
      [passwordless.email, '!'],
      ['no address', PASSWORD],
    ] as const;
    for (const [username, password] of attempts) expect(await refusal(login(auth, username, password))).to.equal(401);
    expect(verified).to.have.length(attempts.length);
  });

  it('audits logins, refusals and logouts without secrets', async () => {
    await start();
    const { id, email } = await addUser();
    const token = await login(auth, email);
    await refusal(login(auth, email, 'wrong password'));
    await refusal(login(auth, 'Nobody@example.com', 'wrong password'));
    await logout(auth, { authorization: `Bearer ${token}` });
    const records = await audited(auth);
    expect(records).to.deep.equal([
      ...[
        {
          action: 'session.opened',
          actor: id,
          subject: id,
          address: ADDRESS,
          method: 'password',
          tokenId: idOf(token),
        },
      ],
      ...[{ action: 'session.refused', actor: null, subject: id, address: ADDRESS, attempts: 1 }],
      ...[{ action: 'session.refused', actor: null, subject: 'Nobody@example.com', address: ADDRESS, attempts: 1 }],
      ...[{ action: 'session.closed', actor: id, subject: id, address: ADDRESS, tokenId: idOf(token) }],
    ]);
    const text = JSON.stringify(records);
    for (const secret of [PASSWORD, 'wrong password', token]) expect(text).not.to.contain(secret);
  });

  it('audits the number of throttled attempts, at the latest when the service stops', async () => {
    await start();
    for (let count = 0; count < 10; count += 1) await refusal(login(auth, 'nobody@example.com', 'x'));
    for (let count = 0; count < 300; count += 1) {
      expect(await refusal(login(auth, 'nobody@example.com', 'x'))).to.equal(429);
    }
    expect(await audited(auth)).to.have.length(1);
    await auth[Symbol.asyncDispose]();
    const [, rest] = await audited(auth);
    expect(rest).to.include({ action: 'session.refused', subject: 'nobody@example.com', attempts: 9, throttled: 300 });
    await start();
  });

  it('issues no token that is not in the audit log', async () => {
    await start();
    const { email } = await addUser();
    beforeCommits(auth.store, (all) => {
      if (all.some(({ collection }) => collection.name === auditRecordsCollection.name)) throw new Error('away');
    });
    const error: unknown = await login(auth, email).catch((thrown: unknown) => thrown);
    expect(error).to.have.property('message', 'away');
  });

  it('ends every token of a logout request, from header and cookie, and no other', async () => {
    await start();
    const { email } = await addUser();
    const [bearer, cookie, other] = [await login(auth, email), await login(auth, email), await login(auth, email)];
    for (const token of [bearer, cookie, other]) expect(await isGood(auth, token)).to.equal(true);
    const headers = { authorization: `Bearer ${bearer}`, cookie: `auth_token=${cookie}`, 'x-api-key': other };
    await logout(auth, headers);
    await logout(auth, headers);
    await logout(auth, { authorization: `Bearer ${'f'.repeat(64)}`, cookie: 'auth_token=garbage' });
    expect([await isGood(auth, bearer), await isGood(auth, cookie), await isGood(auth, other)]).to.deep.equal([
      ...[false, false, true],
    ]);
    const closed = (await audited(auth)).filter(({ action }) => action === 'session.closed');
    expect(closed.map((entry) => (entry as { tokenId?: string }).tokenId)).to.deep.equal([idOf(bearer), idOf(cookie)]);
  });

  it('ends tokens of a rotated key, and with a changed password those of all keys', async () => {
    await start({ secrets: { jwt: 'the former secret' } });
    const { id, email } = await addUser();
    const [first, second] = [await login(auth, email), await login(auth, email)];
    const { store } = auth;
    await auth[Symbol.asyncDispose]();
    await start({ store, secrets: { jwt: 'the secret of today', acceptedJwt: ['the former secret'] } });
    const third = await login(auth, email);
    for (const token of [first, second, third]) expect(await isGood(auth, token)).to.equal(true);
    await logout(auth, { authorization: `Bearer ${first}` });
    expect([await isGood(auth, first), await isGood(auth, second)]).to.deep.equal([false, true]);
    const users = createUsers(store);
    const user = await users.get(id);
    if (user === null) throw new Error('no user');
    await store.commit(SYSTEM_SCOPE, [users.replaceWrite({ ...user, passwordHash: await passwords.hash('new') })]);
    auth.clock.advance(1000);
    for (const token of [second, third]) expect(await isGood(auth, token)).to.equal(false);
  });

  it('audits logins of the open mode, which need no password', async () => {
    await start({ settings: { posture: open } });
    await login(auth, 'default_user@example.com', 'whatever');
    expect((await audited(auth))[0]).to.include({ action: 'session.opened', method: 'open', address: ADDRESS });
  });
});
