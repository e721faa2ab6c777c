import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { startIssuer, type TestIssuer } from '../../../test/support/oidc-issuer.ts';
import { providerOf } from '../../../test/support/oidc-world.ts';
import type { OidcProvider } from '../../common/platform/config/oidc-providers.ts';
import { createProviderFetch } from '../../common/platform/fetch/target-guard.ts';
import { createSystemClock } from '../../common/platform/system/clock.ts';
import { createProviderConnection } from './create-oidc-client.ts';

const ignore = () => {};
const logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };
const clock = createSystemClock();

function providerAt(url: string, changes: Partial<OidcProvider> = {}): OidcProvider {
  const plain = { name: 'corp', clientSecret: null, scopes: ['openid'], audiences: ['api'], provision: false };
  return providerOf({ url, clientSecret: '' }, { ...plain, ...changes });
}

async function problemOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'none',
    (error: Error & { code?: string }) => error.code ?? error.message,
  );
}

describe('connection to a provider', () => {
  let issuer: TestIssuer;
  before(async () => {
    issuer = await startIssuer({ callbacks: ['http://127.0.0.1/callback'] });
  });
  after(() => issuer[Symbol.asyncDispose]());

  const token = () => issuer.sign({ iss: issuer.url, sub: 'ada', aud: 'api', exp: Math.floor(Date.now() / 1000) + 60 });

  it('loads a new key of the issuer after a pause', async () => {
    const options = { send: createProviderFetch(), clock, logger, keysCooldownMs: 1_500 };
    const connection = createProviderConnection(providerAt(issuer.url), options);
    expect(await connection.verify(await token(), ['api'])).to.include({ sub: 'ada' });
    const before = await token();
    await issuer.rotate();
    const rotated = await token();
    expect(await problemOf(connection.verify(rotated, ['api']))).to.equal('ERR_JWKS_NO_MATCHING_KEY');
    await wait(1_510);
    expect(await connection.verify(rotated, ['api'])).to.include({ sub: 'ada' });
    expect(await connection.verify(before, ['api'])).to.include({ sub: 'ada' });
  });

  it('reaches private addresses only when that is allowed', async () => {
    const options = { send: createProviderFetch(), clock, logger };
    const asked = issuer.requests.length;
    const connection = createProviderConnection(providerAt(issuer.url, { allowPrivateNetwork: false }), options);
    expect(await problemOf(connection.verify(await token(), ['api']))).to.include('cannot be reached');
    const secure = providerAt(issuer.url.replace('http:', 'https:'), { allowPrivateNetwork: false });
    expect(await problemOf(createProviderConnection(secure, options).verify(await token(), ['api']))).to.include(
      'cannot be reached',
    );
    expect(issuer.requests).to.have.length(asked);
  });

  it('ends a request to a silent issuer at its time limit', async () => {
    let asked = 0;
    const send = (_url: string, { signal }: RequestInit) =>
      new Promise<Response>((_resolve, reject) => {
        asked += 1;
        signal?.addEventListener('abort', () => reject(signal.reason));
      });
    const connection = createProviderConnection(providerAt(issuer.url), { send, clock, logger, timeoutSeconds: 0.1 });
    const begun = performance.now();
    expect(await problemOf(connection.verify(await token(), ['api']))).to.include('cannot be reached');
    expect(performance.now() - begun).to.be.lessThan(10_000);
    expect(await problemOf(connection.verify(await token(), ['api']))).to.include('cannot be reached');
    expect(asked, 'it is not asked again so soon').to.equal(1);
  });

  it('refuses metadata of another issuer', async () => {
    const connection = createProviderConnection(providerAt(`${issuer.url}/realms/other`), {
      send: (_url, init, rules) => createProviderFetch()(`${issuer.url}/.well-known/openid-configuration`, init, rules),
      clock,
      logger,
    });
    expect(await problemOf(connection.verify(await token(), ['api']))).to.include('cannot be reached');
  });
});
