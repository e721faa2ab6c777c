import { randomInt } from 'node:crypto';
import { canaryAccount, canaryDatasetId, canaryPrincipal } from '../../common/domain/canary.ts';
import { creatorHolders } from '../../common/domain/permissions.ts';
import type { TenantId } from '../../common/kernel/brand.ts';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import type { AnswerOf, RequestOf } from '../../common/platform/messaging/messages.ts';
import { datasetRef } from '../../common/records/auth/datasets.ts';
import { requireManaged } from '../../common/records/auth/require-managed.ts';
import { requireTenant } from '../access/tenant-authority.ts';
import type { AuthDependencies } from '../model.ts';

/** Implements `auth.OpenCanary`, which proto/ describes, without the token of its answer. */
export async function openCanary(
  deps: AuthDependencies,
  { tenantId, crUid }: RequestOf<'auth.OpenCanary'>,
): Promise<Omit<AnswerOf<'auth.OpenCanary'>, 'token'>> {
  const principal = canaryPrincipal(tenantId);
  return retryOnConflict(async () => {
    await requireTenant(deps, tenantId);
    const managed = await requireManaged(deps, { tenant: tenantId, dataset: null }, crUid);
    const present = await deps.datasets.get({ tenant: tenantId }, canaryDatasetId(tenantId));
    if (present !== null) return { dataset: datasetRef(present), principal };
    const dataset = newCanary(tenantId, deps.clock.now());
    const writes = [
      // Conflicts with a release or an erasure of the tenant.
      deps.managedResources.keepWrite(managed),
      deps.datasets.insertWrite(dataset),
      ...deps.grants.insertAllWrites(dataset.id, creatorHolders(principal)),
    ];
    await deps.store.commit({ tenant: tenantId }, writes);
    return { dataset, principal };
  });
}

function newCanary(tenant: TenantId, now: Date): DatasetRef {
  const ownerId = canaryAccount(tenant);
  return {
    id: canaryDatasetId(tenant),
    name: newMarker(),
    ownerId,
    tenant,
    createdAt: now.toISOString(),
    updatedAt: null,
  };
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const MARKER_LETTERS = 24;

/** A name that every tokenizer keeps as one word and that cannot be guessed. */
function newMarker(): string {
  const letters = Array.from({ length: MARKER_LETTERS }, () => LETTERS.charAt(randomInt(LETTERS.length)));
  return `Q${letters.join('')}`;
}
