import type { LanguageModel as AiLanguageModel, EmbeddingModel } from 'ai';
import { engramError } from '../../kernel/errors.ts';

/** Model and provider. Names are those of the contract's `LLM_*` and `EMBEDDING_*` variables. */
export interface ModelSettings {
  /** `openai`, `anthropic`, `gemini`, `ollama`, `mistral`; any other name: an OpenAI-compatible server at `endpoint`. */
  readonly provider: string;
  /** With or without the provider in front: `openai/gpt-5-mini`, `gpt-5-mini`. */
  readonly model: string;
  /** Base URL, with or without the version segment and the last path of the provider's own API. */
  readonly endpoint?: string;
  readonly apiKey?: string;
  /** Sends the requests; default the global one, which goes anywhere. */
  readonly fetch?: typeof fetch;
}

const ANTHROPIC_ENDPOINT = 'https://api.anthropic.com';
const GOOGLE_ENDPOINT = 'https://generativelanguage.googleapis.com';
/** Base URLs of providers that speak OpenAI's protocol. */
const COMPATIBLE_ENDPOINTS: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    ollama: 'http://127.0.0.1:11434/v1',
    mistral: 'https://api.mistral.ai/v1',
  }),
);
/** The libraries read a key from the environment when they are given none; a proxy may need none at all. */
const NO_KEY = 'none';

/** A model object, never a bare name: the library would send a name to a gateway of its own. */
export async function openLanguageModel(settings: ModelSettings): Promise<AiLanguageModel> {
  const name = modelName(settings);
  const { endpoint, apiKey = NO_KEY } = settings;
  switch (settings.provider) {
    case 'openai':
      if (endpoint === undefined) return (await openAi(settings)).chat(name);
      return (await compatible(settings)).chatModel(name);
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      return createAnthropic({ baseURL: anthropicBase(endpoint ?? ANTHROPIC_ENDPOINT), apiKey, ...by(settings) })(name);
    }
    case 'gemini':
    case 'google':
      return (await google(settings))(name);
    default:
      return (await compatible(settings)).chatModel(name);
  }
}

export async function openEmbeddingModel(settings: ModelSettings): Promise<EmbeddingModel> {
  const name = modelName(settings);
  switch (settings.provider) {
    case 'openai':
      if (settings.endpoint === undefined) return (await openAi(settings)).textEmbeddingModel(name);
      return (await compatible(settings)).textEmbeddingModel(name);
    case 'gemini':
    case 'google':
      return (await google(settings)).textEmbeddingModel(name);
    case 'anthropic':
      throw engramError(
        'EmbeddingException',
        'Anthropic has no embedding models: configure another EMBEDDING_PROVIDER.',
      );
    default:
      return (await compatible(settings)).textEmbeddingModel(name);
  }
}

/** `openai/gpt-5-mini` → `gpt-5-mini`; a name whose first part is not the provider stays whole (`meta/llama` on a router). */
export function modelName({ provider, model }: ModelSettings): string {
  const own = provider === 'google' || provider === 'gemini' ? ['gemini/', 'google/'] : [`${provider}/`];
  const prefixes = [...own, 'openai/', 'openai_compatible/', 'custom/', 'hosted_vllm/'];
  const prefix = prefixes.find((candidate) => model.startsWith(candidate));
  return prefix === undefined ? model : model.slice(prefix.length);
}

async function openAi(settings: ModelSettings) {
  const { createOpenAI } = await import('@ai-sdk/openai');
  const { apiKey = NO_KEY } = settings;
  return createOpenAI({ baseURL: 'https://api.openai.com/v1', apiKey, ...by(settings) });
}

async function google(settings: ModelSettings) {
  const { createGoogle } = await import('@ai-sdk/google');
  const { endpoint = GOOGLE_ENDPOINT, apiKey = NO_KEY } = settings;
  return createGoogle({ baseURL: googleBase(endpoint), apiKey, ...by(settings) });
}

async function compatible(settings: ModelSettings) {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  const { provider, endpoint, apiKey } = settings;
  const baseURL = endpoint ?? COMPATIBLE_ENDPOINTS.get(provider);
  if (baseURL === undefined) {
    throw engramError(
      'CogneeValidationError',
      `The model provider ${provider} needs an endpoint: the base URL of an OpenAI-compatible server.`,
    );
  }
  return createOpenAICompatible({
    name: 'compatible',
    baseURL: provider === 'ollama' ? ollamaBase(baseURL) : withoutSlash(baseURL),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...by(settings),
    // Without it the schema would be sent nowhere; a server that refuses it is handled by the fallback ladder.
    supportsStructuredOutputs: true,
    includeUsage: true,
  });
}

function by({ fetch: send }: ModelSettings) {
  return send === undefined ? {} : { fetch: send };
}

/** Other clients take the bare host or the whole path; the library appends `/messages`. */
function anthropicBase(endpoint: string): string {
  return versioned(withoutSlash(endpoint).replace(/\/messages$/, ''), '/v1');
}

function googleBase(endpoint: string): string {
  return versioned(withoutSlash(endpoint), '/v1beta');
}

/** Ollama's own paths (`/api/chat`, `/api/embed`) stand in many configurations; its OpenAI paths answer the same. */
function ollamaBase(endpoint: string): string {
  return versioned(withoutSlash(endpoint).replace(/\/api(\/\w+)?$/, ''), '/v1');
}

function versioned(base: string, version: string): string {
  return /\/v\d+\w*$/.test(base) ? base : base + version;
}

function withoutSlash(endpoint: string): string {
  return endpoint.replace(/\/+$/, '');
}
