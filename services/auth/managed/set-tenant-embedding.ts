import type { TenantId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import type {
  SetTenantEmbeddingRequest,
  SetTenantEmbeddingResponse,
} from '../../common/platform/messaging/methods/auth-managed.ts';
import { requireManaged } from '../../common/records/auth/require-managed.ts';
import type { AuthDependencies } from '../dependencies.ts';
import {
  type EmbeddingAccount,
  embedderKeyPlace,
  type StoredTenantEmbedders,
} from '../repositories/tenant-embedders.ts';
import { isSameAccount, isSealedByThePresentKey, keySha256 } from '../settings/provider-account.ts';
import { requireTenant } from '../tenants/tenant-authority.ts';

/** Accounts of before that vectors may still be of. */
const FORMER_KEPT = 3;

type Declared = SetTenantEmbeddingRequest['embedding'];

/** See `setTenantEmbedding` in common/platform/messaging/methods/auth-managed.ts: rules and errors. */
export async function setTenantEmbedding(
  deps: AuthDependencies,
  { tenantId, crUid, embedding }: SetTenantEmbeddingRequest,
): Promise<SetTenantEmbeddingResponse> {
  requireUsable(embedding);
  return retryOnConflict(async () => {
    await requireTenant(deps, tenantId);
    const managed = await requireManaged(deps, { tenant: tenantId, dataset: null }, crUid);
    const before = await deps.tenantEmbedders.get(tenantId);
    const held = before?.current ?? null;
    if (isAsDeclared(held, embedding) && (await isSealedByThePresentKey(deps, held))) return { changed: false };
    const current = embedding === undefined ? null : await accountOf(deps, tenantId, embedding);
    const next = {
      ...{ revision: deps.ids.uuid(), current, former: formerOf(before, current) },
      changedAt: deps.clock.now().toISOString(),
    };
    const shown =
      current === null ? null : { provider: current.provider, model: current.model, dimensions: current.dimensions };
    const details = { embedding: shown };
    const entry = { tenant: tenantId, action: 'settings.changed', actor: null, subject: tenantId, details };
    const writes = [deps.managedResources.keepWrite(managed), deps.tenantEmbedders.putWrite(next, before)];
    await deps.audit.commit({ tenant: tenantId }, writes, [entry]);
    await deps.models.changed();
    return { changed: true };
  });
}

function requireUsable(embedding: Declared): void {
  if (embedding === undefined) return;
  if (embedding.provider === '' || embedding.model === '') {
    throw engramError('InvalidRequestError', 'An embedding model has a provider and a model.');
  }
  if (embedding.dimensions < 8 || embedding.dimensions > 65_536) {
    throw engramError('InvalidRequestError', 'An embedding model has 8 to 65536 dimensions.');
  }
}

function isAsDeclared(held: EmbeddingAccount | null, declared: Declared): boolean {
  if (held === null || declared === undefined) return held === null && declared === undefined;
  return isSameAccount(held, declared) && held.dimensions === declared.dimensions;
}

async function accountOf(
  { secretBox }: AuthDependencies,
  tenantId: TenantId,
  { provider, model, dimensions, endpoint, apiKey }: NonNullable<Declared>,
): Promise<EmbeddingAccount> {
  const sealedKey = apiKey === undefined ? null : await secretBox.seal(apiKey, embedderKeyPlace(tenantId));
  return { provider, model, dimensions, endpoint: endpoint ?? null, sealedKey, keySha256: keySha256(apiKey) };
}

/** Another model or key of a provider takes the place of the one before; another provider's is needed beside it. */
function formerOf(before: StoredTenantEmbedders | null, current: EmbeddingAccount | null): readonly EmbeddingAccount[] {
  const { current: last = null, former = [] } = before ?? {};
  const known = last === null ? former : [last, ...former];
  return known.filter(({ provider }) => provider !== current?.provider).slice(0, FORMER_KEPT);
}
