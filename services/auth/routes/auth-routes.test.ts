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
  const loginAda = async () => {
    await send('/auth/register', json('POST', ADA));
    const { body } = await send('/auth/login', form({ username: ADA.email, password: ADA.password }));
    return { authorization: `Bearer ${(body as { access_token: string }).access_token}` };
  };

  it('restricts the login cookie to https where the public URL is https', async () => {
    await start(required, { cookieSecure: true, cookieDomain: 'example.com' });
    await send('/auth/register', json('POST', ADA));
    const { headers } = await send('/auth/login', form({ username: ADA.email, password: ADA.password }));
    expect(headers.get('set-cookie')).to.match(/; SameSite=lax; Domain=example\.com; Secure$/);
    const cookie = headers.get('set-cookie')?.split(';', 1)[0] ?? '';
    const logout = await send('/auth/logout', { method: 'POST', headers: { cookie } });
    expect(logout.headers.get('set-cookie')).to.match(/Max-Age=0; .*; Secure$/);
  });

  it('serves a user from sign-up to logout', async () => {
    await start(required);
    expect((await send('/auth/register', json('POST', ADA))).status).to.equal(201);
    const { status, body, headers } = await send('/auth/login', form({ username: ADA.email, password: ADA.password }));
    expect(status).to.equal(200);
    const { access_token: token } = body as { access_token: string };
    expect(headers.get('set-cookie')).to.match(/^auth_token=ey[^;]+; HttpOnly; Path=\/; SameSite=lax$/);
    for (const credentials of [{ authorization: `bearer ${token}` }, { cookie: `auth_token=${token}` }]) {
      const me = await send('/auth/me', { headers: credentials as Record<string, string> });
      expect([me.status, me.body]).to.deep.equal([200, { email: ADA.email }]);
    }
    const logout = await send('/auth/logout', { method: 'POST', headers: { cookie: `auth_token=${token}` } });
    expect([logout.status, logout.body]).to.deep.equal([200, {}]);
    expect(logout.headers.get('set-cookie')).to.contain('auth_token=""').and.to.contain('Max-Age=0');
    expect((await send('/auth/me', { headers: { authorization: `Bearer ${token}` } })).status).to.equal(401);
  });

  it('accepts a multipart form with an unknown field for the login', async () => {
    await start(required);
    await send('/auth/register', json('POST', ADA));
    const body = new FormData();
    for (const [name, value] of Object.entries({ username: ADA.email, password: ADA.password, extra: 'x' })) {
      body.append(name, value);
    }
    expect((await send('/auth/login', { method: 'POST', body })).status).to.equal(200);
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

  it('reports bad input with the types and places of the contract', async () => {
    await start(required);
    const cases = [
      [json('POST', { password: 'x' }), 'missing', ['body', 'email']],
      [json('POST', { email: 'a@b', password: 'x' }), 'value_error', ['body', 'email']],
      [json('POST', { email: 5, password: 'x' }), 'string_type', ['body', 'email']],
      [{ method: 'POST' }, 'missing', ['body']],
    ] as const;
    for (const [request, type, loc] of cases) {
      const { status, body } = await send('/auth/register', request);
      expect(status).to.equal(400);
      expect((body as { detail: object[] }).detail[0]).to.deep.include({ type, loc });
    }
  });

  it('does not repeat passwords in the answer to a refused request', async () => {
    await start(required);
    const { body } = await send('/auth/register', json('POST', { email: 'a@b', password: 'very secret' }));
    expect(JSON.stringify(body)).not.to.contain('very secret');
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

  it('creates, lists and deletes API keys', async () => {
    await start(required);
    const headers = await loginAda();
    const created = await send('/auth/api-keys', json('POST', { name: 'ci' }, headers));
    const { key, id } = created.body as { key: string; id: string };
    expect(created.status).to.equal(200);
    expect((await send('/auth/me', { headers: { 'x-api-key': key } })).body).to.deep.equal({ email: ADA.email });
    expect((await send('/auth/me', { headers: { authorization: `Bearer ${key}` } })).status).to.equal(200);
    const label = `${key.slice(0, 8)}****`;
    const [listed, ...others] = (await send('/auth/api-keys', { headers })).body as readonly object[];
    expect(listed).to.include({ key: '', label, name: 'ci', id, user_label: null, expires_at: null });
    expect(others).to.deep.equal([]);
    expect((await send('/auth/api-keys', { method: 'POST', headers })).status).to.equal(400);
    expect((await send('/auth/api-keys', json('POST', { name: 5 }, headers))).status).to.equal(400);
    const bad = await send('/auth/api-keys/xyz', { method: 'DELETE', headers });
    expect((bad.body as { detail: object[] }).detail[0]).to.deep.include({
      type: 'uuid_parsing',
      loc: ['path', 'api_key_id'],
    });
    const gone = await send(`/auth/api-keys/${id}`, { method: 'DELETE', headers });
    expect([gone.status, gone.body]).to.deep.equal([200, null]);
    const again = await send(`/auth/api-keys/${id}`, { method: 'DELETE', headers });
    expect([again.status, again.body]).to.deep.equal([404, { detail: 'API key not found. [EntityNotFoundError]' }]);
    expect((await send('/auth/me', { headers: { 'x-api-key': key } })).status).to.equal(401);
  });

  it('answers too many failed logins with 429 and the time to wait', async () => {
    await start(required);
    const wrong = () => send('/auth/login', form({ username: 'nobody@example.com', password: 'x' }));
    for (let count = 0; count < 10; count += 1) expect((await wrong()).status).to.equal(401);
    const { status, headers } = await wrong();
    expect([status, headers.get('retry-after')]).to.deep.equal([429, '10']);
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
