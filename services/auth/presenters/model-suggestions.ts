export interface Choice {
  readonly value: string;
  readonly label: string;
}

const choice = (value: string, label = value): Choice => ({ value, label });

/** Providers as settings pages list them. Bedrock is listed and cannot be chosen (auth-integrations.md §5.2). */
export const MODEL_PROVIDERS: readonly Choice[] = [
  choice('openai', 'OpenAI'),
  choice('ollama', 'Ollama'),
  choice('anthropic', 'Anthropic'),
  choice('gemini', 'Gemini'),
  choice('mistral', 'Mistral'),
  choice('bedrock', 'Bedrock'),
];

export const VECTOR_PROVIDERS: readonly Choice[] = [choice('lancedb', 'LanceDB'), choice('pgvector', 'PGVector')];

/** Suggestions by provider; any other model of theirs may be named too. */
export const MODEL_SUGGESTIONS: Readonly<Record<string, readonly Choice[]>> = {
  openai: [choice('gpt-5-mini'), choice('gpt-5'), choice('gpt-5-nano'), choice('gpt-4.1-mini'), choice('gpt-4o')],
  ollama: [choice('llama3.2'), choice('mistral'), choice('qwen3')],
  anthropic: [
    choice('claude-haiku-4-5', 'Claude Haiku 4.5'),
    choice('claude-sonnet-4-5', 'Claude Sonnet 4.5'),
    choice('claude-opus-4-1', 'Claude Opus 4.1'),
  ],
  gemini: [choice('gemini-2.5-flash', 'Gemini 2.5 Flash'), choice('gemini-2.5-pro', 'Gemini 2.5 Pro')],
  mistral: [
    choice('mistral-small-latest', 'Mistral Small'),
    choice('mistral-medium-latest', 'Mistral Medium'),
    choice('mistral-large-latest', 'Mistral Large'),
  ],
  bedrock: [],
};
