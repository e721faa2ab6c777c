import type { SettingValues } from './settings.ts';

/** A model server that was configured: what is unset is left to the provider's adapter. */
export interface ModelSettings {
  readonly provider: string;
  readonly model: string | undefined;
  readonly endpoint: string | undefined;
  readonly apiKey: string | undefined;
}

/** Providers with an endpoint of their own; any other name is an OpenAI-compatible server whose address must be given. */
const PROVIDERS = ['openai', 'anthropic', 'gemini', 'mistral', 'ollama'];
const OTHER_NAMES: ReadonlyMap<string, string> = new Map(Object.entries<string>({ google: 'gemini' }));

const DEFAULT_MODEL = 'gpt-5-mini';
const DEFAULT_MODELS: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    anthropic: 'claude-haiku-4-5',
    gemini: 'gemini-2.5-flash',
    mistral: 'mistral-small-latest',
    ollama: 'llama3.2',
  }),
);

/** The model of a provider when none is named. */
export function defaultModel(provider: string): string {
  return DEFAULT_MODELS.get(provider) ?? DEFAULT_MODEL;
}

/** Model that a superuser chose at run time; an absent key is the one of the environment. */
interface ModelChoice {
  readonly provider: string;
  readonly model: string;
  readonly apiKey?: string;
}

/**
 * The choice over what the environment configures. An endpoint is one provider's: another one is reached at its
 * own.
 */
export function chosenOver(configured: ModelSettings | null, choice: ModelChoice): ModelSettings {
  const { provider, model } = choice;
  return {
    provider,
    model,
    endpoint: configured?.provider === provider ? configured.endpoint : undefined,
    apiKey: choice.apiKey ?? configured?.apiKey,
  };
}

/** Providers that are paid need a key, unless their endpoint was given by hand: a proxy may need none. */
export function lacksKey({ provider, endpoint, apiKey }: ModelSettings): boolean {
  return apiKey === undefined && endpoint === undefined && provider !== 'ollama';
}

/** A provider named by hand counts too: a missing key is then an error where a model is needed, not silence. */
export function chooseLanguageModel(values: SettingValues, problems: string[]): ModelSettings | null {
  const { llmProvider, llmModel, llmEndpoint, llmApiKey } = values;
  if (llmProvider === undefined && llmEndpoint === undefined && llmApiKey === undefined) return null;
  const given = { provider: llmProvider, model: llmModel, endpoint: llmEndpoint, prefix: 'LLM' };
  return { provider: providerOf(given, problems), model: llmModel, endpoint: llmEndpoint, apiKey: llmApiKey };
}

export function chooseEmbedding(values: SettingValues, problems: string[]): ModelSettings | null {
  const { embeddingProvider, embeddingModel, embeddingEndpoint, embeddingApiKey } = values;
  if ([embeddingProvider, embeddingModel, embeddingEndpoint, embeddingApiKey].every((value) => value === undefined)) {
    return null;
  }
  const given = {
    provider: embeddingProvider,
    model: embeddingModel,
    endpoint: embeddingEndpoint,
    prefix: 'EMBEDDING',
  };
  const provider = providerOf(given, problems);
  if (provider === 'anthropic') problems.push('EMBEDDING_PROVIDER: anthropic has no embedding models.');
  return {
    provider,
    model: embeddingModel,
    endpoint: embeddingEndpoint,
    apiKey: embeddingApiKey ?? values.llmApiKey,
  };
}

interface Given {
  readonly provider: string | undefined;
  readonly model: string | undefined;
  readonly endpoint: string | undefined;
  /** `LLM` or `EMBEDDING`: what the variables start with. */
  readonly prefix: string;
}

function providerOf({ provider, model, endpoint, prefix }: Given, problems: string[]): string {
  if (provider === undefined) return deduced(model);
  const name = OTHER_NAMES.get(provider) ?? provider;
  if (endpoint === undefined && !PROVIDERS.includes(name)) {
    problems.push(
      `${prefix}_PROVIDER: ${provider} needs ${prefix}_ENDPOINT, the base URL of an OpenAI-compatible server; only ${PROVIDERS.join(', ')} are known by name.`,
    );
  }
  return name;
}

/** `anthropic/claude-haiku-4-5` names its provider; a name without a known first part is asked for as OpenAI's. */
function deduced(model: string | undefined): string {
  const first = model?.split('/')[0]?.toLowerCase() ?? '';
  const name = OTHER_NAMES.get(first) ?? first;
  return model?.includes('/') === true && PROVIDERS.includes(name) ? name : 'openai';
}
