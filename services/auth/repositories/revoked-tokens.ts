import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { type DocumentStore, insert, removeWhere } from '../../common/storage/ports/document-store.ts';
import type { OwnedCollection } from '../../common/storage/ports/owned-collection.ts';

type RevokedToken = {
  /** When the token expires (ISO-8601); the entry has no effect after that. Null: never. */
  readonly expiresAt: string | null;
};

/** Login tokens that a logout ended, by token id. */
export const revokedTokensCollection: OwnedCollection<RevokedToken> = {
  name: 'revoked_tokens',
  level: 'system',
  owner: 'auth',
  belongsTo: 'system',
  indexes: [{ fields: ['expiresAt'] }],
};

export type RevokedTokens = ReturnType<typeof createRevokedTokens>;

export function createRevokedTokens(store: DocumentStore) {
  return {
    async has(tokenId: string): Promise<boolean> {
      return (await store.get(SYSTEM_SCOPE, revokedTokensCollection, tokenId)) !== null;
    },
    /**
     * `DuplicateKeyError` in the commit when the token is revoked already. Also removes entries of tokens that expired before
     * `now`.
     */
    addWrites: (tokenId: string, expiresAt: Date | null, now: Date) => [
      removeWhere(revokedTokensCollection, { expiresAt: { lessThan: now.toISOString() } }),
      insert(revokedTokensCollection, tokenId, { expiresAt: expiresAt?.toISOString() ?? null }),
    ],
  };
}
