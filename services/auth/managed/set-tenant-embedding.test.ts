import { expect } from 'chai';
import { startAuth, type TestAuth } from '../../../test/support/auth-service.ts';
import type { TenantId } from '../../common/kernel/brand.ts';
import * as managed from '../../common/platform/messaging/methods/auth-managed.ts';
import { createTenantEmbedders } from '../repositories/tenant-embedders.ts';

const CALL = { requestId: 'operator' };
const MODEL = {
  provider: 'openai',
  model: 'text-embedding-3-small',
  dimensions: 1536,
  apiKey: 'sk-of-the-tenant-alone',
};

describe('embedding model of a tenant', () => {
  let auth: TestAuth;
  let news: number;
  let tenantId: TenantId;
  beforeEach(async () => {
    news = 0;
    const changed = async () => {
      news += 1;
    };
    auth = await startAuth({ models: { models: { configured: null, changed } } });
    const request = {
      ...{ crUid: 'r-1', displayName: 'Acme', ownerEmail: 'ada@acme.example.com', ownerPassword: 'a-long-password' },
      ...{ hostNames: [], state: 'Active' as const },
    };
    ({ tenantId } = await auth.messenger.call(managed.ensureTenant, request, CALL));
  });
  afterEach(() => auth[Symbol.asyncDispose]());

  const set = (embedding?: managed.SetTenantEmbeddingRequest['embedding'], crUid = 'r-1') =>
    auth.messenger.call(
      managed.setTenantEmbedding,
      { tenantId, crUid, ...(embedding === undefined ? {} : { embedding }) },
      CALL,
    );
  const stored = () => createTenantEmbedders(auth.store).get(tenantId);

  it('is kept with its key sealed, told to all once, and not written again', async () => {
    expect(await set(MODEL)).to.deep.equal({ changed: true });
    const held = await stored();
    expect(held?.current).to.include({ provider: 'openai', model: 'text-embedding-3-small', dimensions: 1536 });
    expect(JSON.stringify(held)).not.to.include('sk-of-the-tenant');
    expect(await set(MODEL)).to.deep.equal({ changed: false });
    expect([news, (await stored())?.version]).to.deep.equal([1, 1]);
  });

  it('keeps the account of another provider for vectors that are still of it, and one account of each', async () => {
    await set(MODEL);
    await set({ ...MODEL, model: 'text-embedding-3-large', dimensions: 3072, apiKey: 'sk-other' });
    expect((await stored())?.former).to.deep.equal([]);
    await set({ provider: 'mistral', model: 'mistral-embed', dimensions: 1024, apiKey: 'mk' });
    expect((await stored())?.former.map(({ model }) => model)).to.deep.equal(['text-embedding-3-large']);
    expect(await set()).to.deep.equal({ changed: true });
    const { current, former = [] } = (await stored()) ?? {};
    expect([current, former.map(({ provider }) => provider)]).to.deep.equal([null, ['mistral', 'openai']]);
    expect(await set()).to.deep.equal({ changed: false });
  });

  it('is given by nobody but the resource that manages the tenant, and only with dimensions that there are', async () => {
    const nameOf = (error: { wireName: string }) => error.wireName;
    expect(await set(MODEL, 'r-2').catch(nameOf)).to.equal('OwnedByAnother');
    expect(await set({ ...MODEL, dimensions: 0 }).catch(nameOf)).to.equal('InvalidRequestError');
    expect(await stored()).to.equal(null);
  });
});
