import type { TenantId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { sha256 } from '../../common/kernel/hashes.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import type { AnswerOf, RequestOf } from '../../common/platform/messaging/messages.ts';
import type { SecretPlace } from '../../common/ports/secret-box.ts';
import { requireManaged } from '../../common/records/auth/require-managed.ts';
import type { Write } from '../../common/storage/ports/document-store.ts';
import { requireTenant } from '../access/tenant-authority.ts';
import type { AuthDependencies } from '../model.ts';
import {
  type EmbeddingAccount,
  embedderKeyPlace,
  type ModelAccount,
  type StoredTenantEmbedders,
  tenantKeyPlace,
} from '../repositories/tenant-models.ts';

/** Earlier embedding accounts whose vectors may still be in the indexes. */
const MAX_FORMER = 3;

type LanguageModel = NonNullable<RequestOf<'auth.SetTenantModel'>['languageModel']>;
type Embedding = NonNullable<RequestOf<'auth.SetTenantEmbedding'>['embedding']>;

/** Implements `auth.SetTenantModel`; proto/ has its rules and errors. */
export async function setTenantModel(
  deps: AuthDependencies,
  { languageModel, ...resource }: RequestOf<'auth.SetTenantModel'>,
): Promise<AnswerOf<'auth.SetTenantModel'>> {
  requireNamed('A language model', languageModel);
  const { tenantId } = resource;
  const details = languageModel === undefined ? null : { provider: languageModel.provider, model: languageModel.model };
  return change(deps, { ...resource, details: { languageModel: details } }, async () => {
    const before = await deps.tenantModels.get(tenantId);
    if (await isCurrent(deps, before, languageModel)) return null;
    if (before !== null && languageModel === undefined) return deps.tenantModels.removeWrite(before);
    if (languageModel === undefined) return null;
    const account = await accountOf(deps, languageModel, tenantKeyPlace(tenantId));
    return deps.tenantModels.putWrite({ ...account, ...revisionOf(deps) }, before);
  });
}

/** Implements `auth.SetTenantEmbedding`; proto/ has its rules and errors. */
export async function setTenantEmbedding(
  deps: AuthDependencies,
  { embedding, ...resource }: RequestOf<'auth.SetTenantEmbedding'>,
): Promise<AnswerOf<'auth.SetTenantEmbedding'>> {
  requireNamed('An embedding model', embedding);
  if (embedding !== undefined && (embedding.dimensions < 8 || embedding.dimensions > 65_536)) {
    throw engramError('InvalidRequestError', 'An embedding model has 8 to 65536 dimensions.');
  }
  const { tenantId } = resource;
  const details =
    embedding === undefined
      ? null
      : { provider: embedding.provider, model: embedding.model, dimensions: embedding.dimensions };
  return change(deps, { ...resource, details: { embedding: details } }, async () => {
    const before = await deps.tenantEmbedders.get(tenantId);
    const held = before?.current ?? null;
    const isSame = held?.dimensions === embedding?.dimensions && (await isCurrent(deps, held, embedding));
    if (isSame) return null;
    const current = embedding === undefined ? null : await embeddingAccountOf(deps, tenantId, embedding);
    const next = { current, former: formerOf(before, current), ...revisionOf(deps) };
    return deps.tenantEmbedders.putWrite(next, before);
  });
}

interface ManagedChange {
  readonly tenantId: TenantId;
  readonly crUid: string;
  /** For the audit log. */
  readonly details: JsonObject;
}

/** Commits the write of `writeOf`; null: nothing changes. */
async function change(
  deps: AuthDependencies,
  { tenantId: tenant, crUid, details }: ManagedChange,
  writeOf: () => Promise<Write | null>,
): Promise<{ readonly changed: boolean }> {
  return retryOnConflict(async () => {
    await requireTenant(deps, tenant);
    const managed = await requireManaged(deps, { tenant, dataset: null }, crUid);
    const write = await writeOf();
    if (write === null) return { changed: false };
    const entry = { tenant, action: 'settings.changed', actor: null, subject: tenant, details };
    await deps.audit.commit({ tenant }, [deps.managedResources.keepWrite(managed), write], [entry]);
    await deps.models.changed();
    return { changed: true };
  });
}

function requireNamed(what: string, declared: LanguageModel | undefined): void {
  if (declared === undefined || (declared.provider !== '' && declared.model !== '')) return;
  throw engramError('InvalidRequestError', `${what} has a provider and a model.`);
}

/**
 * Whether the stored account is the declared one, with its key sealed by the current root key. The operator repeats its calls
 * every few minutes, so keys that an earlier root key sealed are sealed again then.
 */
async function isCurrent(
  { secretBox }: AuthDependencies,
  stored: ModelAccount | null,
  declared: LanguageModel | undefined,
): Promise<boolean> {
  if (stored === null || declared === undefined) return stored === null && declared === undefined;
  const isSame =
    stored.provider === declared.provider &&
    stored.model === declared.model &&
    stored.endpoint === (declared.endpoint ?? null) &&
    stored.keySha256 === keyHash(declared.apiKey);
  return isSame && (stored.sealedKey === null || secretBox.isCurrent(stored.sealedKey));
}

async function accountOf(
  { secretBox }: AuthDependencies,
  { provider, model, endpoint, apiKey }: LanguageModel,
  place: SecretPlace,
): Promise<ModelAccount> {
  const sealedKey = apiKey === undefined ? null : await secretBox.seal(apiKey, place);
  return { provider, model, endpoint: endpoint ?? null, sealedKey, keySha256: keyHash(apiKey) };
}

async function embeddingAccountOf(deps: AuthDependencies, tenant: TenantId, embedding: Embedding) {
  const account = await accountOf(deps, embedding, embedderKeyPlace(tenant));
  return { ...account, dimensions: embedding.dimensions };
}

function keyHash(key: string | undefined): string | null {
  return key === undefined ? null : sha256(key);
}

function revisionOf({ ids, clock }: AuthDependencies) {
  return { revision: ids.uuid(), changedAt: clock.now().toISOString() };
}

/** Another model or key of a provider replaces the account before; the account of another provider is kept beside it. */
function formerOf(before: StoredTenantEmbedders | null, current: EmbeddingAccount | null): readonly EmbeddingAccount[] {
  const { current: last = null, former = [] } = before ?? {};
  const known = last === null ? former : [last, ...former];
  return known.filter(({ provider }) => provider !== current?.provider).slice(0, MAX_FORMER);
}
