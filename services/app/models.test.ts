import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { createMemoryDocumentStore } from '../../test/support/memory/document-store.ts';
import { type ModelProvider, startModelProvider } from '../../test/support/model-provider.ts';
import { unsignedPrincipals } from '../../test/support/unsigned-principals.ts';
import { until } from '../../test/support/until.ts';
import { createModelSettings, keyPlace } from '../auth/repositories/model-settings.ts';
import {
  createTenantEmbedders,
  createTenantModels,
  type TenantLanguageModel,
  tenantKeyPlace,
} from '../auth/repositories/tenant-models.ts';
import type { TenantId } from '../common/kernel/brand.ts';
import { asId } from '../common/kernel/ids.ts';
import { datasetScope, PERSONAL_TENANT, SYSTEM_SCOPE } from '../common/kernel/scope.ts';
import { loadConfig } from '../common/platform/config/load-config.ts';
import { createMessenger } from '../common/platform/messaging/messenger.ts';
import { createLogger } from '../common/platform/observability/logger.ts';
import { createMetrics, type Metrics } from '../common/platform/observability/metrics.ts';
import { createAesGcmSecretBox } from '../common/platform/secrets/aes-gcm-secret-box.ts';
import { createSystemClock } from '../common/platform/system/clock.ts';
import type { SecretBox } from '../common/ports/secret-box.ts';
import { createModelUsage } from '../common/records/budgets/model-usage.ts';
import { createInProcessBus } from '../common/storage/bus/in-process/bus.ts';
import type { Bus } from '../common/storage/ports/bus.ts';
import type { DocumentStore } from '../common/storage/ports/document-store.ts';
import { createTextWorkers } from '../common/text/extraction/rules/extraction-pool.ts';
import { collections } from './collections.ts';
import { type Models, openModels } from './models.ts';

const CONTEXT = { scope: datasetScope(PERSONAL_TENANT, asId('d')), purpose: 'query' } as const;

/** Processes on one store and one bus, as replicas are. */
describe('models of several processes', () => {
  let provider: ModelProvider;
  let store: DocumentStore;
  let bus: Bus;
  let metrics: Metrics;
  let secretBox: SecretBox;
  let lines: string[];
  // Starts nothing before a text is worked on, which none of these does.
  const textWorkers = createTextWorkers();
  let revision = 0;

  beforeEach(async () => {
    provider = await startModelProvider();
    store = createMemoryDocumentStore();
    await store.prepare(collections);
    bus = createInProcessBus();
    metrics = createMetrics();
    const rootKey = { id: 'test', bytes: randomBytes(32) };
    secretBox = createAesGcmSecretBox(async () => [rootKey]);
    lines = [];
  });
  afterEach(async () => {
    await bus.drain();
    metrics.close();
    await provider.close();
  });

  interface Options {
    readonly box?: SecretBox;
    readonly isDeaf?: boolean;
    readonly tenantModelHosts?: string;
    /** In place of the test provider. */
    readonly languageModel?: Readonly<Record<string, string>>;
  }

  async function open(options: Options = {}): Promise<Models> {
    const { config } = loadConfig({
      ...(options.languageModel ?? {
        LLM_PROVIDER: 'openai',
        LLM_MODEL: 'first',
        LLM_ENDPOINT: `${provider.url}/v1`,
      }),
      ENGRAM_TENANT_MODEL_HOSTS: options.tenantModelHosts ?? '127.0.0.1',
    });
    const messenger = createMessenger(bus, unsignedPrincipals);
    const clock = createSystemClock();
    const models = await openModels({
      config,
      metrics,
      messenger,
      clock,
      secretBox: options.box ?? secretBox,
      textWorkers,
      logger: createLogger({ level: 'debug', name: 't', destination: { write: (line) => void lines.push(line) } }),
      usage: createModelUsage(store),
      // The calls of these tests name nobody who pays.
      budgets: { reserveTokens: () => Promise.reject(new Error('nobody pays')) },
      settings: createModelSettings(store),
      tenantModels: createTenantModels(store),
      tenantEmbedders: createTenantEmbedders(store),
      isShared: true,
    });
    if (options.isDeaf !== true) await models.listen();
    return models;
  }

  async function set(model: string, key: string | null): Promise<void> {
    const settings = createModelSettings(store);
    const before = await settings.get();
    revision += 1;
    const sealed =
      key === null ? null : { sealed: await secretBox.seal(key, keyPlace('languageModel')), shown: '*****' };
    const languageModel = { provider: 'openai', model, key: sealed };
    const next = { revision: String(revision), languageModel, vectorDatabase: null, changedAt: '' };
    await store.commit(SYSTEM_SCOPE, [settings.putWrite(next, before)]);
  }

  /** Which model the provider was asked for, with what in `Authorization`. */
  async function ask(models: Models): Promise<unknown> {
    const { languageModel } = await models.current();
    await languageModel?.text({ system: 's', prompt: 'p' }, CONTEXT);
    const asked = provider.requests.at(-1);
    return [asked?.body['model'], asked?.headers.authorization];
  }

  it('are the new ones at once where they were set, and soon where the news arrives', async () => {
    const [one, two] = [await open(), await open()];
    expect(await ask(one)).to.deep.equal(['first', undefined]);
    expect(await ask(two)).to.deep.equal(['first', undefined]);
    await set('second', 'sk-second');
    await one.changed();
    expect(await ask(one)).to.deep.equal(['second', 'Bearer sk-second']);
    await wait(500);
    expect(await ask(two)).to.deep.equal(['second', 'Bearer sk-second']);
  });

  it('are named in the log as they are in use: a provider without its key is a warning', async () => {
    const opened = async (languageModel: Readonly<Record<string, string>>) => {
      lines = [];
      await (await open({ languageModel })).current();
      return lines
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .find(({ event }) => event === 'models.opened');
    };
    expect(await opened({})).to.include({ level: 'info', model: 'rules' });
    expect(await opened({ LLM_PROVIDER: 'openai', LLM_API_KEY: 'k' })).to.include({ level: 'info' });
    const withoutKey = await opened({ LLM_PROVIDER: 'openai', LLM_MODEL: 'gpt-5' });
    expect(withoutKey).to.include({ level: 'warn', model: 'none' });
    expect(withoutKey?.['fault']).to.contain('set LLM_API_KEY');
  });

  describe('of tenants', () => {
    const [tenant, other] = [asId<TenantId>('t-1'), asId<TenantId>('t-2')];

    async function give(to: TenantId, model: Partial<TenantLanguageModel>, key: string | null): Promise<void> {
      const own = createTenantModels(store);
      const sealedKey = key === null ? null : await secretBox.seal(key, tenantKeyPlace(to));
      revision += 1;
      const next = {
        revision: String(revision),
        provider: 'openai',
        model: 'own',
        endpoint: `${provider.url}/v1`,
        keySha256: null,
        changedAt: '',
        sealedKey,
        ...model,
      };
      await store.commit({ tenant: to }, [own.putWrite(next, await own.get(to))]);
    }

    async function askFor(models: Models, asking: TenantId | undefined): Promise<unknown> {
      const { languageModel, missingModelKey } = await models.current(asking);
      if (languageModel === null) return missingModelKey;
      await languageModel.text({ system: 's', prompt: 'p' }, CONTEXT);
      const asked = provider.requests.at(-1);
      return [asked?.body['model'], asked?.headers.authorization];
    }

    it('are asked on the account of the tenant, and of nobody else', async () => {
      const models = await open();
      await give(tenant, {}, 'sk-of-the-tenant');
      expect(await askFor(models, tenant)).to.deep.equal(['own', 'Bearer sk-of-the-tenant']);
      expect(await askFor(models, other)).to.deep.equal(['first', undefined]);
      expect(await askFor(models, PERSONAL_TENANT)).to.deep.equal(['first', undefined]);
      expect(await askFor(models, undefined)).to.deep.equal(['first', undefined]);
    });

    it('are others in all processes after the news, and the ones of the server when they are taken back', async () => {
      const [one, two] = [await open(), await open()];
      await askFor(two, tenant);
      await give(tenant, {}, 'sk-1');
      await one.changed();
      const seen = async (models: Models) => JSON.stringify(await askFor(models, tenant));
      await until('both have it', async () => (await seen(two)).includes('sk-1') && (await seen(one)).includes('sk-1'));
      const own = createTenantModels(store);
      const before = await own.get(tenant);
      if (before === null) throw new Error('It was given one.');
      await store.commit({ tenant }, [own.removeWrite(before)]);
      await one.changed();
      await until(
        'both have lost it',
        async () => (await seen(two)).includes('first') && (await seen(one)).includes('first'),
      );
    });

    it('are asked at no private address that no setting names, as the one of the server is', async () => {
      const models = await open({ tenantModelHosts: 'models.svc' });
      await give(tenant, {}, 'sk-of-the-tenant');
      const { languageModel } = await models.current(tenant);
      const refused = async (work: Promise<unknown> | undefined) => {
        const error = await work?.then(() => null).catch((thrown: unknown) => thrown);
        expect(error).to.include({ wireName: 'SSRFProtectionError' });
        expect(String(error)).to.include('ENGRAM_TENANT_MODEL_HOSTS');
      };
      await refused(languageModel?.text({ system: 's', prompt: 'p' }, CONTEXT));
      await refused(languageModel?.stream({ system: 's', prompt: 'p' }, CONTEXT)[Symbol.asyncIterator]().next());
      const schema = { type: 'object' };
      await refused(languageModel?.structured({ system: 's', prompt: 'p', schema, schemaName: 'Any' }, CONTEXT));
      expect(provider.requests).to.deep.equal([]);
      expect(await askFor(models, other)).to.deep.equal(['first', undefined]);
    });

    it('are never the ones of the server while the key of the tenant cannot be used', async () => {
      const models = await open();
      await give(tenant, { endpoint: null }, null);
      expect(await askFor(models, tenant)).to.include('the tenant has openai of its own, and no key for it');
      await give(other, { sealedKey: await secretBox.seal('sk-moved', tenantKeyPlace(tenant)) }, null);
      await models.changed();
      expect(await askFor(models, other)).to.include('cannot be opened');
    });
  });

  it('are the new ones within seconds where the news never arrives', async () => {
    const deaf = await open({ isDeaf: true });
    await ask(deaf);
    await set('second', 'sk-second');
    expect(await ask(deaf)).to.deep.equal(['first', undefined]);
    await until('it asks the new one', async () => isDeepStrictEqual(await ask(deaf), ['second', 'Bearer sk-second']));
  });

  it('stay what they were for what has begun', async () => {
    const models = await open();
    const { languageModel: begunWith } = await models.current();
    await set('second', null);
    await models.changed();
    expect((await models.current()).languageModel?.name).to.equal('openai/second');
    await begunWith?.text({ system: 's', prompt: 'p' }, CONTEXT);
    expect(provider.requests.at(-1)?.body['model']).to.equal('first');
  });

  it('are missing, with the reason, where the key cannot be opened, and never asked with another key', async () => {
    const otherKey = { id: 'other', bytes: randomBytes(32) };
    const blind = await open({ box: createAesGcmSecretBox(async () => [otherKey]) });
    await set('second', 'sk-second');
    const { languageModel, missingModelKey, provider: named } = await blind.current();
    expect([languageModel, named]).to.deep.equal([null, 'openai']);
    expect(missingModelKey).to.contain('ENGRAM_ROOT_KEYS');
    expect(provider.requests).to.deep.equal([]);
    expect(lines.join('')).to.contain('models.key.unopened').and.not.contain('sk-second');
  });
});
