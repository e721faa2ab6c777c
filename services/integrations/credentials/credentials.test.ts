import { createServer } from 'node:http';
import { expect } from 'chai';
import { listening } from '../../../test/support/listening.ts';
import { createMemoryDocumentStore } from '../../../test/support/memory/document-store.ts';
import { asId } from '../../common/kernel/ids.ts';
import { PERSONAL_TENANT, SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { createAesGcmSecretBox, type RootKey } from '../../common/platform/secrets/aes-gcm-secret-box.ts';
import { createIdSource } from '../../common/platform/system/id-source.ts';
import type { SourceConnection } from '../../common/records/integrations/connections.ts';
import { credentialsCollection } from '../../common/records/integrations/credentials.ts';
import type { DocumentStore } from '../../common/storage/ports/document-store.ts';
import { type Connector, SourceRevokedError } from '../providers/connector.ts';
import { createCredentials } from './credentials.ts';
import { requestTokens } from './token-endpoint.ts';

const OLD: RootKey = { id: 'old', bytes: new Uint8Array(32).fill(1) };
const NEW: RootKey = { id: 'new', bytes: new Uint8Array(32).fill(2) };
const OWNER = { id: 'c', userId: asId<never>('11111111-2222-4333-8444-555555555555'), tenant: PERSONAL_TENANT };
const CONNECTION = OWNER as unknown as SourceConnection;
const { signal } = new AbortController();

/** A token endpoint as RFC 6749 has it: each refresh token is used once. */
async function startTokenEndpoint() {
  const valid = new Set(['refresh-0']);
  const state = { refreshes: 0, isDown: false, url: '' };
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request) body += piece;
    const form = new URLSearchParams(body);
    const answer = (status: number, json: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
    if (state.isDown) return answer(503, {});
    if (form.get('client_secret') !== 'secret') return answer(401, { error: 'invalid_client' });
    if (!valid.delete(form.get('refresh_token') ?? '')) return answer(400, { error: 'invalid_grant' });
    state.refreshes += 1;
    valid.add(`refresh-${state.refreshes}`);
    const tokens = { access_token: `access-${state.refreshes}`, refresh_token: `refresh-${state.refreshes}` };
    return answer(200, { ...tokens, token_type: 'bearer', expires_in: 3600 });
  });
  state.url = await listening(server);
  return Object.assign(state, { close: () => new Promise((resolve) => server.close(resolve)) });
}

describe('credentials of connections', () => {
  let store: DocumentStore;
  let provider: Awaited<ReturnType<typeof startTokenEndpoint>>;
  let connector: Connector;
  const clock = { now: () => new Date() };
  const withKeys = (...keys: [RootKey, ...RootKey[]]) =>
    createCredentials({ store, clock, ids: createIdSource(), secretBox: createAesGcmSecretBox(async () => keys) });
  const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();
  const keep = async (minutes: number, refreshToken: string | null = 'refresh-0') => {
    const tokens = { accessToken: 'access-0', refreshToken, expiresAt: inMinutes(minutes) };
    await store.commit({ tenant: PERSONAL_TENANT }, [await withKeys(OLD).storeWrite(OWNER, tokens)]);
  };
  const stored = async () => JSON.stringify(await store.get(SYSTEM_SCOPE, credentialsCollection, 'c'));

  beforeEach(async () => {
    store = createMemoryDocumentStore();
    await store.prepare([credentialsCollection]);
    provider = await startTokenEndpoint();
    const endpoint = { url: provider.url, clientId: 'client', clientSecret: 'secret' };
    const refresh = (token: string, aborted: AbortSignal) =>
      requestTokens(endpoint, { grant_type: 'refresh_token', refresh_token: token }, aborted);
    connector = { provider: 'test', oauth: { refresh } } as unknown as Connector;
  });
  afterEach(() => provider.close());

  it('are stored sealed, and used as long as they are valid', async () => {
    await keep(60);
    expect(await stored()).not.to.match(/access-0|refresh-0/);
    expect(await withKeys(OLD).accessToken(CONNECTION, connector, { signal })).to.equal('access-0');
    expect(provider.refreshes).to.equal(0);
  });

  it('are exchanged five minutes before they expire, once, however many processes ask', async () => {
    await keep(4);
    const asked = await Promise.all(
      Array.from({ length: 8 }, () => withKeys(OLD).accessToken(CONNECTION, connector, { signal })),
    );
    expect(provider.refreshes).to.equal(1);
    expect(new Set(asked)).to.have.property('size').that.is.at.most(2);
    expect(await withKeys(OLD).accessToken(CONNECTION, connector, { signal })).to.equal('access-1');
    expect(await stored()).not.to.match(/access|refresh-/);
  });

  it('are exchanged before their time when the provider rejects them, once, and only those', async () => {
    await keep(60);
    const asked = await Promise.all(
      Array.from({ length: 8 }, () =>
        withKeys(OLD).accessToken(CONNECTION, connector, { signal, rejected: 'access-0' }),
      ),
    );
    expect([...new Set(asked)]).to.deep.equal(['access-1']);
    expect(provider.refreshes).to.equal(1);
  });

  it('wait for the process that exchanges them once they have expired', async () => {
    await keep(-1);
    const asked = await Promise.all(
      Array.from({ length: 8 }, () => withKeys(OLD).accessToken(CONNECTION, connector, { signal })),
    );
    expect([...new Set(asked)]).to.deep.equal(['access-1']);
  });

  it('are sealed again under a new root key, so that the old one can go', async () => {
    await keep(60);
    await withKeys(NEW, OLD).accessToken(CONNECTION, connector, { signal });
    expect(await withKeys(NEW).accessToken(CONNECTION, connector, { signal })).to.equal('access-0');
  });

  it('that are exchanged while they are sealed again are the new ones, and those alone', async () => {
    await keep(60);
    const rotated = withKeys(NEW, OLD);
    const [renewed] = await Promise.all([
      rotated.accessToken(CONNECTION, connector, { signal, rejected: 'access-0' }),
      ...Array.from({ length: 8 }, () => withKeys(NEW, OLD).accessToken(CONNECTION, connector, { signal })),
    ]);
    expect(renewed).to.equal('access-1');
    expect(await withKeys(NEW).accessToken(CONNECTION, connector, { signal })).to.equal('access-1');
    expect(provider.refreshes).to.equal(1);
  });

  it('that the provider does not accept any more end the connection, and a provider that is away does not', async () => {
    await keep(4);
    provider.isDown = true;
    expect(await withKeys(OLD).accessToken(CONNECTION, connector, { signal }), 'valid for four minutes').to.equal(
      'access-0',
    );
    await store.commit(SYSTEM_SCOPE, [withKeys(OLD).removeWrite('c')]);
    await keep(-1);
    const failure = () =>
      withKeys(OLD)
        .accessToken(CONNECTION, connector, { signal })
        .catch((error: unknown) => error);
    expect(String(await failure())).to.equal('Error: The token endpoint answered with status 503.');
    provider.isDown = false;
    await store.commit(SYSTEM_SCOPE, [withKeys(OLD).removeWrite('c')]);
    await keep(-1, 'revoked');
    expect(await failure()).to.be.instanceOf(SourceRevokedError);
  });
});
