import { keyAccount } from '../../common/domain/budget.ts';
import type { UserId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { Permission, Principal } from '../../common/kernel/principal.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import type { AuditEntry } from '../../common/ports/audit-log.ts';
import { type ApiKey, hasExpired } from '../../common/records/auth/api-keys.ts';
import type { Write } from '../../common/storage/ports/document-store.ts';
import { resolveDatasets } from '../access/resolve-datasets.ts';
import { currentUser } from '../accounts/account.ts';
import { requireNoKeyBudget } from '../budgets/budgets.ts';
import { apiKeyHash, apiKeyPrefix, newApiKeyText } from '../credentials/api-key-text.ts';
import type { AuthDependencies } from '../model.ts';

interface CreatedApiKey {
  readonly key: ApiKey;
  /** Shown once, and not stored. */
  readonly text: string;
}

export interface ApiKeyRequest {
  readonly name: string | null;
  readonly label: string | null;
  /** The time it expires, or its lifetime in seconds. */
  readonly expires: Date | number | null;
  readonly permissions: readonly Permission[] | null;
  /** Ids of datasets that the caller can read now; the permissions on them are checked with each use of the key. */
  readonly datasets: readonly string[] | null;
}

/** Ten years, in seconds: a greater value is an epoch time that was taken for a duration. */
export const MAX_KEY_LIFE_SECONDS = 10 * 365 * 86_400;

/**
 * Creates a key. At the maximum number an expired key is replaced, else the least recently used one of the same name, since
 * clients that lost their key create another under a fixed name, else 400. Concurrent requests cannot exceed the maximum:
 * each changes the account it counted for. Errors: `InvalidRequestError` for an expiry in the past, `PermissionDeniedError`
 * for a dataset.
 */
export async function createApiKey(
  deps: AuthDependencies,
  principal: Principal,
  request: ApiKeyRequest,
): Promise<CreatedApiKey> {
  await requireNoKeyBudget(deps, principal);
  const { name, label } = request;
  return insertApiKey(deps, principal.id, { ...(await limitsOf(deps, principal, request)), name, label });
}

/** Stores a key, like `createApiKey`. `more` returns writes that are committed with it, anew for each attempt. */
export function insertApiKey(
  deps: AuthDependencies,
  userId: UserId,
  parts: KeyParts,
  more: () => Promise<readonly Write[]> = async () => [],
): Promise<CreatedApiKey> {
  const { audit, users, apiKeys, clock, notify } = deps;
  return retryOnConflict(async () => {
    const user = await currentUser(deps, userId);
    const existing = await apiKeys.ofUser(userId);
    const created = newApiKey(deps, userId, parts);
    const writes: Write[] = [users.replaceWrite({ ...user, keysMade: user.keysMade + 1 }), ...(await more())];
    const entries: AuditEntry[] = [];
    if (existing.length >= deps.settings.maxApiKeysPerUser) {
      const replaced = replaceable(existing, parts.name, clock.now());
      writes.push(apiKeys.removeWrite(replaced.id), ...deps.budgets.removeWrites(keyAccount(replaced.id)));
      entries.push(keyDeleted(replaced, userId, { replacedBy: created.key.id }));
    }
    writes.push(apiKeys.insertWrite(created.key));
    await audit.commit({ tenant: PERSONAL_TENANT }, writes, [keyCreated(created.key, userId), ...entries]);
    notify.userChanged(userId);
    return created;
  });
}

/** `EntityNotFoundError` for another user's key. */
export async function deleteApiKey(deps: AuthDependencies, userId: UserId, id: string): Promise<void> {
  const key = await deps.apiKeys.get(id);
  if (key === null || key.userId !== userId) throw engramError('EntityNotFoundError', 'API key not found.');
  const writes = [deps.apiKeys.removeWrite(id), ...deps.budgets.removeWrites(keyAccount(id))];
  await deps.audit.commit({ tenant: PERSONAL_TENANT }, writes, [keyDeleted(key, userId)]);
  deps.notify.userChanged(userId);
}

type KeyParts = Pick<ApiKey, 'name' | 'label' | 'expiresAt' | 'permissions' | 'datasets'>;

/** A key that is not stored yet, with its text. */
export function newApiKey({ clock, ids }: AuthDependencies, userId: UserId, parts: Partial<KeyParts>): CreatedApiKey {
  const text = newApiKeyText();
  const key: ApiKey = {
    id: ids.uuid(),
    userId,
    hash: apiKeyHash(text),
    prefix: apiKeyPrefix(text),
    name: null,
    label: null,
    expiresAt: null,
    permissions: null,
    datasets: null,
    tenant: null,
    ...parts,
    createdAt: clock.now().toISOString(),
    lastUsedAt: null,
  };
  return { key, text };
}

export function keyCreated(key: ApiKey, by: UserId): AuditEntry {
  const { userId, name, prefix, expiresAt, permissions, datasets } = key;
  const details = { userId, name, prefix, expiresAt, permissions, datasets };
  return { tenant: PERSONAL_TENANT, action: 'key.created', actor: by, subject: key.id, details };
}

function keyDeleted({ id, userId, name, prefix }: ApiKey, by: UserId, more: { readonly replacedBy?: string } = {}) {
  const details = { userId, name, prefix, ...more };
  return { tenant: PERSONAL_TENANT, action: 'key.deleted', actor: by, subject: id, details };
}

/** Checks the limits that a key shall have. */
export async function limitsOf(
  deps: AuthDependencies,
  principal: Principal,
  { expires, permissions, datasets }: Omit<ApiKeyRequest, 'name' | 'label'>,
): Promise<Pick<ApiKey, 'expiresAt' | 'permissions' | 'datasets'>> {
  const now = deps.clock.now().getTime();
  const end = typeof expires === 'number' ? new Date(now + expires * 1000) : expires;
  if (end !== null && end.getTime() <= now) {
    throw engramError('InvalidRequestError', 'expires_at must be in the future.');
  }
  return {
    expiresAt: end?.toISOString() ?? null,
    permissions: permissions === null ? null : [...new Set(permissions)],
    datasets: datasets === null ? null : await readable(deps, principal, datasets),
  };
}

async function readable(deps: AuthDependencies, principal: Principal, ids: readonly string[]) {
  return (await resolveDatasets(deps, { principal, permission: 'read', ids })).map(({ id }) => id);
}

function replaceable(existing: readonly ApiKey[], name: string | null, now: Date): ApiKey {
  const expired = existing.find((key) => hasExpired(key, now));
  if (expired !== undefined) return expired;
  const sameName = existing.filter((key) => name !== null && key.name === name);
  const [oldest] = sameName.toSorted((one, other) => (lastUse(one) < lastUse(other) ? -1 : 1));
  if (oldest === undefined) {
    throw new HttpError(400, { error: { message: 'You have reached the maximum number of API keys.' } });
  }
  return oldest;
}

function lastUse(key: ApiKey): string {
  return key.lastUsedAt ?? key.createdAt;
}
