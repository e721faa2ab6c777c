import type { Principal } from '../../common/kernel/principal.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import { chosenOver, defaultModel } from '../../common/platform/config/model-choice.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import type { SecretBox } from '../../common/ports/secret-box.ts';
import { VersionConflictError, type Write } from '../../common/storage/ports/document-store.ts';
import type { AuthDependencies, ConfiguredModels } from '../model.ts';
import {
  keyPlace,
  type ModelSettingsRepository,
  type NewModelSettings,
  type SealedKey,
  type StoredModelSettings,
} from '../repositories/model-settings.ts';

export interface ModelSettingsDependencies extends AuthDependencies {
  readonly modelSettings: ModelSettingsRepository;
  readonly secretBox: SecretBox;
  readonly models: ConfiguredModels;
}

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

export async function readModelSettings(deps: ModelSettingsDependencies): Promise<ModelSettingsView> {
  return viewOf(deps, await deps.modelSettings.get());
}

/**
 * Takes over what is different from what is shown, for all of the server and beyond its restart; what begins from now on
 * works with it. Sending back what was shown changes nothing, so that a form does not fix what the environment says.
 */
export async function changeModelSettings(
  deps: ModelSettingsDependencies,
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
export async function resetModelSettings(deps: ModelSettingsDependencies, by: Principal): Promise<void> {
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

async function commit(deps: ModelSettingsDependencies, by: Principal, { write, fields }: Change): Promise<void> {
  const details = { fields };
  const entry = { tenant: PERSONAL_TENANT, action: 'settings.changed', actor: by.id, subject: 'server', details };
  await deps.audit.commit({ tenant: PERSONAL_TENANT }, [write], [entry]);
  await deps.models.changed();
}

function writeOf(
  { modelSettings }: ModelSettingsDependencies,
  stored: StoredModelSettings | null,
  next: NewModelSettings,
): Write {
  return stored === null
    ? modelSettings.insertWrite(next)
    : modelSettings.replaceWrite({ ...next, version: stored.version });
}

async function changed(
  deps: ModelSettingsDependencies,
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
  { secretBox }: ModelSettingsDependencies,
  part: 'languageModel' | 'vectorDatabase',
  text: string,
): Promise<SealedKey | null> {
  const key = newKeyIn(text);
  return key === null ? null : { sealed: await secretBox.seal(key, keyPlace(part)), shown: shownKey(key) };
}

function viewOf({ models }: ModelSettingsDependencies, stored: StoredModelSettings | null): ModelSettingsView {
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

/**
 * Seals stored keys anew that an earlier root key sealed, so that this one can be given up. They stay what they are: nobody
 * need open a model again.
 */
export async function resealModelSettings(deps: ModelSettingsDependencies): Promise<void> {
  const stored = await deps.modelSettings.get();
  if (stored === null) return;
  const languageModel = await resealed(deps, 'languageModel', stored.languageModel);
  const vectorDatabase = await resealed(deps, 'vectorDatabase', stored.vectorDatabase);
  if (languageModel === stored.languageModel && vectorDatabase === stored.vectorDatabase) return;
  const write = deps.modelSettings.replaceWrite({ ...stored, languageModel, vectorDatabase });
  try {
    await deps.store.commit({ tenant: PERSONAL_TENANT }, [write]);
  } catch (error) {
    // Another replica was first, or they were set anew: sealed now either way.
    if (!(error instanceof VersionConflictError)) throw error;
  }
}

async function resealed<Part extends { readonly key: SealedKey | null }>(
  { secretBox }: ModelSettingsDependencies,
  name: 'languageModel' | 'vectorDatabase',
  part: Part | null,
): Promise<Part | null> {
  if (part === null || part.key === null || (await secretBox.isCurrent(part.key.sealed))) return part;
  const place = keyPlace(name);
  const sealed = await secretBox.seal(await secretBox.open(part.key.sealed, place), place);
  return { ...part, key: { ...part.key, sealed } };
}

const SHOWN_CHARACTERS = 10;
/** A form that comes back with so many asterisks in a key was not filled in anew (auth-integrations.md §5.2). */
const MASK = '*****';

/**
 * What may be seen of a provider's key: ten characters and an asterisk for each other one; nothing of a key so short that
 * little would be hidden. Always with enough asterisks to be known for a mask when it comes back.
 */
export function shownKey(key: string): string {
  const isLong = key.length >= SHOWN_CHARACTERS + MASK.length;
  const shown = isLong ? key.slice(0, SHOWN_CHARACTERS) : '';
  return shown + '*'.repeat(Math.max(MASK.length, key.length - shown.length));
}

/** The key that a client sent; null leaves the old one: it is blank, or the mask as it was shown. */
export function newKeyIn(text: string): string | null {
  const key = text.trim();
  return key === '' || key.includes(MASK) ? null : key;
}

/** An address without the password that may stand in it: everybody signed in reads the settings. */
export function shownUrl(text: string): string {
  const url = URL.parse(text.trim());
  if (url === null || url.password === '') return text;
  url.password = '*****';
  return url.href;
}
