import { expect } from 'chai';
import type { EmbeddingAccount, StoredTenantEmbedders } from '../auth/repositories/tenant-models.ts';
import type { TenantId } from '../common/kernel/brand.ts';
import { asId } from '../common/kernel/ids.ts';
import { PERSONAL_TENANT } from '../common/kernel/scope.ts';
import { createHashingEmbedder } from '../common/models/hashing/hashing-embedder.ts';
import { createEmbedderSource } from './embedder-source.ts';

const TENANT = asId<TenantId>('t-1');
const SERVER = {
  ...createHashingEmbedder(),
  space: { model: 'openai/text-embedding-3-small', dimensions: 1536 },
};
const OPENAI: EmbeddingAccount = {
  provider: 'openai',
  model: 'text-embedding-3-large',
  dimensions: 3072,
  endpoint: null,
  sealedKey: 'sealed sk-acme',
  keySha256: 'x',
};
const MISTRAL: EmbeddingAccount = { ...OPENAI, provider: 'mistral', model: 'mistral-embed', dimensions: 1024 };

describe('embedding models of tenants', () => {
  let stored: StoredTenantEmbedders | null;
  let opened: string[];
  let isLocked: boolean;
  beforeEach(() => {
    [stored, opened, isLocked] = [null, [], false];
  });
  const source = () =>
    createEmbedderSource({
      embedder: SERVER,
      accounts: { get: async () => stored },
      secretBox: {
        open: async (sealed) => {
          if (isLocked) throw new Error('no such root key');
          return sealed.replace('sealed ', '');
        },
      },
      async open({ provider, model, apiKey }, dimensions) {
        opened.push(`${provider}/${model} ${apiKey}`);
        return { ...SERVER, space: { model: `${provider}/${model}`, dimensions } };
      },
      rereadMs: 0,
      clock: { monotonicMs: () => 0 },
      logger: { debug() {}, info() {}, warn() {}, error() {} } as never,
    });
  const give = (current: EmbeddingAccount | null, ...former: readonly EmbeddingAccount[]) => {
    stored = { revision: `${opened.length}${current?.provider}`, current, former, changedAt: '', version: 1 };
  };

  it('are the server’s where a tenant has none of its own, and in personal spaces', async () => {
    expect((await source().wanted(TENANT, null)).space).to.deep.equal(SERVER.space);
    give(OPENAI);
    expect((await source().wanted(PERSONAL_TENANT, null)).space).to.deep.equal(SERVER.space);
    expect(await source().of(PERSONAL_TENANT, SERVER.space)).to.equal(SERVER);
  });

  it('are on the tenant’s own account, for a dataset’s own choice too', async () => {
    give(OPENAI);
    const own = source();
    expect((await own.wanted(TENANT, null)).space).to.deep.equal({
      model: 'openai/text-embedding-3-large',
      dimensions: 3072,
    });
    const choice = { model: 'text-embedding-3-small', dimensions: 512 };
    expect((await own.wanted(TENANT, choice)).space).to.deep.equal({
      ...choice,
      model: 'openai/text-embedding-3-small',
    });
    await own.wanted(TENANT, null);
    expect(opened).to.deep.equal(['openai/text-embedding-3-large sk-acme', 'openai/text-embedding-3-small sk-acme']);
  });

  it('are found again for vectors of an account of before, of the server and of the built-in model', async () => {
    give(MISTRAL, OPENAI);
    const own = source();
    const former = { model: 'openai/text-embedding-3-large', dimensions: 3072 };
    expect((await own.of(TENANT, former))?.space).to.deep.equal(former);
    const builtin = { model: 'builtin/hashing-v1', dimensions: 384 };
    expect((await own.of(TENANT, builtin))?.space).to.deep.equal(builtin);
    expect(await own.of(TENANT, { model: 'gemini/gemini-embedding-001', dimensions: 768 })).to.equal(null);
    give(null);
    expect(await source().of(TENANT, SERVER.space)).to.equal(SERVER);
  });

  it('may be the built-in one by name', async () => {
    give({ ...OPENAI, provider: 'builtin', model: 'hashing-v1', dimensions: 256, sealedKey: null });
    expect((await source().wanted(TENANT, null)).space).to.deep.equal({ model: 'builtin/hashing-v1', dimensions: 256 });
    give(OPENAI);
    const choice = { model: 'builtin/hashing-v1', dimensions: 128 };
    expect((await source().wanted(TENANT, choice)).space).to.deep.equal(choice);
  });

  it('say what to do where there is no account, or a key that cannot be opened', async () => {
    const textOf = (error: Error) => error.message;
    const choice = { model: 'text-embedding-3-large', dimensions: 3072 };
    expect(await source().wanted(TENANT, choice).catch(textOf)).to.include("set the tenant's embedding");
    expect((await source().wanted(TENANT, { model: 'text-embedding-3-small', dimensions: 1536 })).space).to.deep.equal(
      SERVER.space,
    );
    give(OPENAI);
    isLocked = true;
    const own = source();
    expect(await own.wanted(TENANT, null).catch(textOf)).to.include('cannot be opened. Set it again');
    isLocked = false;
    expect((await own.wanted(TENANT, null)).space.dimensions).to.equal(3072);
    give({ ...OPENAI, sealedKey: null });
    expect(await source().wanted(TENANT, null).catch(textOf)).to.include('no key for it');
  });
});
