import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type SmtpServer, startSmtpServer } from '../support/smtp-server.ts';
import { type StartedApp, startApp } from '../support/start-app.ts';
import { createWire } from '../support/wire.ts';

const LOGIN = { user: 'engram', password: 'of the mail server' };

describe('mails of the whole service', () => {
  let app: StartedApp;
  let log: string[];
  const start = async (variables: Readonly<Record<string, string>>) => {
    log = [];
    app = await startApp(variables, { log });
  };
  const post = async (path: string, body: unknown, headers = {}) => {
    const { status, json } = await createWire(app.baseUrl, headers).post(path, body);
    return [status, json as unknown] as const;
  };
  const login = async (password: string) => {
    const body = new URLSearchParams({ username: 'ada@example.com', password });
    return (await fetch(`${app.baseUrl}/api/v1/auth/login`, { method: 'POST', body })).status;
  };
  const tokenIn = (text = '') =>
    /ey[\w-]+\.[\w-]+\.[\w-]+/.exec(text.replaceAll('=\n', '').replaceAll('=3D', '='))?.[0] ?? '';

  describe('with a mail server', () => {
    let server: SmtpServer;
    let folder: string;
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'engram-mail-'));
      server = await startSmtpServer({ tls: 'starttls', login: LOGIN });
    });
    afterEach(async () => {
      await app.stop();
      await server[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    });

    it('contain tokens that set a password and verify an address, and are not logged', async () => {
      const authority = join(folder, 'authority.pem');
      await writeFile(authority, server.certificate.cert);
      await start({
        ENABLE_BACKEND_ACCESS_CONTROL: 'true',
        ENGRAM_SMTP_HOST: 'localhost',
        ENGRAM_SMTP_CA_FILE: authority,
        ENGRAM_SMTP_PORT: String(server.port),
        ENGRAM_MAIL_FROM: 'Engram <engram@example.com>',
        ENGRAM_SMTP_USER: LOGIN.user,
        ENGRAM_SMTP_PASSWORD: LOGIN.password,
      });
      const account = { email: 'ada@example.com', password: 'the old one' };
      expect((await post('/auth/register', account))[0]).to.equal(201);
      expect(await post('/auth/forgot-password', { email: 'ada@example.com' })).to.deep.equal([202, null]);
      const token = tokenIn((await server.received(1))[0]?.data);
      const reset = { token, password: 'the new one' };
      const bearer = { authorization: 'Bearer whatever' };
      expect(await post('/auth/reset-password', reset, bearer)).to.deep.equal([200, null]);
      expect([await login('the old one'), await login('the new one')]).to.deep.equal([401, 200]);
      expect(await post('/auth/reset-password', reset)).to.deep.equal([400, { detail: 'RESET_PASSWORD_BAD_TOKEN' }]);

      expect(await post('/auth/request-verify-token', { email: 'ada@example.com' })).to.deep.equal([202, null]);
      const verification = tokenIn((await server.received(2))[1]?.data);
      const [status, record] = await post('/auth/verify', { token: verification });
      expect([status, (record as { is_verified: boolean }).is_verified]).to.deep.equal([200, true]);
      expect(server.mails.every(({ encrypted, user }) => encrypted && user === LOGIN.user)).to.equal(true);

      const written = log.join('\n');
      expect(written).to.include('auth.mail.sent');
      for (const secret of [token, verification, LOGIN.password, 'the new one']) expect(written).to.not.include(secret);
    });
  });

  describe('without a mail server', () => {
    afterEach(() => app.stop());
    const forgot = async () => {
      await post('/auth/register', { email: 'ada@example.com', password: 'the old one' });
      expect(await post('/auth/forgot-password', { email: 'ada@example.com' })).to.deep.equal([202, null]);
      for (let waits = 0; !log.some((line) => /mail\./.test(line)) && waits < 1500; waits += 1) {
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      return log.filter((line) => /mail\./.test(line)).join('\n');
    };

    it('are written to the log of the open mode, tokens included', async () => {
      await start({});
      const token = tokenIn(await forgot());
      expect(await post('/auth/reset-password', { token, password: 'the new one' })).to.deep.equal([200, null]);
    });

    for (const accessControl of ['true', 'false']) {
      it(`cause a warning without the token in other postures (access control ${accessControl})`, async () => {
        await start({ ENABLE_BACKEND_ACCESS_CONTROL: accessControl });
        expect(await forgot())
          .to.include('auth.mail.not_configured')
          .and.not.match(/ey[\w-]+\.ey/);
      });
    }
  });
});
