import { SYSTEM_SCOPE } from '../domain/scope.ts';
import {
  type Collection,
  type DocumentStore,
  DuplicateKeyError,
  insert,
  removeWhere,
} from '../ports/document-store.ts';

type RevokedToken = {
  /** When the token ends by itself (ISO-8601); after that the entry says nothing new. Null: the token never ends. */
  readonly expiresAt: string | null;
};

/** Login tokens ended by a logout, by token id. */
export const revokedTokensCollection: Collection<RevokedToken> = {
  name: 'revoked_tokens',
  level: 'system',
  indexes: [{ fields: ['expiresAt'] }],
};

export interface RevokedTokens {
  has(tokenId: string): Promise<boolean>;
  /** Also drops the entries whose tokens have ended before `now`, so the collection stays as small as its lifetime. */
  add(tokenId: string, expiresAt: Date | null, now: Date): Promise<void>;
}

export function createRevokedTokens(store: DocumentStore): RevokedTokens {
  return {
    async has(tokenId) {
      return (await store.get(SYSTEM_SCOPE, revokedTokensCollection, tokenId)) !== null;
    },
    async add(tokenId, expiresAt, now) {
      try {
        await store.commit(SYSTEM_SCOPE, [
          removeWhere(revokedTokensCollection, { expiresAt: { lessThan: now.toISOString() } }),
          insert(revokedTokensCollection, tokenId, { expiresAt: expiresAt?.toISOString() ?? null }),
        ]);
      } catch (error) {
        if (!(error instanceof DuplicateKeyError)) throw error;
      }
    },
  };
}
