import { createHashingEmbedder } from '../common/adapters/hashing-embedder/hashing-embedder.ts';
import type { Config, ModelSettings } from '../common/config/configuration.ts';
import { createExtractionPool } from '../common/extraction/rules/extraction-pool.ts';
import type { Metrics } from '../common/observability/metrics.ts';
import type { Extractor } from '../common/ports/extractor.ts';
import type { Embedder, LanguageModel, ModelCallContext, TokenUsage } from '../common/ports/models.ts';
import type { Clock } from '../common/ports/system.ts';
import type { ModelUsage } from '../common/repositories/model-usage.ts';

export interface Models {
  readonly embedder: Embedder;
  readonly extractor: Extractor;
  readonly languageModel: LanguageModel | null;
  /** A model is configured and lacks its key: what a run that needs it ends with. */
  readonly missingModelKey: string | null;
  close(): Promise<void>;
}

export interface ModelParts {
  readonly config: Config;
  readonly usage: ModelUsage;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

const DEFAULT_MODEL = 'openai/gpt-5-mini';
const DEFAULT_EMBEDDING_MODEL = 'openai/text-embedding-3-large';
const DEFAULT_EMBEDDING_DIMENSIONS = 3072;

/** The configured models; rules and the hashing embedder where none is. The provider libraries are loaded only when used. */
export async function openModels(parts: ModelParts): Promise<Models> {
  const { config } = parts;
  const pool = createExtractionPool({ size: 1 });
  const missingModelKey = missingKey(config.languageModel);
  const languageModel =
    config.languageModel === null || missingModelKey !== null ? null : await openLanguageModel(config.languageModel, parts);
  return {
    embedder: config.embedding === null ? createHashingEmbedder() : await openEmbedder(config.embedding, parts),
    extractor: languageModel === null ? pool : await openModelExtractor(languageModel),
    languageModel,
    missingModelKey,
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
  const { createMeteredLanguageModel } = await import('../common/adapters/ai-models/metered.ts');
  const model = createLanguageModel({
    ...connection(settings, DEFAULT_MODEL),
    temperature: parts.config.llmTemperature,
  });
  return createMeteredLanguageModel(model, {
    // Budgets of tenants and keys are checked here once they exist; the provider's own budget answers 402 by itself.
    admit: async () => {},
    record: (name, usage, context) => recordUsage(parts, name, { usage, context }),
  });
}

async function openEmbedder(settings: ModelSettings, parts: ModelParts): Promise<Embedder> {
  const { createEmbedder } = await import('../common/adapters/ai-models/embedder.ts');
  const { config } = parts;
  const embedder: Embedder = createEmbedder({
    ...connection(settings, DEFAULT_EMBEDDING_MODEL),
    dimensions: config.embeddingDimensions ?? DEFAULT_EMBEDDING_DIMENSIONS,
    maxInputTokens: config.embeddingMaxCompletionTokens,
    batchSize: config.embeddingBatchSize,
    onUsage: (usage, context) => recordUsage(parts, embedder.space.model, { usage, context }),
  });
  return embedder;
}

function connection({ provider, model, endpoint, apiKey }: ModelSettings, fallback: string) {
  return {
    provider,
    model: model ?? fallback,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(apiKey === undefined ? {} : { apiKey }),
  };
}

async function recordUsage(
  { usage: repository, clock, metrics }: ModelParts,
  model: string,
  call: { readonly usage: TokenUsage; readonly context: ModelCallContext },
): Promise<void> {
  metrics.modelTokens({ model, purpose: call.context.purpose, ...call.usage });
  await repository.add(call.context.scope, model, call.usage, clock.now());
}
