import { expect } from 'chai';
import { startAuth, type TestAuth } from '../../../test/support/auth-service.ts';
import type { TenantId } from '../../common/kernel/brand.ts';
import * as managed from '../../common/platform/messaging/methods/auth-managed.ts';
import { createTenantModels } from '../repositories/tenant-models.ts';

const CALL = { requestId: 'operator' };
const MODEL = { provider: 'openai', model: 'gpt-5-mini', apiKey: 'sk-of-the-tenant-alone' };

describe('language model of a tenant', () => {
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

  const set = (languageModel?: managed.SetTenantModelRequest['languageModel'], crUid = 'r-1') =>
    auth.messenger.call(
      managed.setTenantModel,
      { tenantId, crUid, ...(languageModel === undefined ? {} : { languageModel }) },
      CALL,
    );
  const stored = () => createTenantModels(auth.store).get(tenantId);

  it('is kept with its key sealed, told to all once, and not written again', async () => {
    expect(await set(MODEL)).to.deep.equal({ changed: true });
    const held = await stored();
    expect(held).to.include({ provider: 'openai', model: 'gpt-5-mini', endpoint: null });
    expect(JSON.stringify(held)).not.to.include('sk-of-the-tenant');
    expect(await set(MODEL)).to.deep.equal({ changed: false });
    expect([news, (await stored())?.version]).to.deep.equal([1, 1]);
  });

  it('is another one with another key, and the one of the server when it is taken back', async () => {
    await set(MODEL);
    expect(await set({ ...MODEL, apiKey: 'sk-another' })).to.deep.equal({ changed: true });
    expect(await set({ ...MODEL, apiKey: 'sk-another', endpoint: 'https://llm.example.com/v1' })).to.deep.equal({
      changed: true,
    });
    expect(await set()).to.deep.equal({ changed: true });
    expect(await stored()).to.equal(null);
    expect(await set()).to.deep.equal({ changed: false });
    expect(news).to.equal(4);
  });

  it('is given by nobody but the resource that manages the tenant', async () => {
    const refused = await set(MODEL, 'r-2').catch((error: { wireName: string }) => error.wireName);
    expect(refused).to.equal('OwnedByAnother');
    expect(await stored()).to.equal(null);
  });
});
