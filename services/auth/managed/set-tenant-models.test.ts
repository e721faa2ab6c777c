import { expect } from 'chai';
import { startAuth, type TestAuth } from '../../../test/support/auth-service.ts';
import type { TenantId } from '../../common/kernel/brand.ts';
import type { RequestOf } from '../../common/platform/messaging/messages.ts';
import { createTenantEmbedders, createTenantModels } from '../repositories/tenant-models.ts';

const CALL = { requestId: 'operator' };
const API_KEY = 'sk-of-the-tenant-alone';
const LANGUAGE_MODEL = { provider: 'openai', model: 'gpt-5-mini', apiKey: API_KEY };
const EMBEDDING = { provider: 'openai', model: 'text-embedding-3-small', dimensions: 1536, apiKey: API_KEY };

describe('models of a tenant', () => {
  let auth: TestAuth;
  let changes: number;
  let tenantId: TenantId;
  beforeEach(async () => {
    changes = 0;
    const changed = async () => {
      changes += 1;
    };
    auth = await startAuth({ models: { models: { configured: null, changed } } });
    const request = {
      crUid: 'r-1',
      displayName: 'Acme',
      ownerEmail: 'ada@acme.example.com',
      ownerPassword: 'a-long-password',
      hostNames: [],
      state: 'Active' as const,
    };
    ({ tenantId } = await auth.messenger.call('auth.EnsureTenant', request, CALL));
  });
  afterEach(() => auth[Symbol.asyncDispose]());

  const setModel = (languageModel?: RequestOf<'auth.SetTenantModel'>['languageModel'], crUid = 'r-1') =>
    auth.messenger.call(
      'auth.SetTenantModel',
      { tenantId, crUid, ...(languageModel === undefined ? {} : { languageModel }) },
      CALL,
    );
  const setEmbedding = (embedding?: RequestOf<'auth.SetTenantEmbedding'>['embedding'], crUid = 'r-1') =>
    auth.messenger.call(
      'auth.SetTenantEmbedding',
      { tenantId, crUid, ...(embedding === undefined ? {} : { embedding }) },
      CALL,
    );
  const storedModel = () => createTenantModels(auth.store).get(tenantId);
  const storedEmbedders = () => createTenantEmbedders(auth.store).get(tenantId);

  it('are stored with a sealed key, reported as changed once, and not written again when nothing changes', async () => {
    expect(await setModel(LANGUAGE_MODEL)).to.deep.equal({ changed: true });
    expect(await setEmbedding(EMBEDDING)).to.deep.equal({ changed: true });
    const [model, embedders] = [await storedModel(), await storedEmbedders()];
    expect(model).to.include({ provider: 'openai', model: 'gpt-5-mini', endpoint: null });
    expect(embedders?.current).to.include({ provider: 'openai', model: 'text-embedding-3-small', dimensions: 1536 });
    expect(JSON.stringify([model, embedders])).not.to.include(API_KEY);
    expect(await setModel(LANGUAGE_MODEL)).to.deep.equal({ changed: false });
    expect(await setEmbedding(EMBEDDING)).to.deep.equal({ changed: false });
    expect(changes).to.equal(2);
    expect([(await storedModel())?.version, (await storedEmbedders())?.version]).to.deep.equal([1, 1]);
  });

  it('change with the key and the endpoint of the language model, and fall back to the server’s when undeclared', async () => {
    await setModel(LANGUAGE_MODEL);
    expect(await setModel({ ...LANGUAGE_MODEL, apiKey: 'sk-another' })).to.deep.equal({ changed: true });
    const elsewhere = { ...LANGUAGE_MODEL, apiKey: 'sk-another', endpoint: 'https://llm.example.com/v1' };
    expect(await setModel(elsewhere)).to.deep.equal({ changed: true });
    expect(await setModel()).to.deep.equal({ changed: true });
    expect(await storedModel()).to.equal(null);
    expect(await setModel()).to.deep.equal({ changed: false });
    expect(changes).to.equal(4);
  });

  it('keep one former embedding account of each other provider, for vectors that were made with it', async () => {
    await setEmbedding(EMBEDDING);
    await setEmbedding({ ...EMBEDDING, model: 'text-embedding-3-large', dimensions: 3072, apiKey: 'sk-other' });
    expect((await storedEmbedders())?.former).to.deep.equal([]);
    await setEmbedding({ provider: 'mistral', model: 'mistral-embed', dimensions: 1024, apiKey: 'mk' });
    expect((await storedEmbedders())?.former.map(({ model }) => model)).to.deep.equal(['text-embedding-3-large']);
    expect(await setEmbedding()).to.deep.equal({ changed: true });
    const { current, former = [] } = (await storedEmbedders()) ?? {};
    expect([current, former.map(({ provider }) => provider)]).to.deep.equal([null, ['mistral', 'openai']]);
    expect(await setEmbedding()).to.deep.equal({ changed: false });
  });

  it('are set only by the resource that manages the tenant, and only with a possible number of dimensions', async () => {
    const nameOf = (error: { wireName: string }) => error.wireName;
    expect(await setModel(LANGUAGE_MODEL, 'r-2').catch(nameOf)).to.equal('OwnedByAnother');
    expect(await setEmbedding(EMBEDDING, 'r-2').catch(nameOf)).to.equal('OwnedByAnother');
    expect(await setEmbedding({ ...EMBEDDING, dimensions: 0 }).catch(nameOf)).to.equal('InvalidRequestError');
    expect([await storedModel(), await storedEmbedders()]).to.deep.equal([null, null]);
  });
});
