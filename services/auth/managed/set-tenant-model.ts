import type { TenantId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import type {
  SetTenantModelRequest,
  SetTenantModelResponse,
} from '../../common/platform/messaging/methods/auth-managed.ts';
import { requireManaged } from '../../common/records/auth/require-managed.ts';
import type { Write } from '../../common/storage/ports/document-store.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { type StoredTenantModel, type TenantLanguageModel, tenantKeyPlace } from '../repositories/tenant-models.ts';
import { isSameAccount, isSealedByThePresentKey, keySha256 } from '../settings/provider-account.ts';
import { requireTenant } from '../tenants/tenant-authority.ts';

/** See `setTenantModel` in common/platform/messaging/methods/auth-managed.ts: rules and errors. */
export async function setTenantModel(
  deps: AuthDependencies,
  { tenantId, crUid, languageModel }: SetTenantModelRequest,
): Promise<SetTenantModelResponse> {
  if (languageModel !== undefined && (languageModel.provider === '' || languageModel.model === '')) {
    throw engramError('InvalidRequestError', 'A language model has a provider and a model.');
  }
  return retryOnConflict(async () => {
    await requireTenant(deps, tenantId);
    const managed = await requireManaged(deps, { tenant: tenantId, dataset: null }, crUid);
    const before = await deps.tenantModels.get(tenantId);
    if (isAsDeclared(before, languageModel) && (await isSealedByThePresentKey(deps, before))) return { changed: false };
    const write = await writeOf(deps, { tenantId, languageModel }, before);
    const fields = languageModel === undefined ? { languageModel: null } : shown(languageModel);
    const entry = { tenant: tenantId, action: 'settings.changed', actor: null, subject: tenantId, details: fields };
    await deps.audit.commit({ tenant: tenantId }, [deps.managedResources.keepWrite(managed), write], [entry]);
    await deps.models.changed();
    return { changed: true };
  });
}

type Declared = SetTenantModelRequest['languageModel'];

function isAsDeclared(held: StoredTenantModel | null, declared: Declared): boolean {
  if (held === null || declared === undefined) return held === null && declared === undefined;
  return isSameAccount(held, declared);
}

async function writeOf(
  deps: AuthDependencies,
  { tenantId, languageModel }: { readonly tenantId: TenantId; readonly languageModel: Declared },
  before: StoredTenantModel | null,
): Promise<Write> {
  if (languageModel === undefined) {
    if (before === null) throw new Error('A model that is not there is not removed.');
    return deps.tenantModels.removeWrite(before);
  }
  const { provider, model, endpoint = null, apiKey } = languageModel;
  const next: TenantLanguageModel = {
    ...{ revision: deps.ids.uuid(), provider, model, endpoint },
    sealedKey: apiKey === undefined ? null : await deps.secretBox.seal(apiKey, tenantKeyPlace(tenantId)),
    keySha256: keySha256(apiKey),
    changedAt: deps.clock.now().toISOString(),
  };
  return deps.tenantModels.putWrite(next, before);
}

function shown({ provider, model }: NonNullable<Declared>) {
  return { languageModel: { provider, model } };
}
