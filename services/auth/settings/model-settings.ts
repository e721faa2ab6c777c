import type { Principal } from '../../common/kernel/principal.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import { ignoreConflict, retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import { chosenOver, defaultModel } from '../../common/platform/config/model-choice.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import type { Write } from '../../common/storage/ports/document-store.ts';
import type { AuthDependencies } from '../model.ts';
import { keyPlace, type SealedKey, type StoredModelSettings } from '../repositories/model-settings.ts';

/** The current settings, with masked keys. */
export interface ModelSettingsView {
  readonly languageModel: {
    readonly provider: string;
    readonly model: string;
    /** The configured endpoint if the provider is the configured one; '': the provider's default. */
    readonly endpoint: string;
    readonly key: string | null;
  };
  readonly vectorDatabase: { readonly provider: string; readonly url: string; readonly key: string | null };
}

/** Settings as clients send them: all fields of a part, and a key that may be blank or masked. */
interface ModelSettingsChange {
  readonly languageModel?: { readonly provider: string; readonly model: string; readonly apiKey: string } | undefined;
  readonly vectorDatabase?: { readonly provider: string; readonly url: string; readonly apiKey: string } | undefined;
}

const DEFAULT_PROVIDER = 'openai';
const DEFAULT_VECTOR_PROVIDER = 'lancedb';

export async function readModelSettings(deps: AuthDependencies): Promise<ModelSettingsView> {
  return viewOf(deps, await deps.modelSettings.get());
}

/**
 * Stores the fields that differ from the shown ones, for the whole server and permanently; what starts from now on uses them.
 * Sending back what was shown changes nothing, so that submitting a form does not pin the values of the environment.
 */
export async function changeModelSettings(deps: AuthDependencies, by: Principal, change: ModelSettingsChange) {
  requireSuperuser(by);
  await retryOnConflict(async () => {
    const stored = await deps.modelSettings.get();
    const { next, fields } = await changed(deps, stored, change);
    if (fields.length === 0) return;
    await commit(deps, by, { write: deps.modelSettings.putWrite(next, stored), fields });
  });
}

/** Returns to the settings of the environment. */
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
  /** Names of the changed fields, in wire spelling. */
  readonly fields: readonly string[];
}

async function commit(deps: AuthDependencies, by: Principal, { write, fields }: Change): Promise<void> {
  const details = { fields };
  const entry = { tenant: PERSONAL_TENANT, action: 'settings.changed', actor: by.id, subject: 'server', details };
  await deps.audit.commit({ tenant: PERSONAL_TENANT }, [write], [entry]);
  await deps.models.changed();
}

async function changed(deps: AuthDependencies, stored: StoredModelSettings | null, change: ModelSettingsChange) {
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
    // Nothing connects to it, so its password is not stored.
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

async function newKey({ secretBox }: AuthDependencies, part: 'languageModel' | 'vectorDatabase', text: string) {
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

/**
 * Seals stored keys again that an earlier root key sealed, so that this root key can be removed. The keys themselves do not
 * change, so models are not reloaded.
 */
export async function resealModelSettings(deps: AuthDependencies): Promise<void> {
  const stored = await deps.modelSettings.get();
  if (stored === null) return;
  const languageModel = await resealed(deps, 'languageModel', stored.languageModel);
  const vectorDatabase = await resealed(deps, 'vectorDatabase', stored.vectorDatabase);
  if (languageModel === stored.languageModel && vectorDatabase === stored.vectorDatabase) return;
  const { version: _, ...settings } = stored;
  const write = deps.modelSettings.putWrite({ ...settings, languageModel, vectorDatabase }, stored);
  // If another replica was faster, or they were changed, the current root key sealed them in either case.
  await ignoreConflict(deps.store.commit({ tenant: PERSONAL_TENANT }, [write]));
}

async function resealed<Part extends { readonly key: SealedKey | null }>(
  { secretBox }: AuthDependencies,
  name: 'languageModel' | 'vectorDatabase',
  part: Part | null,
): Promise<Part | null> {
  if (part === null || part.key === null || (await secretBox.isCurrent(part.key.sealed))) return part;
  const place = keyPlace(name);
  const sealed = await secretBox.seal(await secretBox.open(part.key.sealed, place), place);
  return { ...part, key: { ...part.key, sealed } };
}

const SHOWN_CHARACTERS = 10;
/** A key with so many asterisks is the masked one of a form (proto/http/auth-integrations.md §5.2). */
const MASK = '*****';

/**
 * The masked form of a provider's key: its first ten characters and an asterisk for each other one; only asterisks for a
 * short key. It always has enough asterisks to be recognised as a mask.
 */
export function shownKey(key: string): string {
  const isLong = key.length >= SHOWN_CHARACTERS + MASK.length;
  const shown = isLong ? key.slice(0, SHOWN_CHARACTERS) : '';
  return shown + '*'.repeat(Math.max(MASK.length, key.length - shown.length));
}

/** The key that a client sent; null when it is blank or the mask: the stored one stays. */
export function newKeyIn(text: string): string | null {
  const key = text.trim();
  return key === '' || key.includes(MASK) ? null : key;
}

/** A URL without its password: every signed-in user can read the settings. */
function shownUrl(text: string): string {
  const url = URL.parse(text.trim());
  if (url === null || url.password === '') return text;
  url.password = '*****';
  return url.href;
}
