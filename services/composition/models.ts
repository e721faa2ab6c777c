import type { UsageMeter } from '../common/adapters/ai-models/usage-meter.ts';
import { createHashingEmbedder } from '../common/adapters/hashing-embedder/hashing-embedder.ts';
import type { Config } from '../common/config/configuration.ts';
import type { ModelSettings } from '../common/config/model-choice.ts';
import { createExtractionPool } from '../common/extraction/rules/extraction-pool.ts';
import type { Metrics } from '../common/observability/metrics.ts';
import type { Extractor } from '../common/ports/extractor.ts';
import type { Embedder, LanguageModel, ModelKind } from '../common/ports/models.ts';
import type { Clock } from '../common/ports/system.ts';
import type { ModelUsage } from '../common/repositories/model-usage.ts';

export interface Models {
  readonly embedder: Embedder;
  readonly extractor: Extractor;
  readonly languageModel: LanguageModel | null;
  /** A model is configured and lacks its key: what a run that needs it ends with. */
  readonly missingModelKey: string | null;
  /** Starts what a run will need, while its data still comes in. */
  prepare(): void;
  close(): Promise<void>;
}

export interface ModelParts {
  readonly config: Config;
  readonly usage: ModelUsage;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

const DEFAULT_MODEL = 'gpt-5-mini';
const DEFAULT_MODELS: Readonly<Record<string, string>> = {
  anthropic: 'claude-haiku-4-5',
  gemini: 'gemini-2.5-flash',
  mistral: 'mistral-small-latest',
  ollama: 'llama3.2',
};
const DEFAULT_EMBEDDING_MODEL = 'text-embedding-3-large';
const DEFAULT_EMBEDDING_MODELS: Readonly<Record<string, string>> = {
  gemini: 'gemini-embedding-001',
  mistral: 'mistral-embed',
  ollama: 'nomic-embed-text',
};
const DEFAULT_EMBEDDING_DIMENSIONS = 3072;

/** The configured models; rules and the hashing embedder where none is. The provider libraries are loaded only when used. */
export async function openModels(parts: ModelParts): Promise<Models> {
  const { config } = parts;
  const pool = createExtractionPool({ size: 1 });
  // The library would print warnings about what a provider ignores, past our log.
  globalThis.AI_SDK_LOG_WARNINGS = false;
  const missingModelKey = missingKey(config.languageModel);
  const languageModel =
    config.languageModel === null || missingModelKey !== null
      ? null
      : await openLanguageModel(config.languageModel, parts);
  return {
    embedder: config.embedding === null ? createHashingEmbedder() : await openEmbedder(config.embedding, parts),
    extractor: languageModel === null ? pool : await openModelExtractor(languageModel),
    languageModel,
    missingModelKey,
    prepare() {
      if (languageModel === null) pool.prepare();
    },
    close: () => pool.close(),
  };
}

/** Providers that are paid need a key, unless their endpoint was given by hand: a proxy may need none. */
function missingKey(settings: ModelSettings | null): string | null {
  if (
    settings === null ||
    settings.apiKey !== undefined ||
    settings.endpoint !== undefined ||
    settings.provider === 'ollama'
  )
    return null;
  return `LLM API key is not set: LLM_PROVIDER is ${settings.provider}, set LLM_API_KEY or LLM_ENDPOINT.`;
}

async function openModelExtractor(model: LanguageModel): Promise<Extractor> {
  const { createModelExtractor } = await import('../common/extraction/model/model-extractor.ts');
  return createModelExtractor({ model });
}

async function openLanguageModel(settings: ModelSettings, parts: ModelParts): Promise<LanguageModel> {
  const { createLanguageModel } = await import('../common/adapters/ai-models/language-model.ts');
  const { llmTemperature } = parts.config;
  return createLanguageModel({
    ...connection(settings, DEFAULT_MODELS[settings.provider] ?? DEFAULT_MODEL),
    ...(llmTemperature === undefined ? {} : { temperature: llmTemperature }),
    meter: meterOf(parts, 'language'),
  });
}

async function openEmbedder(settings: ModelSettings, parts: ModelParts): Promise<Embedder> {
  const { createEmbedder } = await import('../common/adapters/ai-models/embedder.ts');
  const { knownDimensions } = await import('../common/adapters/ai-models/embedding-models.ts');
  const { config } = parts;
  const connected = connection(settings, DEFAULT_EMBEDDING_MODELS[settings.provider] ?? DEFAULT_EMBEDDING_MODEL);
  return createEmbedder({
    ...connected,
    dimensions: config.embeddingDimensions ?? knownDimensions(connected.model) ?? DEFAULT_EMBEDDING_DIMENSIONS,
    maxInputTokens: config.embeddingMaxCompletionTokens,
    batchSize: config.embeddingBatchSize,
    meter: meterOf(parts, 'embedding'),
  });
}

function connection({ provider, model, endpoint, apiKey }: ModelSettings, fallback: string) {
  return {
    provider,
    model: model ?? fallback,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(apiKey === undefined ? {} : { apiKey }),
  };
}

/** Counts for `/metrics`, for the tenant's days, and for the run the call belongs to. */
function meterOf({ usage: repository, clock, metrics }: ModelParts, kind: ModelKind): UsageMeter {
  return {
    // Budgets of tenants and keys are checked here once they exist; the provider's own budget answers 402 by itself.
    admit: async () => {},
    async record(model, usage, context) {
      metrics.modelTokens({ model, purpose: context.purpose, ...usage });
      context.onUsage?.(usage, kind);
      await repository.add(context.scope, model, usage, clock.now());
    },
  };
}
