import { z } from 'zod';
import { optional } from '../../common/platform/http/schema.ts';

const PROVIDERS = ['openai', 'ollama', 'anthropic', 'gemini', 'mistral'];
/** Longer than any; what is sealed is kept whole. */
const MAX_KEY_LENGTH = 8_192;
const MAX_TEXT_LENGTH = 2_048;

const key = z.string().max(MAX_KEY_LENGTH);
const text = z.string().max(MAX_TEXT_LENGTH);

/** `configuredProvider`: a server of one's own has a name of its own, under which it can be chosen again. */
export function changeSettingsBody(configuredProvider: string | null) {
  const providers = new Set([...PROVIDERS, ...(configuredProvider === null ? [] : [configuredProvider])]);
  return z.object({
    llm: optional(z.object({ provider: z.literal([...providers]), model: text, apiKey: key })),
    vectorDb: optional(z.object({ provider: z.literal(['lancedb', 'pgvector']), url: text, apiKey: key })),
  });
}

const choice = z.object({ value: z.string(), label: z.string() }).meta({ id: 'ConfigChoice' });

export const settingsRecord = z
  .object({
    llm: z.object({
      apiKey: z.string().nullable(),
      model: z.string(),
      provider: z.string(),
      endpoint: z.string(),
      apiVersion: z.string().nullable(),
      models: z.record(z.string(), z.array(choice)),
      providers: z.array(choice),
    }),
    vectorDb: z.object({
      apiKey: z.string(),
      url: z.string(),
      provider: z.string(),
      providers: z.array(choice),
    }),
  })
  .meta({ id: 'SettingsDTO' });
