import { z } from 'zod';
import { nothing } from '../../common/platform/http/answer-schemas.ts';
import { json, routesOf } from '../../common/platform/http/route.ts';
import { NO_PERMISSION, SUPERUSER } from '../../common/platform/http/route-permission.ts';
import { optional } from '../../common/platform/http/schema.ts';
import type { AuthDependencies } from '../model.ts';
import {
  changeModelSettings,
  type ModelSettingsView,
  readModelSettings,
  resetModelSettings,
} from '../settings/model-settings.ts';

const PROVIDERS = ['openai', 'ollama', 'anthropic', 'gemini', 'mistral'];
/** Longer than any key; the sealed key is stored as a whole. */
const MAX_KEY_LENGTH = 8_192;
const MAX_TEXT_LENGTH = 2_048;

const key = z.string().max(MAX_KEY_LENGTH);
const text = z.string().max(MAX_TEXT_LENGTH);

/** `configuredProvider`: a custom provider of the environment, which can be chosen again under its name. */
function changeSettingsBody(configuredProvider: string | null) {
  const providers = new Set([...PROVIDERS, ...(configuredProvider === null ? [] : [configuredProvider])]);
  return z.object({
    llm: optional(z.object({ provider: z.literal([...providers]), model: text, apiKey: key })),
    vectorDb: optional(z.object({ provider: z.literal(['lancedb', 'pgvector']), url: text, apiKey: key })),
  });
}

const choice = z.object({ value: z.string(), label: z.string() }).meta({ id: 'ConfigChoice' });

const settingsRecord = z
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

const path = '/api/v1/settings';
const NOT_A_SUPERUSER = { description: 'The caller is not a superuser' };

const { routes, get, post, remove } = routesOf<AuthDependencies>({ tag: 'settings' });

/**
 * The models of the server. Changes override the environment, for all processes and permanently. The part `vectorDb` is
 * stored and returned for clients that send it, without effect: ENGRAM_STORES selects the index, and a setting cannot move
 * vectors.
 */
export const settingRoutes = routes(
  get(path, 'getSettings', {
    summary: 'The current models',
    permission: NO_PERMISSION,
    responses: {
      200: {
        description:
          'Keys are masked, lists of models are suggestions. `vectorDb` is what was sent: it has no effect, ENGRAM_STORES selects the index',
        schema: settingsRecord,
      },
    },
    handle: async (_, deps) => json(presentSettings(await readModelSettings(deps))),
  }),
  (deps: AuthDependencies) =>
    post(path, 'changeSettings', {
      idempotent: true,
      summary: 'Set the language model for work that starts from now on; `vectorDb` is stored without effect',
      permission: SUPERUSER,
      body: { kind: 'json', schema: changeSettingsBody(deps.models.configured?.provider ?? null) },
      responses: {
        200: { description: 'Stored. A blank or masked key leaves the stored one', schema: nothing },
        403: NOT_A_SUPERUSER,
        503: { description: 'A key was sent, and there is no root key to seal it with (ENGRAM_ROOT_KEYS)' },
      },
      async handle({ principal, body }) {
        await changeModelSettings(deps, principal, { languageModel: body.llm, vectorDatabase: body.vectorDb });
        return json(null);
      },
    })(deps),
  remove(path, 'resetSettings', {
    summary: 'Return to the models that the environment configures',
    permission: SUPERUSER,
    responses: {
      200: { description: 'The settings are those of the environment', schema: nothing },
      403: NOT_A_SUPERUSER,
    },
    async handle({ principal }, deps) {
      await resetModelSettings(deps, principal);
      return json(null);
    },
  }),
);

/** The settings of proto/http/auth-integrations.md §5.2. */
function presentSettings({ languageModel, vectorDatabase }: ModelSettingsView) {
  const { provider, model, endpoint, key } = languageModel;
  return {
    llm: {
      apiKey: key,
      model,
      provider,
      endpoint,
      apiVersion: null,
      models: MODEL_SUGGESTIONS,
      providers: withCurrent(MODEL_PROVIDERS, provider),
    },
    vectorDb: {
      apiKey: vectorDatabase.key ?? '',
      url: vectorDatabase.url,
      provider: vectorDatabase.provider,
      providers: VECTOR_PROVIDERS,
    },
  };
}

/** The current provider is in the list of providers, also a custom one. */
function withCurrent(providers: readonly Choice[], current: string): readonly Choice[] {
  const isListed = providers.some(({ value }) => value === current);
  return isListed ? providers : [...providers, { value: current, label: current }];
}

interface Choice {
  readonly value: string;
  readonly label: string;
}

const suggestion = (value: string, label = value): Choice => ({ value, label });

/** Providers as settings pages list them. Bedrock is listed but cannot be chosen (proto/http/auth-integrations.md §5.2). */
const MODEL_PROVIDERS: readonly Choice[] = [
  suggestion('openai', 'OpenAI'),
  suggestion('ollama', 'Ollama'),
  suggestion('anthropic', 'Anthropic'),
  suggestion('gemini', 'Gemini'),
  suggestion('mistral', 'Mistral'),
  suggestion('bedrock', 'Bedrock'),
];

const VECTOR_PROVIDERS: readonly Choice[] = [suggestion('lancedb', 'LanceDB'), suggestion('pgvector', 'PGVector')];

/** Suggested models by provider; other models can be chosen too. */
const MODEL_SUGGESTIONS: Readonly<Record<string, readonly Choice[]>> = {
  openai: [
    suggestion('gpt-5-mini'),
    suggestion('gpt-5'),
    suggestion('gpt-5-nano'),
    suggestion('gpt-4.1-mini'),
    suggestion('gpt-4o'),
  ],
  ollama: [suggestion('llama3.2'), suggestion('mistral'), suggestion('qwen3')],
  anthropic: [
    suggestion('claude-haiku-4-5', 'Claude Haiku 4.5'),
    suggestion('claude-sonnet-4-5', 'Claude Sonnet 4.5'),
    suggestion('claude-opus-4-1', 'Claude Opus 4.1'),
  ],
  gemini: [suggestion('gemini-2.5-flash', 'Gemini 2.5 Flash'), suggestion('gemini-2.5-pro', 'Gemini 2.5 Pro')],
  mistral: [
    suggestion('mistral-small-latest', 'Mistral Small'),
    suggestion('mistral-medium-latest', 'Mistral Medium'),
    suggestion('mistral-large-latest', 'Mistral Large'),
  ],
  bedrock: [],
};
