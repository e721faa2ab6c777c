import type { LanguageModel as AiLanguageModel, EmbeddingModel } from 'ai';

/** Which model, where. Names are those of the contract's `LLM_*` and `EMBEDDING_*` variables. */
export interface ModelSettings {
  /** `openai`, `anthropic`, `gemini`, `ollama`, `custom`, `openai_compatible` … */
  readonly provider: string;
  /** With or without the provider in front: `openai/gpt-5-mini`, `gpt-5-mini`. */
  readonly model: string;
  readonly endpoint?: string;
  readonly apiKey?: string;
}

const OLLAMA_ENDPOINT = 'http://127.0.0.1:11434/v1';

/** A model object, never a bare name: the library would send a name to a gateway of its own. */
export async function openLanguageModel(settings: ModelSettings): Promise<AiLanguageModel> {
  const name = modelName(settings);
  const options = connection(settings);
  switch (settings.provider) {
    case 'openai':
      if (settings.endpoint === undefined) return (await import('@ai-sdk/openai')).createOpenAI(options).chat(name);
      return (await compatible(settings)).chatModel(name);
    case 'anthropic':
      return (await import('@ai-sdk/anthropic')).createAnthropic(options)(name);
    case 'gemini':
    case 'google':
      return (await import('@ai-sdk/google')).createGoogle(options)(name);
    default:
      return (await compatible(settings)).chatModel(name);
  }
}

export async function openEmbeddingModel(settings: ModelSettings): Promise<EmbeddingModel> {
  const name = modelName(settings);
  switch (settings.provider) {
    case 'openai':
      if (settings.endpoint === undefined) {
        return (await import('@ai-sdk/openai')).createOpenAI(connection(settings)).textEmbeddingModel(name);
      }
      return (await compatible(settings)).textEmbeddingModel(name);
    case 'gemini':
    case 'google':
      return (await import('@ai-sdk/google')).createGoogle(connection(settings)).textEmbeddingModel(name);
    default:
      return (await compatible(settings)).textEmbeddingModel(name);
  }
}

/** `openai/gpt-5-mini` → `gpt-5-mini`; a name whose first part is not the provider stays whole (`meta/llama` on a router). */
export function modelName({ provider, model }: ModelSettings): string {
  const prefixes = [`${provider}/`, 'openai/', 'openai_compatible/', 'custom/', 'hosted_vllm/'];
  const prefix = prefixes.find((candidate) => model.startsWith(candidate));
  return prefix === undefined ? model : model.slice(prefix.length);
}

function connection({ endpoint, apiKey }: ModelSettings): { baseURL?: string; apiKey?: string } {
  return {
    ...(endpoint === undefined ? {} : { baseURL: endpoint }),
    ...(apiKey === undefined ? {} : { apiKey }),
  };
}

async function compatible(settings: ModelSettings) {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  const endpoint = settings.endpoint ?? (settings.provider === 'ollama' ? OLLAMA_ENDPOINT : undefined);
  if (endpoint === undefined) throw new Error(`provider ${settings.provider} needs an endpoint`);
  return createOpenAICompatible({
    name: settings.provider,
    baseURL: endpoint,
    ...(settings.apiKey === undefined ? {} : { apiKey: settings.apiKey }),
    // Without it the schema would be sent nowhere; a server that refuses it is handled by the fallback ladder.
    supportsStructuredOutputs: true,
    includeUsage: true,
  });
}
