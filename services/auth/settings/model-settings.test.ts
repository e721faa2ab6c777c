import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { modelOptions, startAuth, type TestAuth } from '../../../test/support/auth-service.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import type { ModelSettings } from '../../common/platform/config/model-choice.ts';
import { createAesGcmSecretBox, type RootKey } from '../../common/platform/secrets/aes-gcm-secret-box.ts';
import type { DocumentStore } from '../../common/storage/ports/document-store.ts';
import { auditRecordsCollection } from '../repositories/audit-log.ts';
import { keyPlace, modelSettingsCollection } from '../repositories/model-settings.ts';
import { newKeyIn, shownKey } from './model-settings.ts';

const PATH = '/api/v1/settings';
const KEY = 'sk-abcdefghijklmnopqrstuvwxyz';
const SHOWN = `sk-abcdefg${'*'.repeat(19)}`;
const CONFIGURED: ModelSettings = {
  provider: 'openai',
  model: 'openai/gpt-5-mini',
  endpoint: 'http://127.0.0.1:18790/v1',
  apiKey: 'sk-of-the-environment',
};

const rootKey = (id: string): RootKey => ({ id, bytes: randomBytes(32) });

interface View {
  readonly llm: { readonly apiKey: string | null; readonly model: string; readonly provider: string };
  readonly vectorDb: { readonly apiKey: string; readonly url: string; readonly provider: string };
}

describe('model settings', () => {
  let auth: TestAuth;
  let admin: Principal;
  let changes: number;
  const options = modelOptions();

  async function start(configured: ModelSettings | null = null, store?: DocumentStore): Promise<void> {
    changes = 0;
    const changed = async () => {
      changes += 1;
    };
    const models = { ...options, models: { configured, changed } };
    auth = await startAuth({ models, ...(store === undefined ? {} : { store }) });
    admin = await auth.addUser({ isSuperuser: true });
  }
  beforeEach(() => start());
  afterEach(() => auth[Symbol.asyncDispose]());

  const view = async (principal: Principal = admin) => (await auth.call('GET', PATH, { principal })).json as View;
  const post = (body: unknown, principal: Principal = admin) => auth.call('POST', PATH, { principal, body });
  const stored = async () => (await auth.store.find(SYSTEM_SCOPE, modelSettingsCollection, { limit: 5 })).items;
  const told = async () => {
    const { items } = await auth.store.find(SYSTEM_SCOPE, auditRecordsCollection, { limit: 50 });
    return items.filter(({ value }) => value.action === 'settings.changed').map(({ value }) => value);
  };
  const openai = (more: object = {}) => ({ provider: 'openai', model: 'gpt-5', apiKey: KEY, ...more });

  it('are those of the environment by default, with the key masked', async () => {
    expect((await view()).llm).to.include({
      provider: 'openai',
      model: 'openai/gpt-5-mini',
      apiKey: null,
      endpoint: '',
    });
    expect((await view()).vectorDb).to.include({ apiKey: '', url: '', provider: 'lancedb' });
    await auth[Symbol.asyncDispose]();
    await start(CONFIGURED);
    expect((await view(await auth.addUser())).llm).to.include({
      model: 'openai/gpt-5-mini',
      apiKey: `sk-of-the-${'*'.repeat(11)}`,
      endpoint: 'http://127.0.0.1:18790/v1',
    });
  });

  it('are changed by a superuser, stored sealed and shown without the key', async () => {
    expect((await post({ llm: openai() })).json).to.equal(null);
    expect((await view()).llm).to.include({ provider: 'openai', model: 'gpt-5', apiKey: SHOWN });
    expect(changes).to.equal(1);
    const [document] = await stored();
    expect(JSON.stringify(document)).to.not.contain(KEY);
    const sealed = document?.value.languageModel?.key?.sealed ?? '';
    expect(await options.secretBox.open(sealed, keyPlace('languageModel'))).to.equal(KEY);
  });

  it('keep the key when the new one is blank or the mask', async () => {
    await post({ llm: openai() });
    const [{ value: first } = { value: null }] = await stored();
    for (const apiKey of ['', '  ', '*****', SHOWN, 'sk-other*****']) {
      await post({ llm: openai({ model: `m-${apiKey.length}`, apiKey }) });
      const [document] = await stored();
      expect(document?.value.languageModel?.key).to.deep.equal(first?.languageModel?.key);
    }
    expect((await view()).llm).to.include({ apiKey: SHOWN });
  });

  it('keep a part that is not sent', async () => {
    await post({ llm: openai() });
    await post({ vectorDb: { provider: 'pgvector', url: 'postgres://db', apiKey: 'the-password-of-a-database' } });
    await post({});
    await post({ llm: null, vectorDb: null });
    const { llm, vectorDb } = await view();
    expect(llm).to.include({ model: 'gpt-5', apiKey: SHOWN });
    expect(vectorDb).to.include({ provider: 'pgvector', url: 'postgres://db', apiKey: `the-passwo${'*'.repeat(16)}` });
    expect(JSON.stringify(await stored())).to.not.contain('the-password-of-a-database');
  });

  it('neither show nor store passwords in URLs', async () => {
    await auth[Symbol.asyncDispose]();
    await start({ ...CONFIGURED, endpoint: 'https://proxy:pass-of-proxy@models.example.com/v1' });
    const url = 'postgres://engram:pass-of-database@db:5432/vectors';
    await post({ vectorDb: { provider: 'pgvector', url, apiKey: '' } });
    expect((await view()).llm).to.include({ endpoint: 'https://proxy:*****@models.example.com/v1' });
    expect((await view()).vectorDb).to.include({ url: 'postgres://engram:*****@db:5432/vectors' });
    expect(JSON.stringify(await stored())).to.not.contain('pass-of-database');
    const { vectorDb } = await view();
    await post({ vectorDb });
    expect(changes).to.equal(1);
  });

  it('use another provider than the configured one at its default endpoint', async () => {
    await auth[Symbol.asyncDispose]();
    await start(CONFIGURED);
    await post({ llm: openai({ provider: 'anthropic', model: 'claude-haiku-4-5', apiKey: '' }) });
    expect((await view()).llm).to.include({
      provider: 'anthropic',
      endpoint: '',
      apiKey: `sk-of-the-${'*'.repeat(11)}`,
    });
    await post({ llm: openai({ model: 'gpt-5', apiKey: '' }) });
    expect((await view()).llm).to.include({ endpoint: CONFIGURED.endpoint });
  });

  it('accept the custom provider of the environment, and no unknown one', async () => {
    await auth[Symbol.asyncDispose]();
    await start({ ...CONFIGURED, provider: 'custom', model: 'llama' });
    await post({ llm: { provider: 'custom', model: 'llama-2', apiKey: '' } });
    expect((await view()).llm).to.deep.include({ provider: 'custom', model: 'llama-2' });
    for (const provider of ['bedrock', 'other']) {
      const error = await post({ llm: openai({ provider }) }).catch((reason: unknown) => reason);
      expect(String(error)).to.contain('invalid_value');
    }
  });

  it('keep all concurrent changes of different parts', async () => {
    const vectorDb = { provider: 'pgvector', url: 'postgres://db', apiKey: '' };
    await Promise.all([
      post({ llm: openai() }),
      post({ vectorDb }),
      post({ llm: openai({ model: 'gpt-4o', apiKey: '' }) }),
    ]);
    const [document] = await stored();
    expect(document?.value.vectorDatabase).to.include({ provider: 'pgvector' });
    expect(document?.value.languageModel?.key).to.be.an('object');
    expect(await told()).to.have.length(3);
  });

  it('are audited by the names of changed fields, without keys', async () => {
    await post({ llm: openai({ provider: 'mistral' }) });
    await post({ llm: openai({ provider: 'mistral', model: 'mistral-small-latest', apiKey: '' }) });
    await auth.call('DELETE', PATH, { principal: admin });
    const records = await told();
    expect(records.map(({ details }) => JSON.parse(details) as unknown)).to.have.deep.members([
      { fields: ['llm.provider', 'llm.model', 'llm.apiKey'] },
      { fields: ['llm.model'] },
      { fields: ['llm'] },
    ]);
    expect(records.every(({ actor }) => actor === admin.id)).to.equal(true);
    expect(JSON.stringify(records)).to.not.contain(KEY);
  });

  it('return to the environment when they are deleted', async () => {
    await post({ llm: openai() });
    await auth.call('DELETE', PATH, { principal: admin });
    expect((await view()).llm).to.include({ model: 'openai/gpt-5-mini', apiKey: null });
    expect(changes).to.equal(2);
    await auth.call('DELETE', PATH, { principal: admin });
    expect(changes).to.equal(2);
  });

  it('are sealed again after a rotation of the root keys, without other changes', async () => {
    const [old, fresh] = [rootKey('old'), rootKey('fresh')];
    const restart = async (...keys: readonly [RootKey, ...RootKey[]]) => {
      const { store } = auth;
      await auth[Symbol.asyncDispose]();
      const secretBox = createAesGcmSecretBox(async () => keys);
      auth = await startAuth({ models: { secretBox }, store });
      // What the start does in the background has ended.
      await auth[Symbol.asyncDispose]();
      auth = await startAuth({ models: { secretBox }, store });
      return secretBox;
    };
    await restart(old);
    await post({ llm: openai(), vectorDb: { provider: 'pgvector', url: 'postgres://db', apiKey: '' } });
    const [before] = await stored();
    await restart(old, fresh);
    expect((await stored())[0]).to.deep.equal(before);
    await restart(fresh, old);
    const box = await restart(fresh);
    const [after] = await stored();
    const key = after?.value.languageModel?.key;
    expect(await box.open(key?.sealed ?? '', keyPlace('languageModel'))).to.equal(KEY);
    expect(after?.value).to.deep.equal({
      ...before?.value,
      languageModel: { ...before?.value.languageModel, key: { sealed: key?.sealed, shown: SHOWN } },
    });
  });

  it('refuse a key that cannot be sealed, without effect', async () => {
    await auth[Symbol.asyncDispose]();
    const noKey = async () => {
      throw engramError('ServiceUnavailableError', 'Set ENGRAM_ROOT_KEYS.');
    };
    auth = await startAuth({ models: { secretBox: { seal: noKey, open: noKey, isCurrent: noKey } } });
    const superuser = await auth.addUser({ isSuperuser: true });
    const error = await post({ llm: openai() }, superuser).catch((reason: unknown) => reason);
    expect(error).to.include({ wireName: 'ServiceUnavailableError', status: 503 });
    expect(await stored()).to.deep.equal([]);
    await post({ llm: openai({ apiKey: '' }) }, superuser);
    expect((await view(superuser)).llm).to.include({ model: 'gpt-5' });
  });
});

describe('the mask of a key', () => {
  it('shows ten characters and an asterisk for each other one', () => {
    expect(shownKey('sk-123456789012')).to.equal('sk-1234567*****');
    expect(shownKey(`sk-1234567${'x'.repeat(40)}`)).to.equal(`sk-1234567${'*'.repeat(40)}`);
  });

  it('shows nothing of a short key', () => {
    expect(shownKey('sk-12345678901')).to.equal('*'.repeat(14));
    expect(shownKey('sk-1234567')).to.equal('*'.repeat(10));
    expect(shownKey('abc')).to.equal('*****');
  });

  it('is never taken for a new key when it is sent back', () => {
    fc.assert(fc.property(fc.string({ minLength: 1 }), (key) => newKeyIn(shownKey(key)) === null));
  });

  it('ignores a blank key, and blanks around one', () => {
    for (const text of ['', '  ', '\n', '*****', 'sk-1234567*****']) expect(newKeyIn(text)).to.equal(null);
    expect(newKeyIn(' sk-new\n')).to.equal('sk-new');
    expect(newKeyIn('a****b')).to.equal('a****b');
  });
});
