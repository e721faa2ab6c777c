import type { ModelSettingsView } from '../settings/model-settings.ts';
import { type Choice, MODEL_PROVIDERS, MODEL_SUGGESTIONS, VECTOR_PROVIDERS } from './model-suggestions.ts';

/** The settings of the wire (auth-integrations.md §5.2). */
export function presentSettings({ languageModel, vectorDatabase }: ModelSettingsView) {
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

/** A page shows the provider in force as one of its list: a server of one's own has a name of its own. */
function withCurrent(providers: readonly Choice[], current: string): readonly Choice[] {
  const isListed = providers.some(({ value }) => value === current);
  return isListed ? providers : [...providers, { value: current, label: current }];
}
