import { expect } from 'chai';
import { decodeProtectedHeader, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { CLI } from '../../../test/support/oidc-issuer.ts';
import { type OidcWorld, type OidcWorldOptions, startOidcWorld } from '../../../test/support/oidc-world.ts';
import { createBrowser } from '../../../test/support/test-browser.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import type { OidcProvider } from '../../common/platform/config/oidc-providers.ts';
import { createUsers } from '../../common/records/auth/users.ts';

const ADA = { email: 'ada@example.com', email_verified: true };

describe('access tokens of a configured issuer', () => {
  let world: OidcWorld;
  const start = async (provider: Partial<OidcProvider> = {}, options: OidcWorldOptions = {}) => {
    world = await startOidcWorld({ ...options, provider });
  };
  afterEach(() => world[Symbol.asyncDispose]());

  /** Claims of a good token, changed. */
  const claims = (changes: Record<string, unknown> = {}) => {
    const seconds = Math.floor(world.auth.clock.now().getTime() / 1000);
    const times = { iat: seconds, exp: seconds + 300 };
    return { iss: world.issuer.url, sub: 'ada', aud: 'engram-api', ...times, ...ADA, ...changes };
  };
  const statusOf = async (token: string) => (await world.me(token)).status;

  it('give access to the account of their subject, which a sign-in linked or the token created', async () => {
    await start();
    world.issuer.person = { subject: 'ada', claims: ADA };
    const { response } = await world.signIn();
    const { access_token: own = '' } = (await response.json()) as { access_token?: string };
    const me = await (await world.me(own)).json();
    const { email: _, email_verified: __, ...withoutAddress } = claims();
    expect(await (await world.me(await world.issuer.sign(withoutAddress))).json()).to.deep.equal(me);
    const made = await world.me(await world.issuer.sign(claims({ sub: 'bob', email: 'bob@example.com' })));
    expect(await made.json()).to.include({ email: 'bob@example.com', is_verified: true });
  });

  it('may come from any client that the issuer issues tokens for this service to', async () => {
    await start();
    world.issuer.person = { subject: 'ada', claims: ADA };
    const browser = createBrowser();
    const { response } = await world.signIn({ browser });
    const { access_token: own = '' } = (await response.json()) as { access_token?: string };
    const openid = await import('openid-client');
    const configuration = await openid.discovery(new URL(world.issuer.url), CLI.clientId, undefined, openid.None(), {
      execute: [openid.allowInsecureRequests],
    });
    const pkceCodeVerifier = openid.randomPKCECodeVerifier();
    const authorization = openid.buildAuthorizationUrl(configuration, {
      redirect_uri: CLI.redirectUri,
      scope: `openid ${CLI.scope}`,
      resource: CLI.resource,
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
    });
    const { url } = await browser.visit(authorization.href, ({ pathname }) => pathname === '/cli');
    const tokens = await openid.authorizationCodeGrant(
      configuration,
      url,
      { pkceCodeVerifier },
      { resource: CLI.resource },
    );
    expect(decodeProtectedHeader(tokens.access_token)).to.include({ typ: 'at+jwt', alg: 'ES256' });
    const me = await world.me(tokens.access_token);
    expect(await me.json()).to.deep.equal(await (await world.me(own)).json());
    expect(await statusOf(tokens.id_token ?? ''), 'the ID token is for the client alone').to.equal(401);
  });

  it('create no account where the provider may not, and link none without a verified address', async () => {
    await start({ provision: false });
    expect(await statusOf(await world.issuer.sign(claims()))).to.equal(401);
    await world.auth.addUser({ email: 'ada@example.com', isVerified: true });
    expect(await statusOf(await world.issuer.sign(claims({ email_verified: false })))).to.equal(401);
    expect(await statusOf(await world.issuer.sign(claims()))).to.equal(200);
  });

  it('are refused for another audience, issuer or time, and when a claim is missing', async () => {
    await start();
    const now = Math.floor(Date.now() / 1000);
    const wrong = [
      { aud: 'somebody' },
      { aud: undefined },
      { aud: 'engram' },
      { iss: 'https://evil.example' },
      { iss: undefined },
      { iss: 7 },
      { iss: `${world.issuer.url}/` },
      { exp: now - 60 },
      { exp: undefined },
      { nbf: now + 120 },
      { sub: undefined },
    ];
    for (const change of wrong) {
      expect(await statusOf(await world.issuer.sign(claims(change))), JSON.stringify(change)).to.equal(401);
    }
    expect(await statusOf(await world.issuer.sign(claims({ aud: ['x', 'engram-api'], exp: now - 10 })))).to.equal(200);
  });

  it('are refused when they are unsigned or signed with a secret or another key', async () => {
    await start();
    const { privateKey } = await generateKeyPair('ES256');
    const [published] = ((await (await fetch(`${world.issuer.url}/jwks`)).json()) as { keys: { kid: string }[] }).keys;
    const kid = published?.kid ?? '';
    const bytes = (text: string) => new TextEncoder().encode(text);
    const withSecret = (secret: string) =>
      new SignJWT(claims()).setProtectedHeader({ alg: 'HS256', kid }).sign(bytes(secret));
    const forged = [
      await withSecret(world.issuer.clientSecret),
      await withSecret(JSON.stringify(published)),
      await new SignJWT(claims()).setProtectedHeader({ alg: 'ES256', kid }).sign(privateKey),
      await new SignJWT(claims())
        .setProtectedHeader({ alg: 'ES256', jwk: { ...published } as never, jku: 'https://evil.example/jwks' })
        .sign(privateKey),
      new UnsecuredJWT(claims()).encode(),
    ];
    for (const token of forged) expect(await statusOf(token)).to.equal(401);
    const [header, , signature] = (await world.issuer.sign(claims())).split('.');
    const other = Buffer.from(JSON.stringify(claims({ sub: 'eve' }))).toString('base64url');
    expect(await statusOf(`${header}.${other}.${signature}`)).to.equal(401);
  });

  it('are not replaced by ID tokens or logout tokens of the provider', async () => {
    await start({ audiences: ['engram', 'engram-api'] });
    const others = [{ aud: 'engram', nonce: 'n' }, { aud: 'engram', at_hash: 'h' }, { events: {} }];
    for (const change of others) {
      expect(await statusOf(await world.issuer.sign(claims(change))), JSON.stringify(change)).to.equal(401);
    }
    expect(await statusOf(await world.issuer.sign(claims(), { typ: 'logout+jwt' }))).to.equal(401);
    expect(await statusOf(await world.issuer.sign(claims({ aud: 'engram' }), { typ: 'at+jwt' }))).to.equal(200);
  });

  it('are refused by a provider without audiences, and as a cookie', async () => {
    await start({ audiences: [] });
    const token = await world.issuer.sign(claims());
    expect(await statusOf(token)).to.equal(401);
    expect(world.issuer.requests).to.deep.equal([]);
    await world[Symbol.asyncDispose]();
    await start();
    const cookie = `auth_token=${await world.issuer.sign(claims())}`;
    expect((await fetch(`${world.url}/api/v1/users/me`, { headers: { cookie } })).status).to.equal(401);
  });

  it('are cached no longer than they are valid', async () => {
    await start();
    expect(await statusOf(await world.issuer.sign(claims())), 'the keys are fetched').to.equal(200);
    const nowMs = () => world.auth.clock.now().getTime();
    // The token ends 800 ms after this moment, with 30 seconds of allowance for clocks; others are cached for a second.
    world.auth.clock.advance(1200 - (nowMs() % 1000));
    const seconds = Math.floor(nowMs() / 1000);
    const token = await world.issuer.sign(claims({ exp: seconds - 29 }));
    const left = (seconds + 1) * 1000 - nowMs();
    expect(await statusOf(token)).to.equal(200);
    world.auth.clock.advance(left + 1);
    expect(await statusOf(token)).to.equal(401);
  });

  it('are refused when the account is gone or inactive', async () => {
    await start();
    const token = await world.issuer.sign(claims());
    expect(await statusOf(token)).to.equal(200);
    const users = createUsers(world.auth.store);
    const user = await users.findByEmail('ada@example.com');
    if (user === null) throw new Error('no account');
    await world.auth.store.commit({ tenant: PERSONAL_TENANT }, [users.replaceWrite({ ...user, isActive: false })]);
    world.auth.clock.advance(1_001);
    expect(await statusOf(token)).to.equal(401);
  });

  it('cause no more than the first two requests to the issuer', async () => {
    await start();
    const tokens = await Promise.all(['a', 'b', 'c', 'd'].map((jti) => world.issuer.sign(claims({ jti }))));
    expect(await Promise.all(tokens.map(statusOf))).to.deep.equal([200, 200, 200, 200]);
    expect(world.issuer.requests).to.deep.equal(['GET /.well-known/openid-configuration', 'GET /jwks']);
  });

  it('cause requests for unknown keys at intervals, not with every token', async () => {
    await start();
    expect(await statusOf(await world.issuer.sign(claims()))).to.equal(200);
    for (let count = 0; count < 5; count += 1) {
      expect(await statusOf(await world.issuer.sign(claims(), { kid: `unknown-${count}` }))).to.equal(401);
    }
    expect(world.issuer.requests.filter((request) => request === 'GET /jwks')).to.have.length(1);
  });

  it('do not delay other credentials while the issuer does not answer', async () => {
    await start();
    world.issuer.isDown = true;
    const tokens = await Promise.all(['a', 'b', 'c'].map((jti) => world.issuer.sign(claims({ jti }))));
    expect(await Promise.all(tokens.map(statusOf))).to.deep.equal([503, 503, 503]);
    expect(world.issuer.requests).to.have.length(1);
    expect(await statusOf('nonsense')).to.equal(401);
    world.issuer.isDown = false;
    world.auth.clock.advance(5_001);
    expect(await statusOf(tokens[0] ?? '')).to.equal(200);
  });
});
