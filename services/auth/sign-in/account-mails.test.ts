import { expect } from 'chai';
import { SignJWT } from 'jose';
import { startAuth, type TestAuth, type TestAuthOptions } from '../../../test/support/auth-service.ts';
import { failureOf } from '../../../test/support/refusal-of.ts';
import { type SmtpServer, type SmtpServerOptions, startSmtpServer } from '../../../test/support/smtp-server.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { createSmtpMailer } from '../../common/platform/mail/smtp-mailer.ts';
import { createUsers } from '../../common/records/auth/users.ts';
import { auditRecordsCollection } from '../repositories/audit-log.ts';

const OLD = 'the old password';
const NEW = 'the new password';

async function failure(work: Promise<unknown>): Promise<readonly [number, unknown]> {
  const { status, body } = await failureOf(work);
  return [status, body];
}

describe('mails to accounts', () => {
  let server: SmtpServer;
  let auth: TestAuth;
  const start = async (options: TestAuthOptions = {}, smtp: SmtpServerOptions = {}, timeoutMs = 2000) => {
    server = await startSmtpServer(smtp);
    const mailer = createSmtpMailer({
      host: '127.0.0.1',
      port: server.port,
      login: null,
      tls: 'none',
      certificateAuthority: null,
      from: 'engram@example.com',
      timeoutMs,
    });
    auth = await startAuth({ ...options, mail: { mailer, ...options.mail } });
  };
  afterEach(async () => {
    await auth[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  const register = async (email: string) =>
    (await auth.call('POST', '/api/v1/auth/register', { body: { email, password: OLD } })).json as {
      id: Principal['id'];
    };
  const login = (username: string, password: string) =>
    auth.call('POST', '/api/v1/auth/login', { body: { username, password } });
  const forgot = (email: string) => auth.call('POST', '/api/v1/auth/forgot-password', { body: { email } });
  const askToVerify = (email: string) => auth.call('POST', '/api/v1/auth/request-verify-token', { body: { email } });
  const reset = (token: string, password = NEW) =>
    auth.call('POST', '/api/v1/auth/reset-password', { body: { token, password } });
  const verify = (token: string) => auth.call('POST', '/api/v1/auth/verify', { body: { token } });
  const tokenIn = (data = '') => /ey[\w-]+\.[\w-]+\.[\w-]+/.exec(decoded(data))?.[0] ?? '';
  const mailedToken = async (count: number) => tokenIn((await server.received(count))[count - 1]?.data);
  /** Whatever is asked for later is answered by a mail later: then nothing else is on its way. */
  const settled = async (count: number) => {
    await register('marker@example.com');
    await forgot('marker@example.com');
    const mails = await server.received(count + 1);
    expect(mails).to.have.length(count + 1);
    expect(mails.at(-1)?.to).to.deep.equal(['marker@example.com']);
  };
  const BAD_RESET = [400, { detail: 'RESET_PASSWORD_BAD_TOKEN' }];
  const BAD_VERIFY = [400, { detail: 'VERIFY_USER_BAD_TOKEN' }];

  it('set a new password with a token, once, and end every login', async () => {
    await start();
    const { id } = await register('ada@example.com');
    const { access_token: session } = (await login('ada@example.com', OLD)).json as { access_token: string };
    expect(await forgot('ADA@example.com')).to.deep.equal({ status: 202, json: null });
    const token = await mailedToken(1);
    expect(server.mails[0]?.to).to.deep.equal(['ada@example.com']);
    expect(await reset(token)).to.deep.equal({ status: 200, json: null });
    expect(await auth.authenticate({ kind: 'bearer', value: session })).to.equal(null);
    expect(await failure(login('ada@example.com', OLD))).to.deep.equal([401, { detail: 'LOGIN_BAD_CREDENTIALS' }]);
    expect((await login('ada@example.com', NEW)).status ?? 200).to.equal(200);
    expect(await failure(reset(token))).to.deep.equal(BAD_RESET);
    const told = (await auth.store.find(SYSTEM_SCOPE, auditRecordsCollection, { limit: 100 })).items;
    const changes = told.filter(({ value }) => value.action === 'user.password_changed');
    expect(changes.map(({ value }) => [value.subject, value.actor])).to.deep.equal([[id, id]]);
    expect(JSON.stringify(told)).to.not.include(token);
  });

  it('invite a person, who sets the first password within a week, once', async () => {
    await start();
    const root = await auth.addUser({ isSuperuser: true });
    const invite = async (email: string, from = auth) =>
      (await from.call('POST', '/api/v1/users/invitations', { principal: root, body: { email } })).json;
    expect(await invite('ada@example.com')).to.deep.include({ mailed: true, link: null });
    const token = await mailedToken(1);
    expect(decoded(server.mails[0]?.data ?? ''))
      .to.include('You are invited')
      .and.include('#reset=');
    expect(await failure(login('ada@example.com', OLD))).to.deep.equal([401, { detail: 'LOGIN_BAD_CREDENTIALS' }]);
    auth.clock.advance(6 * 86_400_000);
    expect((await reset(token)).status).to.equal(200);
    expect(await failure(reset(token))).to.deep.equal(BAD_RESET);
    expect((await login('ada@example.com', NEW)).status ?? 200).to.equal(200);
    const isTaken = [400, { detail: 'REGISTER_USER_ALREADY_EXISTS' }];
    for (const email of ['ada@example.com', 'default_user@example.com', 'x@cognee.agent'])
      expect(await failure(invite(email)), email).to.deep.equal(isTaken);

    // Without mails the link is shown; a second invitation gives another.
    await using silent = await startAuth({ store: auth.store });
    const links = [await invite('bob@example.com', silent), await invite('bob@example.com', silent)].map(
      (answer) => (answer as { link: string }).link,
    );
    expect(links[0]).to.match(/^http:\/\/localhost\/#reset=ey/);
    silent.clock.advance(7 * 86_400_000 + 1000);
    const late = { token: links[1]?.split('=')[1] ?? '', password: NEW };
    expect(await failure(silent.call('POST', '/api/v1/auth/reset-password', { body: late }))).to.deep.equal(BAD_RESET);
  });

  it('refuse a token after the password, the address or the account has changed', async () => {
    await start();
    const root = await auth.addUser({ isSuperuser: true });
    const patch = (id: string, body: object) =>
      auth.call('PATCH', '/api/v1/users/:userId', { params: { userId: id }, principal: root, body });
    const changes = [{ password: 'set by hand' }, { email: 'moved2@example.com' }, { is_active: false }];
    for (const [index, change] of changes.entries()) {
      const { id } = await register(`ada${index}@example.com`);
      await forgot(`ada${index}@example.com`);
      const token = await mailedToken(index + 1);
      await patch(id, change);
      expect(await failure(reset(token)), JSON.stringify(change)).to.deep.equal(BAD_RESET);
      // Let in again: what was asked for before stays ended.
      await patch(id, { is_active: true });
      expect(await failure(reset(token)), JSON.stringify(change)).to.deep.equal(BAD_RESET);
    }
    const { id } = await register('gone@example.com');
    await forgot('gone@example.com');
    const token = await mailedToken(4);
    await auth.call('DELETE', '/api/v1/users/:userId', { params: { userId: id }, principal: root });
    expect(await failure(reset(token))).to.deep.equal(BAD_RESET);
  });

  it('refuse a password that is too short and keep the token valid', async () => {
    await start();
    await register('ada@example.com');
    await forgot('ada@example.com');
    const token = await mailedToken(1);
    const reason = 'Password should be at least 8 characters';
    const refusal = [400, { detail: { code: 'RESET_PASSWORD_INVALID_PASSWORD', reason } }];
    expect(await failure(reset(token, 'seven77'))).to.deep.equal(refusal);
    expect((await reset(token)).status).to.equal(200);
  });

  it('have tokens that expire after an hour and have one purpose', async () => {
    await start();
    const { id } = await register('ada@example.com');
    await forgot('ada@example.com');
    await askToVerify('ada@example.com');
    const mails = (await server.received(2)).map(({ data }) => ({ data: decoded(data), token: tokenIn(data) }));
    const resetToken = mails.find(({ data }) => data.includes('reset-password'))?.token ?? '';
    const verifyToken = mails.find(({ data }) => data.includes('auth/verify'))?.token ?? '';
    expect(await failure(verify(resetToken))).to.deep.equal(BAD_VERIFY);
    expect(await failure(reset(verifyToken))).to.deep.equal(BAD_RESET);
    for (const value of [resetToken, verifyToken]) {
      expect(await auth.authenticate({ kind: 'bearer', value })).to.equal(null);
    }
    const forged = await new SignJWT({ password_fgpt: 'x', email: 'ada@example.com' })
      .setProtectedHeader({ alg: 'HS256' })
      .setSubject(id)
      .setAudience(['fastapi-users:reset', 'fastapi-users:verify'])
      .setExpirationTime('1h')
      .sign(Buffer.from('a secret for tests only'));
    const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${resetToken.split('.')[1]}.`;
    for (const token of [forged, unsigned, 'x', '', 'a.b.c']) {
      expect(await failure(reset(token))).to.deep.equal(BAD_RESET);
      expect(await failure(verify(token))).to.deep.equal(BAD_VERIFY);
    }
    auth.clock.advance(3_601_000);
    expect(await failure(reset(resetToken))).to.deep.equal(BAD_RESET);
    expect(await failure(verify(verifyToken))).to.deep.equal(BAD_VERIFY);
  });

  it('verify an address once, while it is that of the account', async () => {
    await start();
    await register('ada@example.com');
    expect(await askToVerify('ada@example.com')).to.deep.equal({ status: 202, json: null });
    const token = await mailedToken(1);
    expect((await verify(token)).json).to.include({ email: 'ada@example.com', is_verified: true });
    expect(await failure(verify(token))).to.deep.equal([400, { detail: 'VERIFY_USER_ALREADY_VERIFIED' }]);
    await askToVerify('ada@example.com');
    const { id } = await register('eve@example.com');
    await askToVerify('eve@example.com');
    const hers = await mailedToken(2);
    const eve = { ...(await auth.addUser()), id };
    await auth.call('PATCH', '/api/v1/users/me', { principal: eve, body: { email: 'eve2@example.com' } });
    expect(await failure(verify(hers))).to.deep.equal(BAD_VERIFY);
    expect((await createUsers(auth.store).get(id))?.isVerified).to.equal(false);
  });

  it('are sent to accounts with a password only: not to agents, strangers, inactive and password-less accounts', async () => {
    await start();
    const passwordHash = '$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHRzYWx0$c2FsdHNhbHRzYWx0c2FsdA';
    const ada = await auth.addUser();
    await auth.addUser({ email: 'sso@example.com' });
    await auth.addUser({ email: 'off@example.com', isActive: false, passwordHash });
    await auth.addUser({ email: 'bot+1@cognee.agent', parentId: ada.id, passwordHash });
    for (const address of ['sso@example.com', 'off@example.com', 'bot+1@cognee.agent', 'nobody@example.com']) {
      expect(await forgot(address)).to.deep.equal({ status: 202, json: null });
    }
    for (const address of ['off@example.com', 'bot+1@cognee.agent', 'nobody@example.com']) await askToVerify(address);
    await settled(0);
  });

  it('are limited per account and hour', async () => {
    await start({ mail: { perAccountAndHour: 3 } });
    await register('ada@example.com');
    for (let count = 0; count < 5; count += 1) await forgot('ada@example.com');
    await askToVerify('ada@example.com');
    await settled(3);
    auth.clock.advance(3_600_001);
    await forgot('ada@example.com');
    expect((await server.received(5)).at(-1)?.to).to.deep.equal(['ada@example.com']);
  });

  it('are sent again when the mail server was down, and count once', async () => {
    let refusals = 2;
    await start(
      { mail: { perAccountAndHour: 1 } },
      {
        answer: (command) => {
          if (command !== 'RCPT' || refusals === 0) return undefined;
          refusals -= 1;
          return '451 try later';
        },
      },
    );
    await register('ada@example.com');
    await forgot('ada@example.com');
    expect((await reset(await mailedToken(1))).status).to.equal(200);
    expect(refusals).to.equal(0);
  });

  it('are answered before the account is looked up, even if the mail server hangs', async () => {
    await start({}, { answer: () => null }, 20_000);
    await register('ada@example.com');
    for (let count = 0; count < 20; count += 1) {
      await forgot(count % 2 === 0 ? 'ada@example.com' : 'nobody@example.com');
    }
    expect(server.mails).to.deep.equal([]);
  });

  it('contain the address of a page if one is configured', async () => {
    const links = { reset: 'https://app.example.com/new#{token}', verify: null };
    await start({ mail: { links } });
    await register('ada@example.com');
    await forgot('ada@example.com');
    const token = await mailedToken(1);
    expect(decoded(server.mails[0]?.data ?? '')).to.include(`https://app.example.com/new#${token}`);
  });

  it('have tokens that are valid at other replicas and after a restart, with and without secrets of their own', async () => {
    for (const secrets of [
      { reset: null, verification: null },
      { reset: 'one secret', verification: 'another secret' },
    ]) {
      await start({ mail: { secrets } });
      await register('ada@example.com');
      await forgot('ada@example.com');
      const token = await mailedToken(1);
      const strangers = [
        { mail: { secrets }, secrets: { jwt: 'a secret of another installation' } },
        { mail: { secrets: { reset: 'a third secret', verification: null } } },
      ];
      for (const [index, options] of strangers.entries()) {
        // The first one has the reset secret all the same when that is configured.
        if (index === 0 && secrets.reset !== null) continue;
        await using stranger = await startAuth({ ...options, store: auth.store });
        const body = { token, password: NEW };
        expect(await failure(stranger.call('POST', '/api/v1/auth/reset-password', { body }))).to.deep.equal(BAD_RESET);
      }
      await using replica = await startAuth({ mail: { secrets }, store: auth.store });
      const reply = await replica.call('POST', '/api/v1/auth/reset-password', { body: { token, password: NEW } });
      expect(reply.status).to.equal(200);
      await auth[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    }
  });
});

/** Quoted-printable, as far as tokens need it. */
function decoded(data: string): string {
  return data.replaceAll('=\n', '').replaceAll('=3D', '=');
}
