import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { open, required, startAuth, type TestAuth } from '../../../test/support/auth-service.ts';
import { type App, createApp } from '../../common/platform/http/app.ts';
import { createSilentLogger } from '../../common/platform/observability/logger.ts';
import { createMetrics } from '../../common/platform/observability/metrics.ts';
import type { AuthSettings } from '../model.ts';

interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Headers;
}

/** The service behind the real HTTP layer, as the composition root joins them. */
async function serve(posture: typeof required, settings: Partial<AuthSettings> = {}) {
  const auth = await startAuth({ settings: { posture, ...settings } });
  const spoolDirectory = await mkdtemp(join(tmpdir(), 'engram-spool-'));
  const app = createApp({
    routes: auth.routes,
    authenticate: (credentials, strict, context) =>
      auth.messenger.call('auth.Authenticate', { credentials, strict }, context),
    settings: {
      spoolDirectory,
      uploadLimitBytes: 1_000_000,
      jsonLimitBytes: 1_000_000,
      corsOrigins: [],
      cookieName: 'auth_token',
      authRequired: posture.required,
      drainTimeoutMs: 100,
      guard: { isActive: posture.guarded, refusesProxies: posture.openByDefault, allowedHosts: [] },
    },
    logger: createSilentLogger(),
    metrics: createMetrics(),
  });
  const { port } = await app.listen(0, '127.0.0.1');
  return { auth, app, spoolDirectory, base: `http://127.0.0.1:${port}/api/v1` };
}

describe('auth routes over HTTP', () => {
  let auth: TestAuth;
  let app: App;
  let base: string;
  let spoolDirectory: string;
  const start = async (posture: typeof required, settings: Partial<AuthSettings> = {}) => {
    ({ auth, app, base, spoolDirectory } = await serve(posture, settings));
  };
  afterEach(async () => {
    await app.close();
    await auth[Symbol.asyncDispose]();
    await rm(spoolDirectory, { recursive: true });
  });

  const send = async (path: string, init: RequestInit = {}): Promise<Answer> => {
    const response = await fetch(base + path, init);
    const text = await response.text();
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text), headers: response.headers };
  };
  const json = (method: string, body: unknown, headers = {}): RequestInit => ({
    method,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const form = (fields: Record<string, string>): RequestInit => ({ method: 'POST', body: new URLSearchParams(fields) });
  const ADA = { email: 'ada@example.com', password: 'a long one' };

  it('restricts the login cookie to https where the public URL is https', async () => {
    await start(required, { cookieSecure: true, cookieDomain: 'example.com' });
    await send('/auth/register', json('POST', ADA));
    const { headers } = await send('/auth/login', form({ username: ADA.email, password: ADA.password }));
    expect(headers.get('set-cookie')).to.match(/; SameSite=lax; Domain=example\.com; Secure$/);
    const cookie = headers.get('set-cookie')?.split(';', 1)[0] ?? '';
    const logout = await send('/auth/logout', { method: 'POST', headers: { cookie } });
    expect(logout.headers.get('set-cookie')).to.match(/Max-Age=0; .*; Secure$/);
  });

  it('answers everything that is not a login form alike', async () => {
    await start(required);
    const good = { username: ADA.email, password: ADA.password };
    const requests: RequestInit[] = [
      { method: 'POST' },
      form({ username: ADA.email }),
      form({ ...good, password: '' }),
      form({ ...good, grant_type: 'client_credentials' }),
      form({ ...good, username: 'a'.repeat(400) }),
    ];
    for (const request of requests) {
      const { status, body } = await send('/auth/login', request);
      expect([status, body], String(request.body)).to.deep.equal([400, { detail: 'LOGIN_BAD_CREDENTIALS' }]);
    }
    const headers = { 'content-type': 'application/json' };
    for (const request of [json('POST', good), { method: 'POST', headers, body: '{"username":' }]) {
      const { status, body } = await send('/auth/login', request);
      expect(status).to.equal(400);
      expect(body).to.have.property('detail').that.contains('needs a form').and.contains('not JSON');
    }
  });

  it('asks for credentials with the reason of the posture', async () => {
    await start(required);
    for (const [method, path] of [
      ['GET', '/auth/me'],
      ['POST', '/auth/logout'],
      ['GET', '/auth/api-keys'],
      ['GET', '/users/me'],
      ['PATCH', '/users/me'],
    ] as const) {
      const { status, body } = await send(path, { method });
      expect(status, path).to.equal(401);
      expect((body as { detail: string }).detail).to.contain(
        'Authentication required (auth posture: inherited from ENABLE_BACKEND_ACCESS_CONTROL).',
      );
    }
  });

  it('shows the default account to everybody in open mode, but changes it only with a credential', async () => {
    await start(open);
    expect((await send('/users/me')).body).to.include({ email: 'default_user@example.com', is_superuser: true });
    expect((await send('/auth/me', { headers: { authorization: 'Bearer garbage' } })).status).to.equal(200);
    expect((await send('/users/me', json('PATCH', { password: 'my password' }))).status).to.equal(401);
    const login = form({ username: 'default_user@example.com', password: 'default_password' });
    const { access_token: token } = (await send('/auth/login', login)).body as { access_token: string };
    const headers = { authorization: `Bearer ${token}` };
    expect((await send('/users/me', json('PATCH', { password: 'my password' }, headers))).status).to.equal(200);
  });

  it('answers 405 for a method that a path does not have', async () => {
    await start(required);
    expect((await send('/auth/register', { method: 'DELETE' })).status).to.equal(405);
  });
});
