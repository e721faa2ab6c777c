import type { Principal } from '../../common/kernel/principal.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import { chosenOver, defaultModel } from '../../common/platform/config/model-choice.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import type { Write } from '../../common/storage/ports/document-store.ts';
import { newKeyIn, shownKey } from '../credentials/shown-key.ts';
import { shownUrl } from '../credentials/shown-url.ts';
import type { AuthDependencies } from '../dependencies.ts';
import {
  keyPlace,
  type NewModelSettings,
  type SealedKey,
  type StoredModelSettings,
} from '../repositories/model-settings.ts';

/** The settings in force. Of keys only what may be seen. */
export interface ModelSettingsView {
  readonly languageModel: {
    readonly provider: string;
    readonly model: string;
    /** The configured one, while the provider is the configured one; '' is the provider's own. */
    readonly endpoint: string;
    readonly key: string | null;
  };
  readonly vectorDatabase: { readonly provider: string; readonly url: string; readonly key: string | null };
}

/** As the wire has it: everything of a part, and a key that may be blank or masked. */
export interface ModelSettingsChange {
  readonly languageModel?: { readonly provider: string; readonly model: string; readonly apiKey: string } | undefined;
  readonly vectorDatabase?: { readonly provider: string; readonly url: string; readonly apiKey: string } | undefined;
}

const DEFAULT_PROVIDER = 'openai';
const DEFAULT_VECTOR_PROVIDER = 'lancedb';

export async function readModelSettings(deps: AuthDependencies): Promise<ModelSettingsView> {
  return viewOf(deps, await deps.modelSettings.get());
}

/**
 * Takes over what is different from what is shown, for all of the server and beyond its restart; what begins from now on
 * works with it. Sending back what was shown changes nothing, so that a form does not fix what the environment says.
 */
export async function changeModelSettings(
  deps: AuthDependencies,
  by: Principal,
  change: ModelSettingsChange,
): Promise<void> {
  requireSuperuser(by);
  await retryOnConflict(async () => {
    const stored = await deps.modelSettings.get();
    const { next, fields } = await changed(deps, stored, change);
    if (fields.length === 0) return;
    await commit(deps, by, { write: writeOf(deps, stored, next), fields });
  });
}

/** Back to what the environment says. */
export async function resetModelSettings(deps: AuthDependencies, by: Principal): Promise<void> {
  requireSuperuser(by);
  await retryOnConflict(async () => {
    const stored = await deps.modelSettings.get();
    if (stored === null) return;
    const fields = [
      ...(stored.languageModel === null ? [] : ['llm']),
      ...(stored.vectorDatabase === null ? [] : ['vectorDb']),
    ];
    await commit(deps, by, { write: deps.modelSettings.removeWrite(stored), fields });
  });
}

function requireSuperuser({ isSuperuser }: Principal): void {
  if (!isSuperuser) throw new HttpError(403, { error: 'Only a superuser may change the settings.' });
}

interface Change {
  readonly write: Write;
  /** Names of what changes, as the wire spells them. */
  readonly fields: readonly string[];
}

async function commit(deps: AuthDependencies, by: Principal, { write, fields }: Change): Promise<void> {
  const details = { fields };
  const entry = { tenant: PERSONAL_TENANT, action: 'settings.changed', actor: by.id, subject: 'server', details };
  await deps.audit.commit({ tenant: PERSONAL_TENANT }, [write], [entry]);
  await deps.models.changed();
}

function writeOf(
  { modelSettings }: AuthDependencies,
  stored: StoredModelSettings | null,
  next: NewModelSettings,
): Write {
  return stored === null
    ? modelSettings.insertWrite(next)
    : modelSettings.replaceWrite({ ...next, version: stored.version });
}

async function changed(
  deps: AuthDependencies,
  stored: StoredModelSettings | null,
  change: ModelSettingsChange,
): Promise<{ readonly next: NewModelSettings; readonly fields: readonly string[] }> {
  const view = viewOf(deps, stored);
  const fields: string[] = [];
  let languageModel = stored?.languageModel ?? null;
  let vectorDatabase = stored?.vectorDatabase ?? null;
  if (change.languageModel !== undefined) {
    const { provider, apiKey } = change.languageModel;
    const model = change.languageModel.model.trim() || defaultModel(provider);
    const key = await newKey(deps, 'languageModel', apiKey);
    const found = [
      ...(provider === view.languageModel.provider ? [] : ['llm.provider']),
      ...(model === view.languageModel.model ? [] : ['llm.model']),
      ...(key === null ? [] : ['llm.apiKey']),
    ];
    if (found.length > 0) languageModel = { provider, model, key: key ?? languageModel?.key ?? null };
    fields.push(...found);
  }
  if (change.vectorDatabase !== undefined) {
    const { provider, apiKey } = change.vectorDatabase;
    // Nothing connects to it, so its password need not be kept.
    const url = shownUrl(change.vectorDatabase.url);
    const key = await newKey(deps, 'vectorDatabase', apiKey);
    const found = [
      ...(provider === view.vectorDatabase.provider ? [] : ['vectorDb.provider']),
      ...(url === view.vectorDatabase.url ? [] : ['vectorDb.url']),
      ...(key === null ? [] : ['vectorDb.apiKey']),
    ];
    if (found.length > 0) vectorDatabase = { provider, url, key: key ?? vectorDatabase?.key ?? null };
    fields.push(...found);
  }
  const changedAt = deps.clock.now().toISOString();
  return { next: { revision: deps.ids.uuid(), languageModel, vectorDatabase, changedAt }, fields };
}

async function newKey(
  { secretBox }: AuthDependencies,
  part: 'languageModel' | 'vectorDatabase',
  text: string,
): Promise<SealedKey | null> {
  const key = newKeyIn(text);
  return key === null ? null : { sealed: await secretBox.seal(key, keyPlace(part)), shown: shownKey(key) };
}

function viewOf({ models }: AuthDependencies, stored: StoredModelSettings | null): ModelSettingsView {
  const { configured } = models;
  const chosen = stored?.languageModel ?? null;
  const settings =
    chosen === null ? configured : chosenOver(configured, { provider: chosen.provider, model: chosen.model });
  const provider = settings?.provider ?? DEFAULT_PROVIDER;
  const configuredKey = configured?.apiKey === undefined ? null : shownKey(configured.apiKey);
  const vectors = stored?.vectorDatabase ?? null;
  return {
    languageModel: {
      provider,
      model: settings?.model ?? `${provider}/${defaultModel(provider)}`,
      endpoint: shownUrl(settings?.endpoint ?? ''),
      key: chosen?.key?.shown ?? configuredKey,
    },
    vectorDatabase: {
      provider: vectors?.provider ?? DEFAULT_VECTOR_PROVIDER,
      url: vectors?.url ?? '',
      key: vectors?.key?.shown ?? null,
    },
  };
}
