import {
  keyPlace,
  type ModelSettingsRepository,
  type StoredModelSettings,
} from '../auth/repositories/model-settings.ts';
import type { TenantEmbedderAccounts, TenantModels } from '../auth/repositories/tenant-models.ts';
import type { Payer } from '../common/domain/budget.ts';
import type { TenantId } from '../common/kernel/brand.ts';
import { PERSONAL_TENANT, type Scope } from '../common/kernel/scope.ts';
import { createHashingEmbedder } from '../common/models/hashing/hashing-embedder.ts';
import type { EmbedderOptions } from '../common/models/providers/embedder.ts';
import type { ExpectedCall, UsageMeter } from '../common/models/providers/usage-meter.ts';
import type { Config } from '../common/platform/config/configuration.ts';
import { chosenOver, defaultModel, lacksKey, type ModelSettings } from '../common/platform/config/model-choice.ts';
import { MODEL_SETTINGS } from '../common/platform/messaging/messages.ts';
import type { Messenger } from '../common/platform/messaging/messenger.ts';
import type { Logger } from '../common/platform/observability/logger.ts';
import { measuredEmbedder, measuredLanguageModel } from '../common/platform/observability/measured-models.ts';
import type { Metrics } from '../common/platform/observability/metrics.ts';
import type { WorkerPool } from '../common/platform/workers/worker-pool.ts';
import type { ActiveModels, ModelSource } from '../common/ports/active-models.ts';
import type { Budgets, TokenReservation } from '../common/ports/budgets.ts';
import type { EmbedderSource } from '../common/ports/embedders.ts';
import type { Extractor } from '../common/ports/extractor.ts';
import type { Embedder, LanguageModel, ModelCallContext, ModelKind, TokenUsage } from '../common/ports/models.ts';
import type { SecretBox } from '../common/ports/secret-box.ts';
import type { Clock } from '../common/ports/system.ts';
import type { ModelUsage } from '../common/records/budgets/model-usage.ts';
import type { Subscription } from '../common/storage/ports/bus.ts';
import { createExtractionPool } from '../common/text/extraction/rules/extraction-pool.ts';
import { createEmbedderSource } from './embedder-source.ts';
import { createFollowedModels } from './followed-models.ts';
import { type ChosenModel, createTenantModelSource } from './tenant-model-source.ts';

/** The embedder stays as configured: vectors of another one could not be compared with those that are stored. */
export interface Models extends ModelSource {
  readonly embedder: Embedder;
  /** The configured embedder, the built-in one, and those of tenants. */
  readonly embedders: EmbedderSource;
  current(tenant?: TenantId): Promise<OpenedModels>;
  /** Rules in place of a language model, whatever is set. */
  withoutModel(): OpenedModels;
  /** Settings were changed by this process: it and all others follow. */
  changed(): Promise<void>;
  /** Hears of changes that other processes made. */
  listen(): Promise<Subscription>;
  /** Starts what a run will need, while its data still comes in. */
  prepare(): void;
}

interface OpenedModels extends ActiveModels {
  /** Name of the language model, also while its key is missing; null: none is configured. */
  readonly provider: string | null;
}

interface ModelParts {
  readonly textWorkers: WorkerPool;
  readonly config: Config;
  readonly usage: ModelUsage;
  readonly budgets: Pick<Budgets, 'reserveTokens'>;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly settings: ModelSettingsRepository;
  readonly tenantModels: TenantModels;
  readonly tenantEmbedders: TenantEmbedderAccounts;
  readonly secretBox: SecretBox;
  readonly messenger: Pick<Messenger, 'publish' | 'subscribe'>;
  /** Other processes may change the settings, and news of it may be lost. */
  readonly isShared: boolean;
}

interface OpeningParts extends ModelParts {
  /** Sends what a model is asked whose address the server's owner did not choose. */
  readonly send?: typeof fetch;
}

const REREAD_MS = 2_000;
const DEFAULT_EMBEDDING_MODEL = 'text-embedding-3-large';
const DEFAULT_EMBEDDING_MODELS: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    gemini: 'gemini-embedding-001',
    mistral: 'mistral-embed',
    ollama: 'nomic-embed-text',
  }),
);
const DEFAULT_EMBEDDING_DIMENSIONS = 3072;

/**
 * The models of the environment, with what superusers set at run time over them; rules and the hashing embedder where none
 * is. The provider libraries are loaded only when used.
 */
export async function openModels(parts: ModelParts): Promise<Models> {
  const { config, settings, messenger, clock, logger, isShared } = parts;
  const pool = createExtractionPool(parts.textWorkers);
  const rereadMs = isShared ? REREAD_MS : Number.POSITIVE_INFINITY;
  const outdated = () => {
    followed.outdated();
    ofTenants.outdated();
    embedders.outdated();
  };
  // The library would print warnings about what a provider ignores, past our log.
  globalThis.AI_SDK_LOG_WARNINGS = false;
  const followed = createFollowedModels({
    read: () => settings.get(),
    open: (stored) => openActive(stored, pool, parts),
    opened({ languageModel, missingModelKey }, stored) {
      const source = stored?.languageModel ? 'settings' : 'environment';
      if (missingModelKey === null) logger.info('models.opened', { model: languageModel?.name ?? 'rules', source });
      else logger.warn('models.opened', { model: 'none', source, fault: missingModelKey });
    },
    rereadMs,
    clock,
    logger,
  });
  const guardedSend = async () => {
    const { createModelFetch } = await import('../common/platform/fetch/model-fetch.ts');
    return createModelFetch({ privateHosts: config.tenantModelHosts });
  };
  const embedder = config.embedding === null ? createHashingEmbedder() : await openEmbedder(config.embedding, parts);
  const embedders = createEmbedderSource({
    embedder,
    accounts: parts.tenantEmbedders,
    secretBox: parts.secretBox,
    rereadMs,
    clock,
    logger,
    open: async (settings, dimensions) =>
      openEmbedder(
        settings,
        { ...parts, send: await guardedSend() },
        { dimensions, declaredBy: 'embedding.dimensions' },
      ),
  });
  const ofTenants = createTenantModelSource({
    models: parts.tenantModels,
    secretBox: parts.secretBox,
    rereadMs,
    clock,
    logger,
    open: async (chosen) => openChosen(chosen, pool, { ...parts, send: await guardedSend() }),
  });
  return {
    embedder,
    embedders,
    current: async (tenant) => (await ofTenants.current(tenant)) ?? followed.current(),
    withoutModel: () => ({ provider: null, languageModel: null, missingModelKey: null, extractor: pool }),
    async changed() {
      outdated();
      // The change is durable; a process that misses the message reads it soon.
      await messenger.publish('settings', MODEL_SETTINGS, {}).catch((error: unknown) => {
        logger.warn('models.change.unpublished', { error });
      });
    },
    listen: () => messenger.subscribe('settings', MODEL_SETTINGS, outdated),
    prepare() {
      const known = followed.last();
      const hasModel = known === null ? config.languageModel !== null : known.languageModel !== null;
      if (!hasModel) pool.prepare();
    },
  };
}

async function openActive(
  stored: StoredModelSettings | null,
  rules: Extractor,
  parts: ModelParts,
): Promise<OpenedModels> {
  return openChosen(await settingsOf(stored, parts), rules, parts);
}

async function openChosen(
  { settings, fault }: ChosenModel,
  rules: Extractor,
  parts: OpeningParts,
): Promise<OpenedModels> {
  const provider = settings?.provider ?? null;
  if (settings === null || fault !== null) {
    return { provider, languageModel: null, missingModelKey: fault, extractor: rules };
  }
  const languageModel = await openLanguageModel(settings, parts);
  return { provider, languageModel, missingModelKey: null, extractor: await openModelExtractor(languageModel) };
}

async function settingsOf(
  stored: StoredModelSettings | null,
  { config, secretBox, logger }: ModelParts,
): Promise<ChosenModel> {
  const configured = config.languageModel;
  if (stored === null || stored.languageModel === null) {
    if (configured === null || !lacksKey(configured)) return { settings: configured, fault: null };
    const { provider } = configured;
    const fault = `LLM API key is not set: LLM_PROVIDER is ${provider}, set LLM_API_KEY or LLM_ENDPOINT.`;
    return { settings: configured, fault };
  }
  const { provider, model, key } = stored.languageModel;
  let apiKey: string | undefined;
  try {
    if (key !== null) apiKey = await secretBox.open(key.sealed, keyPlace('languageModel'));
  } catch (error) {
    // Never the key of the environment instead: another account would be billed.
    logger.error('models.key.unopened', { error });
    const fault =
      'The LLM API key of the settings cannot be opened. Set it again, or the ENGRAM_ROOT_KEYS that sealed it.';
    return { settings: chosenOver(configured, { provider, model }), fault };
  }
  const settings = chosenOver(configured, { provider, model, ...(apiKey === undefined ? {} : { apiKey }) });
  const fault = lacksKey(settings)
    ? `LLM API key is not set: the settings choose ${provider}, set its key there or LLM_API_KEY.`
    : null;
  return { settings, fault };
}

async function openModelExtractor(model: LanguageModel): Promise<Extractor> {
  const { createModelExtractor } = await import('../common/text/extraction/model/model-extractor.ts');
  return createModelExtractor({ model });
}

async function openLanguageModel(settings: ModelSettings, { send, ...parts }: OpeningParts): Promise<LanguageModel> {
  const { createLanguageModel } = await import('../common/models/providers/language-model.ts');
  const { llmTemperature } = parts.config;
  const model = createLanguageModel({
    ...connection(settings, defaultModel(settings.provider)),
    ...(send === undefined ? {} : { fetch: send }),
    ...(llmTemperature === undefined ? {} : { temperature: llmTemperature }),
    meter: meterOf(parts, 'language'),
  });
  return measuredLanguageModel(model, parts.metrics);
}

async function openEmbedder(
  settings: ModelSettings,
  { send, ...parts }: OpeningParts,
  declared: Partial<Pick<EmbedderOptions, 'dimensions' | 'declaredBy'>> = {},
): Promise<Embedder> {
  const { createEmbedder } = await import('../common/models/providers/embedder.ts');
  const { knownDimensions } = await import('../common/models/providers/embedding-models.ts');
  const { config } = parts;
  const connected = connection(settings, DEFAULT_EMBEDDING_MODELS.get(settings.provider) ?? DEFAULT_EMBEDDING_MODEL);
  const embedder = createEmbedder({
    ...connected,
    ...(send === undefined ? {} : { fetch: send }),
    dimensions: config.embeddingDimensions ?? knownDimensions(connected.model) ?? DEFAULT_EMBEDDING_DIMENSIONS,
    ...declared,
    maxInputTokens: config.embeddingMaxCompletionTokens,
    batchSize: config.embeddingBatchSize,
    meter: meterOf(parts, 'embedding'),
  });
  return measuredEmbedder(embedder, parts.metrics);
}

function connection({ provider, model, endpoint, apiKey }: ModelSettings, fallback: string) {
  return {
    provider,
    model: model ?? fallback,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(apiKey === undefined ? {} : { apiKey }),
  };
}

/** Counts for `/metrics`, for the days of the space, for the budgets of who pays, and for the run the call belongs to. */
function meterOf(parts: ModelParts, kind: ModelKind): UsageMeter {
  const { usage: repository, clock, metrics } = parts;
  return {
    async admit(call, context) {
      const reservation = kind === 'language' ? await reserve(parts, call, context) : null;
      return {
        async record(model, usage) {
          metrics.modelTokens({ model, purpose: context.purpose, ...usage });
          context.onUsage?.(usage, kind);
          const account = (context.payer ?? tenantPayer(context.scope))?.accounts[0];
          await Promise.all([
            account && repository.add(context.scope, account, model, usage, clock.now()),
            reservation?.settle(usage.inputTokens + usage.outputTokens > 0 ? usage : uncounted(call)),
          ]);
        },
        release: async () => reservation?.release(),
      };
    },
  };
}

/** Budgets are of language-model tokens: what an embedder reads costs a hundredth, and is only counted. */
async function reserve(
  { budgets, config }: ModelParts,
  call: ExpectedCall,
  { payer: named, scope, signal }: ModelCallContext,
): Promise<TokenReservation | null> {
  const payer = named ?? tenantPayer(scope);
  if (payer === null) return null;
  const outputTokens = call.maxOutputTokens ?? config.llmMaxCompletionTokens;
  return budgets.reserveTokens(payer, uncounted(call).inputTokens + outputTokens, signal);
}

/** Usage of a call without a principal counts for its tenant; in the personal space it counts for no account. */
function tenantPayer({ tenant }: Scope): Payer | null {
  return tenant === PERSONAL_TENANT ? null : { tenant, accounts: [`tenant/${tenant}`] };
}

/** Few tokens have less than three bytes, in any language. */
const BYTES_PER_TOKEN = 3;

/** Usage of a provider that does not report it. */
function uncounted({ prompts }: ExpectedCall): TokenUsage {
  const bytes = prompts.reduce((sum, prompt) => sum + Buffer.byteLength(prompt), 0);
  return { inputTokens: Math.ceil(bytes / BYTES_PER_TOKEN), outputTokens: 0 };
}
