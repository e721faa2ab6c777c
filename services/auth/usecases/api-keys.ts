import type { UserId } from '../../common/domain/brand.ts';
import { engramError } from '../../common/domain/errors.ts';
import { PERSONAL_TENANT } from '../../common/domain/scope.ts';
import { HttpError } from '../../common/http/http-error.ts';
import { VersionConflictError, type Write } from '../../common/ports/document-store.ts';
import type { ApiKey } from '../../common/repositories/api-keys.ts';
import { apiKeyHash, apiKeyPrefix, newApiKeyText } from '../credentials/api-key-text.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { currentUser } from './update-own-account.ts';

export interface CreatedApiKey {
  readonly key: ApiKey;
  /** Shown now and never again. */
  readonly text: string;
}

/**
 * A new key. At the limit it replaces the least recently used key of the same name – clients that lost theirs mint one under
 * a fixed name – else 400. Requests at the same time never exceed the limit: each changes the account it counted for.
 */
export async function createApiKey(
  deps: AuthDependencies,
  userId: UserId,
  name: string | null,
): Promise<CreatedApiKey> {
  const { store, users, apiKeys, clock, ids, news } = deps;
  const text = newApiKeyText();
  const parts = { hash: apiKeyHash(text), prefix: apiKeyPrefix(text), name, lastUsedAt: null };
  for (;;) {
    const user = await currentUser(deps, userId);
    const existing = await apiKeys.ofUser(userId);
    const writes: Write[] = [users.replaceWrite({ ...user, keysMade: user.keysMade + 1 })];
    if (existing.length >= deps.settings.maxApiKeysPerUser) {
      writes.push(apiKeys.removeWrite(replaceable(existing, name).id));
    }
    const key = { id: ids.uuid(), userId, ...parts, createdAt: clock.now().toISOString() };
    try {
      await store.commit({ tenant: PERSONAL_TENANT }, [...writes, apiKeys.insertWrite(key)]);
      news.userChanged(userId);
      return { key, text };
    } catch (error) {
      if (!(error instanceof VersionConflictError)) throw error;
    }
  }
}

/** A key of somebody else does not exist. */
export async function deleteApiKey(deps: AuthDependencies, userId: UserId, id: string): Promise<void> {
  const key = await deps.apiKeys.get(id);
  if (key === null || key.userId !== userId) throw engramError('EntityNotFoundError', 'API key not found.');
  await deps.store.commit({ tenant: PERSONAL_TENANT }, [deps.apiKeys.removeWrite(id)]);
  deps.news.userChanged(userId);
}

function replaceable(existing: readonly ApiKey[], name: string | null): ApiKey {
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
