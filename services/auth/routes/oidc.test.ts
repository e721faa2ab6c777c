import { expect } from 'chai';
import { testClock } from '../../../test/support/auth-service.ts';
import { type OidcWorld, startOidcWorld, UI } from '../../../test/support/oidc-world.ts';
import { createBrowser } from '../../../test/support/test-browser.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { signInAttemptsCollection } from '../repositories/sign-in-attempts.ts';
import { attemptCookieName } from './oidc.ts';

const ADA = { subject: 'ada-1', claims: { email: 'Ada@example.com', email_verified: true, name: 'Ada' } };

async function textOf(response: Response): Promise<{ readonly status: number; readonly detail: string }> {
  const { detail = '' } = (await response.json()) as { detail?: string };
  return { status: response.status, detail };
}

describe('signing in with a provider', () => {
  let world: OidcWorld;

  before(async () => {
    world = await startOidcWorld();
  });
  beforeEach(() => {
    Object.assign(world.issuer, { person: ADA, tamper: null, isDown: false });
  });
  after(() => world[Symbol.asyncDispose]());

  it('lists the providers for a login page', async () => {
    const answer = await fetch(`${world.url}/api/v1/auth/oidc`);
    expect(await answer.json()).to.deep.equal({
      providers: [{ name: 'corp', title: 'Corp', login_url: `${world.url}/api/v1/auth/oidc/corp/login` }],
      authentication_required: true,
    });
  });

  it('returns a token without a page to return to, for a verified account without a password', async () => {
    const browser = createBrowser();
    const { response } = await world.signIn({ browser });
    const { access_token: token, token_type: type } = (await response.json()) as Record<string, string>;
    expect(type).to.equal('bearer');
    expect(browser.cookie('auth_token')).to.equal(token);
    const me = (await (await world.me(token ?? '')).json()) as Record<string, unknown>;
    expect(me).to.include({ email: 'Ada@example.com', is_verified: true, is_superuser: false, tenant_id: null });
    const form = new URLSearchParams({ username: 'ada@example.com', password: '!' });
    expect((await fetch(`${world.url}/api/v1/auth/login`, { method: 'POST', body: form })).status).to.equal(401);
  });

  it('sends PKCE, state and nonce, and sets a cookie that scripts cannot read', async () => {
    const browser = createBrowser();
    const started = await browser.get(`${world.url}/api/v1/auth/oidc/corp/login`);
    const location = new URL(started.headers.get('location') ?? '');
    expect(started.status).to.equal(302);
    expect(location.origin).to.equal(world.issuer.url);
    expect(location.searchParams.get('code_challenge_method')).to.equal('S256');
    for (const name of ['code_challenge', 'state', 'nonce']) {
      expect(location.searchParams.get(name)).to.match(/^[\w-]{43}$/);
    }
    expect(browser.set[0]).to.match(/HttpOnly; Path=\/api\/v1\/auth\/oidc; SameSite=Lax; Max-Age=600$/);
    expect(started.headers.get('cache-control')).to.equal('no-store');
  });

  it('redirects to a page of an allowed origin', async () => {
    const browser = createBrowser();
    const { response, url } = await world.signIn({ browser, returnTo: `${UI}/start?x=1` });
    expect(response.status).to.equal(302);
    expect(url.href).to.equal(`${UI}/start?x=1`);
    expect(browser.cookie('auth_token')).not.to.equal(null);
    const own = await world.signIn({ returnTo: '/docs' });
    expect(own.url.href).to.equal(`${world.url}/docs`);
  });

  it('redirects to no other origin', async () => {
    const foreign = ['https://evil.example', '//evil.example/x', '/\\evil.example', 'javascript:alert(1)'];
    const disguised = [
      `${UI}.evil.example`,
      `${UI}@evil.example`,
      `https://user:word@${new URL(UI).host}/`,
      'http://[',
    ];
    for (const returnTo of [...foreign, ...disguised, '\thttps://evil.example']) {
      const started = await fetch(
        `${world.url}/api/v1/auth/oidc/corp/login?return_to=${encodeURIComponent(returnTo)}`,
        { redirect: 'manual' },
      );
      expect(started.status, returnTo).to.equal(400);
    }
  });

  it('identifies a person by subject, whatever the address becomes', async () => {
    const first = await (await world.signIn()).response.json();
    world.issuer.person = { subject: 'ada-1', claims: { email: 'other@example.com', email_verified: false } };
    const second = await (await world.signIn()).response.json();
    const ids = [first, second].map((each) => tokenSubject((each as { access_token: string }).access_token));
    expect(ids[0]).to.equal(ids[1]);
  });

  it('finishes a sign-in once', async () => {
    const browser = createBrowser();
    const callback = await world.reachCallback({ browser });
    const name = attemptCookieName(callback.searchParams.get('state') ?? '');
    const request = {
      params: { provider: 'corp' },
      query: Object.fromEntries(callback.searchParams),
      headers: { cookie: `${name}=${browser.cookie(name)}` },
    };
    const calls = [1, 2, 3].map(() => world.auth.call('GET', '/api/v1/auth/oidc/:provider/callback', request));
    const refused = (await Promise.allSettled(calls)).filter(({ status }) => status === 'rejected');
    expect(refused).to.have.length(2);
    for (const each of refused) {
      expect((each as PromiseRejectedResult).reason.message).to.include('finished already');
    }
    expect((await browser.get(callback.href)).status).to.equal(400);
  });

  it('finishes a sign-in only in the browser that started it', async () => {
    const browser = createBrowser();
    const callback = await world.reachCallback({ browser });
    const stranger = createBrowser();
    expect((await stranger.get(callback.href)).status).to.equal(400);
    await world.reachCallback({ browser: stranger });
    expect((await stranger.get(callback.href)).status).to.equal(400);
    const name = attemptCookieName(callback.searchParams.get('state') ?? '');
    const guessed = await fetch(callback, { headers: { cookie: `${name}=${'x'.repeat(43)}` } });
    expect(guessed.status).to.equal(400);
    expect((await browser.get(callback.href)).status).to.equal(200);
  });

  it('refuses another state, a missing one, and one that is ten minutes old', async () => {
    const browser = createBrowser();
    const callback = await world.reachCallback({ browser });
    const other = new URL(callback);
    other.searchParams.set('state', 'x'.repeat(43));
    expect((await browser.get(other.href)).status).to.equal(400);
    other.searchParams.delete('state');
    expect((await browser.get(other.href)).status).to.equal(400);
    world.auth.clock.advance(600_000);
    expect(await textOf(await browser.get(callback.href))).to.deep.include({ status: 400 });
  });

  it('refuses an ID token with another nonce', async () => {
    world.issuer.tamper = (claims) => ({ ...claims, nonce: 'another' });
    expect((await textOf((await world.signIn()).response)).status).to.equal(403);
  });

  it('refuses an ID token of another issuer, for another client, or expired', async () => {
    const now = Math.floor(Date.now() / 1000);
    const changes = [
      { iss: 'https://evil.example' },
      { aud: 'somebody' },
      { aud: ['engram', 'somebody'], azp: 'somebody' },
      { exp: now - 3600, iat: now - 7200 },
      { sub: undefined },
    ];
    for (const change of changes) {
      world.issuer.tamper = (claims) => ({ ...claims, ...change });
      const { status } = await textOf((await world.signIn()).response);
      expect(status, JSON.stringify(change)).to.equal(403);
    }
  });

  it('refuses an ID token that the issuer did not sign', async () => {
    const { SignJWT, UnsecuredJWT, generateKeyPair } = await import('jose');
    const { privateKey } = await generateKeyPair('ES256');
    const secret = new TextEncoder().encode(world.issuer.clientSecret);
    const forgers = [
      (claims: object) => new SignJWT({ ...claims }).setProtectedHeader({ alg: 'HS256' }).sign(secret),
      (claims: object) => new SignJWT({ ...claims }).setProtectedHeader({ alg: 'ES256' }).sign(privateKey),
      async (claims: object) => new UnsecuredJWT({ ...claims }).encode(),
    ];
    for (const forge of forgers) {
      world.issuer.tamper = (claims) => forge(claims);
      expect((await textOf((await world.signIn()).response)).status).to.equal(403);
    }
  });

  it('refuses an answer of another issuer', async () => {
    const browser = createBrowser();
    const callback = await world.reachCallback({ browser });
    expect(callback.searchParams.get('iss')).to.equal(world.issuer.url);
    callback.searchParams.set('iss', 'https://evil.example');
    expect((await textOf(await browser.get(callback.href))).status).to.equal(403);
  });

  it('returns the reason of a failure to the page, and sets no cookie', async () => {
    const browser = createBrowser();
    const callback = await world.reachCallback({ browser, returnTo: `${UI}/start` });
    const denied = new URL(callback);
    denied.searchParams.delete('code');
    denied.searchParams.set('error', 'access_denied');
    const { headers, status } = await browser.get(denied.href);
    const back = new URL(headers.get('location') ?? '');
    expect([status, back.origin, back.pathname]).to.deep.equal([302, UI, '/start']);
    expect(back.searchParams.get('error')).to.equal('PermissionDeniedError');
    expect(back.searchParams.get('error_description')).to.equal('Corp did not sign you in (access_denied).');
    expect(browser.cookie('auth_token')).to.equal(null);
  });

  it('answers 503 while the provider is down, at once after the first time, and recovers', async () => {
    const [one, two] = [createBrowser(), createBrowser()];
    const [first, second] = [await world.reachCallback({ browser: one }), await world.reachCallback({ browser: two })];
    world.issuer.isDown = true;
    const asked = world.issuer.requests.length;
    expect((await textOf(await one.get(first.href))).status).to.equal(503);
    const answer = await two.get(second.href);
    expect([answer.status, answer.headers.get('retry-after')]).to.deep.equal([503, '10']);
    expect(world.issuer.requests.slice(asked)).to.deep.equal(['POST /token']);
    world.issuer.isDown = false;
    world.auth.clock.advance(6_000);
    expect((await world.signIn()).response.status).to.equal(200);
  });

  it('answers 404 for a provider that is not configured', async () => {
    for (const path of ['login', 'callback?state=x&code=y']) {
      expect((await fetch(`${world.url}/api/v1/auth/oidc/none/${path}`)).status).to.equal(404);
    }
  });

  it('logs out here and returns the logout page of the provider', async () => {
    const browser = createBrowser();
    const { response } = await world.signIn({ browser });
    const { access_token: token = '' } = (await response.json()) as { access_token?: string };
    const url = `${world.url}/api/v1/auth/oidc/corp/logout`;
    expect((await browser.post(`${url}?return_to=https://evil.example`)).status).to.equal(400);
    expect((await world.me(token)).status).to.equal(200);
    const out = await browser.post(`${url}?return_to=${UI}/bye`);
    const { logout_url: logoutUrl } = (await out.json()) as { logout_url: string };
    expect((await world.me(token)).status).to.equal(401);
    expect(browser.cookie('auth_token')).to.equal(null);
    const there = new URL(logoutUrl);
    expect(there.origin).to.equal(world.issuer.url);
    expect(there.searchParams.get('client_id')).to.equal('engram');
    expect(there.searchParams.get('post_logout_redirect_uri')).to.equal(`${UI}/bye`);
    expect(there.searchParams.get('id_token_hint')).to.match(/^ey/);
    expect((await browser.get(there.href)).status, 'the provider takes it').to.equal(200);
  });

  it('audits sign-ins and refusals', async () => {
    await world.signIn();
    world.issuer.person = { subject: 'eve', claims: { email: 'eve@example.com', email_verified: false } };
    await world.signIn();
    const log = await world.audit();
    const opened = log.filter(({ action }) => action === 'session.opened').at(-1);
    expect(JSON.parse(opened?.details ?? '{}')).to.include({ method: 'oidc:corp', address: '127.0.0.1' });
    const refused = log.filter(({ action }) => action === 'session.refused').at(-1);
    expect(refused?.subject).to.equal('eve@example.com');
    expect(refused?.details).to.include('does not vouch for your e-mail address');
  });
});

describe('many sign-ins', () => {
  it('are limited to one a second per address, and refused ones are not stored', async () => {
    await using world = await startOidcWorld({ clock: testClock() });
    const start = () => fetch(`${world.url}/api/v1/auth/oidc/corp/login`, { redirect: 'manual' });
    const statuses: number[] = [];
    for (let count = 0; count < 105; count += 1) statuses.push((await start()).status);
    expect(statuses.slice(0, 100).every((status) => status === 302)).to.equal(true);
    expect(statuses.slice(100)).to.deep.equal([429, 429, 429, 429, 429]);
    const open = await world.auth.store.count(SYSTEM_SCOPE, signInAttemptsCollection, {});
    expect(open).to.equal(100);
    world.auth.clock.advance(1_000);
    expect((await start()).status).to.equal(302);
  });
});

describe('two providers', () => {
  it('do not accept each other’s sign-ins', async () => {
    await using world = await startOidcWorld({ others: [{ name: 'other', title: 'Other' }] });
    world.issuer.person = ADA;
    const browser = createBrowser();
    const callback = await world.reachCallback({ browser });
    const mixedUp = callback.href.replace('/corp/', '/other/');
    expect((await browser.get(mixedUp)).status).to.equal(400);
    expect((await browser.get(callback.href)).status).to.equal(200);
  });
});

function tokenSubject(token: string): string {
  const [, payload = ''] = token.split('.');
  return (JSON.parse(Buffer.from(payload, 'base64url').toString()) as { sub: string }).sub;
}
