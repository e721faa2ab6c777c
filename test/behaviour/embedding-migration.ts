import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { DatasetId, TenantId } from '../../services/common/kernel/brand.ts';
import type { EmbeddingState } from '../../services/common/platform/messaging/messages.ts';
import type { ManagedApp } from '../support/managed-app.ts';
import { CALL, declareTenant, eraseTenant, type ManagedTenant, requestWithKey } from '../support/managed-tenant.ts';
import { type ModelProvider, startModelProvider } from '../support/model-provider.ts';
import { until } from '../support/until.ts';

const LETTERS = 26;
const TEXTS = [
  'Alice met Bob in Oslo.',
  'Carol wrote a book on whales.',
  'Dave paints houses in Bern.',
  'Eve grows tulips.',
];

/** How often each letter occurs: says little, but the same of the same text. */
function lettersOf(text: string): readonly number[] {
  const counts = new Array<number>(LETTERS).fill(0.01);
  for (const letter of text.toLowerCase().match(/[a-z]/g) ?? []) {
    const at = letter.charCodeAt(0) - 97;
    counts[at] = (counts[at] ?? 0) + 1;
  }
  return counts;
}

/** The operator asks again and again. */
async function untilState(
  ask: () => Promise<EmbeddingState>,
  isSo: (state: EmbeddingState) => boolean,
): Promise<EmbeddingState> {
  const reached = async () => {
    const state = await ask();
    return isSo(state) ? state : null;
  };
  return until('the state of the embedding', reached, { everyMs: 50 });
}

/** A dataset moves to an embedding model on its tenant's account, and back. The same in both shapes. */
export function embeddingMigrationCases(
  start: (settings: Readonly<Record<string, string>>) => Promise<ManagedApp>,
): void {
  let app: ManagedApp;
  let provider: ModelProvider;
  let tenant: ManagedTenant;
  let tenantId: TenantId;
  before(async () => {
    provider = await startModelProvider();
    provider.answer = ({ path, headers, body }) => {
      if (!path.endsWith('/embeddings')) return undefined;
      if (headers.authorization !== 'Bearer sk-acme') return { status: 401, body: { error: { message: 'no' } } };
      const data = (body['input'] as string[]).map((text, index) => ({ index, embedding: lettersOf(text) }));
      return { body: { data, model: 'letters', usage: { prompt_tokens: 1, total_tokens: 1 } } };
    };
    app = await start({ ENGRAM_TENANT_MODEL_HOSTS: '127.0.0.1' });
    tenant = await declareTenant(app);
    ({ tenantId } = tenant);
  });
  after(async () => {
    if (tenant !== undefined) await eraseTenant(app, tenant);
    await app?.stop();
    await provider?.close();
  });

  const post = async (path: string, body: unknown) => {
    const response = await requestWithKey(app, tenant.key, 'POST', path, body);
    const text = await response.text();
    return { status: response.status, text };
  };
  const remember = async (dataset: DatasetId, texts: readonly string[]) => {
    const added = await post('/add', { datasetId: dataset, data: texts });
    expect(added.status, added.text).to.equal(200);
    const built = await post('/cognify', { datasetIds: [dataset] });
    expect(built.status, built.text).to.equal(200);
  };
  const search = (dataset: DatasetId, query: string) =>
    post('/search', { query, datasetIds: [dataset], searchType: 'CHUNKS', topK: 1 });
  const finds = async (dataset: DatasetId) => {
    for (const text of TEXTS) {
      const { status, text: found } = await search(dataset, text);
      expect(status, found).to.equal(200);
      expect(found).to.include(text);
    }
  };
  const give = (apiKey?: string) =>
    app.messenger.call(
      'auth.SetTenantEmbedding',
      {
        tenantId,
        crUid: tenant.crUid,
        ...(apiKey === undefined
          ? {}
          : {
              embedding: {
                provider: 'custom',
                model: 'letters',
                dimensions: LETTERS,
                endpoint: `${provider.url}/v1`,
                apiKey,
              },
            }),
      },
      CALL,
    );

  it('moves to the tenant’s model and back while it is searched and written, without a language model', async () => {
    const crUid = randomUUID();
    const { dataset } = await app.messenger.call('auth.EnsureDataset', { crUid, tenantId, name: 'notes' }, CALL);
    const go = () => app.messenger.call('cognify.MigrateEmbedding', { tenantId, datasetId: dataset.id, crUid }, CALL);
    await remember(dataset.id, TEXTS);
    const { embedding: builtin, migration } = await go();
    expect([builtin?.model, migration]).to.deep.equal(['builtin/hashing-v1', null]);
    await finds(dataset.id);

    await give('sk-wrong');
    const failing = await untilState(go, ({ failure }) => failure !== null);
    expect(failing.failure?.name).to.equal('LLMAPIKeyNotSetError');
    expect(failing.embedding).to.deep.equal(builtin);
    await finds(dataset.id);

    await give('sk-acme');
    const statuses: number[] = [];
    const stopping = new AbortController();
    const searching = (async () => {
      while (!stopping.signal.aborted) statuses.push((await search(dataset.id, 'Who met Bob?')).status);
    })();
    const adding = remember(dataset.id, ['Frank sails to Genoa.']);
    const moved = await untilState(go, ({ embedding }) => embedding?.model === 'custom/letters');
    expect(moved.embedding).to.deep.equal({ model: 'custom/letters', dimensions: LETTERS });
    await adding;
    await finds(dataset.id);
    expect((await search(dataset.id, 'Frank sails to Genoa.')).text).to.include('Frank');
    stopping.abort();
    await searching;
    expect(new Set(statuses)).to.deep.equal(new Set([200]));
    expect(provider.requests.filter(({ path }) => !path.endsWith('/embeddings'))).to.deep.equal([]);

    const forgotten = await post('/forget', { dataset: 'notes' });
    expect(forgotten.status, forgotten.text).to.equal(200);
    expect((await search(dataset.id, TEXTS[0] as string)).text).not.to.include('Oslo');
  });

  it('makes the vectors of a new dataset by the tenant’s model, or by the one that the dataset names', async () => {
    await give('sk-acme');
    const crUid = randomUUID();
    const { dataset } = await app.messenger.call('auth.EnsureDataset', { crUid, tenantId, name: 'more' }, CALL);
    const request = { tenantId, datasetId: dataset.id, crUid };
    const own = { ...request, embedding: { model: 'builtin/hashing-v1', dimensions: 128 } };
    await app.messenger.call('cognify.MigrateEmbedding', own, CALL);
    await remember(dataset.id, TEXTS);
    const { embedding } = await app.messenger.call('cognify.MigrateEmbedding', own, CALL);
    expect(embedding).to.deep.equal({ model: 'builtin/hashing-v1', dimensions: 128 });
    const moved = await untilState(
      () => app.messenger.call('cognify.MigrateEmbedding', request, CALL),
      (state) => state.embedding?.model === 'custom/letters',
    );
    expect(moved.migration?.phase).to.equal('settling');
    await finds(dataset.id);
  });
}
