import { generateKeyPairSync } from 'node:crypto';
import { expect } from 'chai';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { type StartedApp, startApp } from '../support/start-app.ts';

const ACCOUNT = { email: 'ada@example.com', password: 'correct horse' };

function privateKey(type: 'ed25519' | 'P-256'): string {
  const pair = type === 'ed25519' ? generateKeyPairSync(type) : generateKeyPairSync('ec', { namedCurve: type });
  return String(pair.privateKey.export({ format: 'pem', type: 'pkcs8' }));
}

describe('login tokens while signing keys change', () => {
  const former = privateKey('ed25519');
  const next = privateKey('P-256');
  let app: StartedApp;
  let dataDir: string | undefined;
  const start = async (variables: Readonly<Record<string, string>> = {}) => {
    const options = dataDir === undefined ? {} : { dataDir };
    app = await startApp({ REQUIRE_AUTHENTICATION: 'true', ...variables }, options);
    ({ dataDir } = app);
  };
  const restart = async (variables: Readonly<Record<string, string>>) => {
    await app.stop({ keepData: true });
    await start(variables);
  };
  after(() => app.stop());

  const logIn = (password = ACCOUNT.password, from?: string) =>
    fetch(`${app.baseUrl}/api/v1/auth/login`, {
      method: 'POST',
      body: new URLSearchParams({ username: ACCOUNT.email, password }),
      headers: from === undefined ? {} : { 'x-forwarded-for': from },
    });
  const newToken = async () => ((await (await logIn()).json()) as { access_token: string }).access_token;
  const statusOf = async (token: string) =>
    (await fetch(`${app.baseUrl}/api/v1/auth/me`, { headers: { authorization: `Bearer ${token}` } })).status;
  /** Verifies as another program would, which knows only the address of the keys. */
  const verifies = async (token: string) => {
    const keys = createRemoteJWKSet(new URL(`${app.baseUrl}/.well-known/jwks.json`));
    return jwtVerify(token, keys, { audience: 'fastapi-users:auth' }).then(
      ({ protectedHeader: { alg } }) => alg,
      () => 'no',
    );
  };

  it('are valid from the secret over the first key to the next, until their key is removed', async () => {
    await start();
    await fetch(`${app.baseUrl}/api/v1/auth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(ACCOUNT),
    });
    const bySecret = await newToken();
    expect(await (await fetch(`${app.baseUrl}/.well-known/jwks.json`)).json()).to.deep.equal({ keys: [] });

    await restart({ ENGRAM_JWT_SIGNING_KEYS: former + next });
    const byFormer = await newToken();
    expect([await verifies(bySecret), await verifies(byFormer)]).to.deep.equal(['no', 'EdDSA']);
    expect([await statusOf(bySecret), await statusOf(byFormer)]).to.deep.equal([200, 200]);

    await restart({ ENGRAM_JWT_SIGNING_KEYS: next + former });
    const byNext = await newToken();
    expect([await verifies(byFormer), await verifies(byNext)]).to.deep.equal(['EdDSA', 'ES256']);
    expect([await statusOf(bySecret), await statusOf(byFormer), await statusOf(byNext)]).to.deep.equal([200, 200, 200]);

    await restart({ ENGRAM_JWT_SIGNING_KEYS: next });
    expect([await statusOf(byFormer), await statusOf(byNext)]).to.deep.equal([401, 200]);
  });

  it('are throttled by the address that a trusted proxy forwards', async () => {
    await restart({ ENGRAM_TRUSTED_PROXIES: '127.0.0.0/8' });
    const guesses = await Promise.all(Array.from({ length: 14 }, () => logIn('guess', '198.51.100.1')));
    expect(new Set(guesses.map(({ status }) => status))).to.deep.equal(new Set([401, 429]));
    expect((await logIn(ACCOUNT.password, '198.51.100.1')).status).to.equal(429);
    expect((await logIn(ACCOUNT.password, '198.51.100.1, 198.51.100.2')).status).to.equal(200);
    await restart({});
    expect((await logIn(ACCOUNT.password, '198.51.100.1')).status, 'a header that nobody vouches for').to.equal(200);
  });
});
