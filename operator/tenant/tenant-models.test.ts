import { expect } from 'chai';
import { unavailable } from '../../test/support/kube/fake-services.ts';
import { createTenantWorld, PLACE, type TenantWorld } from '../../test/support/kube/tenant-world.ts';
import { KINDS, type Secret } from '../kube-runtime/kube-object.ts';

const LLM = { provider: 'openai', model: 'gpt-5-mini', apiKeySecretRef: { name: 'llm', key: 'apiKey' } };
const EMBEDDING = { ...LLM, model: 'text-embedding-3-small', dimensions: 1536 };

describe('models of a tenant', () => {
  let world: TenantWorld;
  beforeEach(async () => {
    world = await createTenantWorld();
  });
  afterEach(() => world.close());

  const encoded = (text: string) => ({ apiKey: Buffer.from(text).toString('base64') });
  const addKey = (text: string) =>
    world.kube.put<Secret>(KINDS.secret, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { ...PLACE, name: 'llm' },
      data: encoded(text),
    });
  const changeKey = (text: string) =>
    world.kube.change(KINDS.secret, { ...PLACE, name: 'llm' }, { data: encoded(text) });

  describe('language model', () => {
    const GIVEN = { provider: 'openai', model: 'gpt-5-mini', apiKey: 'sk-first' };
    const model = () => [...world.services.tenants.values()][0]?.model;

    it('sets the language model after one successful probe of its key', async () => {
      addKey('sk-first\n');
      world.put({ llm: LLM });
      await world.reconcile();
      expect(model()).to.deep.equal(GIVEN);
      expect(world.read()?.status?.languageModel).to.deep.equal({ provider: 'openai', model: 'gpt-5-mini' });
      expect(world.conditions()).to.include({ CredentialsReady: 'True Issued', Ready: 'True Available' });
      const writes = world.statusWrites();
      await world.reconcile();
      expect([world.services.countOf('probeModel'), world.statusWrites()]).to.deep.equal([1, writes]);
      expect(JSON.stringify([world.read(), world.notes])).not.to.include('sk-first');
    });

    it('waits for the Secret of the language model without holding up other steps', async () => {
      world.put({ llm: LLM, apiKeys: [{ name: 'default', secretName: 'key' }] });
      expect(await world.reconcile()).to.include({ retry: true });
      expect(world.condition('CredentialsReady')).to.include({ status: 'False', reason: 'SecretMissing' });
      expect(world.condition('CredentialsReady')?.message).to.equal(
        "No Secret llm has the model's key under apiKey: create it, or add that key to it",
      );
      expect(world.secretValue('key', 'apiKey')).to.have.length(64);
      expect(world.conditions()).to.include({ Routed: 'True NotRequested' });
      addKey('sk-first');
      await world.reconcile();
      expect(world.conditions()).to.include({ CredentialsReady: 'True Issued', Ready: 'True Available' });
    });

    it('keeps the previous language model while the provider refuses the new key', async () => {
      addKey('sk-first');
      world.put({ llm: LLM });
      await world.reconcile();
      changeKey('sk-wrong');
      world.services.probeAnswer = { outcome: 'rejected', detail: 'Incorrect API key provided.' };
      await world.reconcile();
      expect(model()).to.deep.equal(GIVEN);
      expect(world.conditions()).to.include({
        CredentialsReady: 'False ProviderRejected',
        Stalled: 'True ProviderRejected',
      });
      expect(world.condition('Stalled')?.message).to.equal(
        'openai does not accept the key of llm.apiKeySecretRef: Incorrect API key provided',
      );
      changeKey('sk-second');
      world.services.probeAnswer = { outcome: 'accepted', detail: '' };
      await world.reconcile();
      expect(model()).to.deep.equal({ ...GIVEN, apiKey: 'sk-second' });
      expect(world.conditions()).to.include({ CredentialsReady: 'True Issued', Ready: 'True Available' });
    });

    it('reports an unknown model and an unreachable provider', async () => {
      addKey('sk-first');
      world.put({ llm: LLM });
      world.services.probeAnswer = { outcome: 'invalid', detail: 'No such model.' };
      const { requeueAfterMs } = await world.reconcile();
      expect(requeueAfterMs).to.be.within(300_000, 330_000);
      expect(world.conditions()).to.include({ CredentialsReady: 'False ModelInvalid' });
      expect(world.condition('Stalled')?.message).to.equal('gpt-5-mini of openai cannot be used: No such model');
      world.services.probeAnswer = { outcome: 'unreachable', detail: '' };
      expect(await world.reconcile()).to.include({ retry: true });
      expect(world.conditions()).to.include({ CredentialsReady: 'False ProviderUnreachable' });
      expect(model()).to.equal(undefined);
    });

    it('probes again when another language model is declared', async () => {
      addKey('sk-first');
      world.put({ llm: LLM });
      await world.reconcile();
      world.change({ spec: { llm: { model: 'gpt-5' } } });
      await world.reconcile();
      expect(model()).to.deep.equal({ ...GIVEN, model: 'gpt-5' });
      expect(world.services.countOf('probeModel')).to.equal(2);
    });

    it('uses the language model of the server when none is declared', async () => {
      addKey('sk-first');
      world.put({ llm: LLM });
      await world.reconcile();
      world.change({ spec: { llm: null } });
      await world.reconcile();
      expect(model()).to.equal(undefined);
      expect(world.read()?.status).not.to.have.property('languageModel');
      expect(world.read()?.status?.secrets?.map(({ purpose }) => purpose)).to.deep.equal(['OwnerPassword']);
      const calls = world.services.countOf('setTenantModel');
      await world.reconcile();
      expect(world.services.countOf('setTenantModel')).to.equal(calls);
    });

    it('sets a language model that needs no key without a Secret', async () => {
      world.put({ llm: { provider: 'ollama', model: 'llama3.2', endpoint: 'http://ollama:11434' } });
      await world.reconcile();
      expect(model()).to.deep.equal({ provider: 'ollama', model: 'llama3.2', endpoint: 'http://ollama:11434' });
      expect(world.conditions()).to.include({ Ready: 'True Available' });
    });

    it('corrects a changed language model, also after auth did not answer', async () => {
      addKey('sk-first');
      world.put({ llm: LLM });
      world.services.fail('probeModel', unavailable());
      expect(await world.reconcile()).to.include({ retry: true });
      expect(world.conditions()).to.include({ Ready: 'False StoreUnreachable' });
      await world.reconcile();
      const [tenant] = world.services.tenants.values();
      if (tenant === undefined) throw new Error('No tenant.');
      tenant.model = undefined;
      await world.reconcile();
      expect(tenant.model).to.deep.equal(GIVEN);
    });
  });

  describe('embedding model', () => {
    const GIVEN = { provider: 'openai', model: 'text-embedding-3-small', dimensions: 1536, apiKey: 'sk-first' };
    const embedding = () => [...world.services.tenants.values()][0]?.embedding;

    it('sets the embedding model after one successful probe of its dimensions', async () => {
      addKey('sk-first\n');
      world.put({ embedding: EMBEDDING });
      await world.reconcile();
      expect(embedding()).to.deep.equal(GIVEN);
      const { apiKeySecretRef: _, ...shown } = EMBEDDING;
      expect(world.read()?.status?.embedding).to.deep.equal(shown);
      const probed = world.services.calls.find(({ method }) => method === 'probeModel');
      expect(probed?.request).to.deep.equal({ kind: 'embedding', ...GIVEN });
      const writes = world.statusWrites();
      await world.reconcile();
      expect([world.services.countOf('probeModel'), world.statusWrites()]).to.deep.equal([1, writes]);
      expect(JSON.stringify([world.read(), world.notes])).not.to.include('sk-first');
    });

    it('waits for the Secret, and keeps the previous embedding model while the provider refuses the new key', async () => {
      world.put({ embedding: EMBEDDING });
      await world.reconcile();
      expect(world.condition('CredentialsReady')?.message).to.equal(
        "No Secret llm has the embedding model's key under apiKey: create it, or add that key to it",
      );
      addKey('sk-first');
      await world.reconcile();
      changeKey('sk-wrong');
      world.services.probeAnswer = { outcome: 'rejected', detail: 'Incorrect API key provided.' };
      await world.reconcile();
      expect(embedding()).to.deep.equal(GIVEN);
      expect(world.condition('Stalled')?.message).to.equal(
        'openai does not accept the key of embedding.apiKeySecretRef: Incorrect API key provided',
      );
      world.services.probeAnswer = { outcome: 'invalid', detail: 'It gives vectors of 8 dimensions.' };
      await world.reconcile();
      expect(world.conditions()).to.include({ CredentialsReady: 'False ModelInvalid' });
      world.services.probeAnswer = { outcome: 'accepted', detail: '' };
      await world.reconcile();
      expect(embedding()).to.deep.equal({ ...GIVEN, apiKey: 'sk-wrong' });
      expect(world.conditions()).to.include({ CredentialsReady: 'True Issued', Ready: 'True Available' });
    });

    it('uses separate keys for the embedding model and the language model', async () => {
      addKey('sk-first');
      world.put({
        embedding: EMBEDDING,
        llm: { provider: 'openai', model: 'm', apiKeySecretRef: EMBEDDING.apiKeySecretRef },
      });
      await world.reconcile();
      const purposes = () => world.read()?.status?.secrets?.map(({ purpose }) => purpose) ?? [];
      expect(purposes()).to.include.members(['ModelKey', 'EmbeddingKey']);
      world.change({ spec: { llm: null } });
      await world.reconcile();
      expect(purposes()).to.include('EmbeddingKey').and.not.include('ModelKey');
      expect(embedding()).to.deep.equal(GIVEN);
    });

    it('sets the built-in embedding model without a probe, and the server’s own when none is declared', async () => {
      world.put({ embedding: { provider: 'builtin', model: 'hashing-v1', dimensions: 256 } });
      await world.reconcile();
      expect(embedding()).to.deep.equal({ provider: 'builtin', model: 'hashing-v1', dimensions: 256 });
      expect(world.services.countOf('probeModel')).to.equal(0);
      world.change({ spec: { embedding: null } });
      await world.reconcile();
      expect(embedding()).to.equal(undefined);
      expect(world.read()?.status).not.to.have.property('embedding');
    });

    it('reports that cognify does not answer when the provider cannot be probed', async () => {
      addKey('sk-first');
      world.put({ embedding: EMBEDDING });
      world.services.fail('probeModel', unavailable());
      await world.reconcile();
      expect(world.condition('StoresProvisioned')?.message).to.match(/^No answer from cognify:/);
    });
  });
});
