import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import { DuplicateKeyError } from '../../common/storage/ports/document-store.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { revokedTokensCollection } from '../repositories/revoked-tokens.ts';

export interface LogoutRequest {
  /** Every token that the request carries, as bearer or cookie. */
  readonly presented: readonly string[];
  readonly remoteAddress: string;
}

/** Ends the login tokens presented; what is no token of ours is passed over. API keys stay: they are removed by name. */
export async function logOut(
  { tokens, revokedTokens, audit, clock, news }: AuthDependencies,
  { presented, remoteAddress }: LogoutRequest,
): Promise<void> {
  for (const token of new Set(presented)) {
    const claims = await tokens.read(token);
    if (claims === null) continue;
    const { userId, tokenId, expiresAt } = claims;
    const closed = {
      ...{ tenant: PERSONAL_TENANT, action: 'session.closed', actor: userId, subject: userId },
      details: { address: remoteAddress, tokenId },
    };
    try {
      await audit.commit({ tenant: PERSONAL_TENANT }, revokedTokens.addWrites(tokenId, expiresAt, clock.now()), [
        closed,
      ]);
    } catch (error) {
      const isClosedAlready = error instanceof DuplicateKeyError && error.collection === revokedTokensCollection.name;
      if (!isClosedAlready) throw error;
    }
    news.userChanged(userId);
  }
}
