import { keyAccount } from '../../common/domain/budget.ts';
import type { TenantId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { asId } from '../../common/kernel/ids.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import type { AnswerOf, RequestOf } from '../../common/platform/messaging/messages.ts';
import type { AuditEntry } from '../../common/ports/audit-log.ts';
import { type ApiKey, apiKeysCollection } from '../../common/records/auth/api-keys.ts';
import { requireManaged } from '../../common/records/auth/require-managed.ts';
import { DuplicateKeyError } from '../../common/storage/ports/document-store.ts';
import { requireTenant } from '../access/tenant-authority.ts';
import type { AuthDependencies } from '../model.ts';

const SHA256 = /^[0-9a-f]{64}$/;
/** Keys that are valid at the same time; a rotation needs two. */
const MAX_KEYS = 10;

/** Implements `auth.SetTenantKeys`; proto/ has its rules and errors. */
export async function setTenantKeys(
  deps: AuthDependencies,
  { tenantId, crUid, name, keySha256 }: RequestOf<'auth.SetTenantKeys'>,
): Promise<AnswerOf<'auth.SetTenantKeys'>> {
  const wanted = checkedHashes(keySha256);
  if (name === '') throw engramError('InvalidRequestError', 'The key has no name.');
  return retryOnConflict(async () => {
    await requireTenant(deps, tenantId);
    const managed = await requireManaged(deps, { tenant: tenantId, dataset: null }, crUid);
    const present = (await deps.apiKeys.ofTenant(tenantId)).filter((key) => key.name === name);
    const added = wanted
      .filter((hash) => !present.some((key) => key.hash === hash))
      .map((hash) => newTenantKey(deps, { tenant: tenantId, name, hash }));
    const removed = present.filter(({ hash }) => !wanted.includes(hash));
    const [first, ...rest] = [
      ...added.map((key) => entryOf(key, 'key.created', crUid)),
      ...removed.map((key) => entryOf(key, 'key.deleted', crUid)),
    ];
    const answer = { added: added.length, removed: removed.length };
    if (first === undefined) return answer;
    const writes = [
      deps.managedResources.keepWrite(managed),
      ...removed.flatMap(({ id }) => [deps.apiKeys.removeWrite(id), ...deps.budgets.removeWrites(keyAccount(id))]),
      ...added.map((key) => deps.apiKeys.insertWrite(key)),
    ];
    try {
      await deps.audit.commit({ tenant: tenantId }, writes, [first, ...rest]);
    } catch (error) {
      if (await isUsedElsewhere(deps, error, added)) throw inUse(error);
      throw error;
    }
    deps.notify.tenantChanged(tenantId);
    return answer;
  });
}

function checkedHashes(given: readonly string[]): readonly string[] {
  const wanted = [...new Set(given)];
  if (!wanted.every((hash) => SHA256.test(hash))) {
    throw engramError('InvalidRequestError', 'A key is given by its SHA-256, in lower-case hex.');
  }
  if (wanted.length <= MAX_KEYS) return wanted;
  throw engramError('InvalidRequestError', `At most ${MAX_KEYS} keys can be valid under a name.`);
}

function newTenantKey(
  { clock, ids }: AuthDependencies,
  { tenant, name, hash }: { readonly tenant: TenantId; readonly name: string; readonly hash: string },
): ApiKey {
  return {
    // It belongs to no user: users do not see it, and it outlives the accounts of owners.
    id: ids.uuid(),
    userId: asId(tenant),
    tenant,
    hash,
    name,
    prefix: '',
    label: null,
    expiresAt: null,
    permissions: null,
    datasets: null,
    createdAt: clock.now().toISOString(),
    lastUsedAt: null,
  };
}

function entryOf({ id, name, tenant }: ApiKey, action: string, resource: string): AuditEntry {
  return { tenant: asId(tenant ?? ''), action, actor: null, subject: id, details: { tenant, name, resource } };
}

/** Whether one of the added keys is in use under another name, in another tenant, or by a user. */
async function isUsedElsewhere({ apiKeys }: AuthDependencies, error: unknown, added: readonly ApiKey[]) {
  if (!(error instanceof DuplicateKeyError && error.collection === apiKeysCollection.name)) return false;
  for (const { hash, tenant, name } of added) {
    const holder = await apiKeys.findByHash(hash);
    if (holder !== null && (holder.tenant !== tenant || holder.name !== name)) return true;
  }
  return false;
}

function inUse(cause: unknown) {
  return engramError('ConflictError', 'One of the keys is in use elsewhere: create another one.', { cause });
}
