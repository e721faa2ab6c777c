import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { type DocumentStore, insert, removeWhere } from '../../common/storage/ports/document-store.ts';
import type { OwnedCollection } from '../../common/storage/ports/owned-collection.ts';

type RevokedToken = {
  /** When the token ends by itself (ISO-8601); after that the entry says nothing new. Null: the token never ends. */
  readonly expiresAt: string | null;
};

/** Login tokens ended by a logout, by token id. */
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
     * `DuplicateKeyError` in the commit when the token has ended already. Also drops the entries whose tokens have ended
     * by themselves before `now`, so the collection stays as small as its lifetime.
     */
    addWrites: (tokenId: string, expiresAt: Date | null, now: Date) => [
      removeWhere(revokedTokensCollection, { expiresAt: { lessThan: now.toISOString() } }),
      insert(revokedTokensCollection, tokenId, { expiresAt: expiresAt?.toISOString() ?? null }),
    ],
  };
}
