import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import type { AuditLog } from '../../common/ports/audit-log.ts';
import type { Clock } from '../../common/ports/system.ts';
import type { User } from '../../common/records/auth/users.ts';
import { DuplicateKeyError, type Write } from '../../common/storage/ports/document-store.ts';
import { type RevokedTokens, revokedTokensCollection } from '../repositories/revoked-tokens.ts';
import type { AccessChangeNotifier } from './access-change-notifier.ts';
import type { AccessTokens } from './access-tokens.ts';

export interface LoginSessionDependencies {
  readonly audit: AuditLog;
  readonly clock: Clock;
  readonly tokens: AccessTokens;
  readonly revokedTokens: RevokedTokens;
  readonly notify: AccessChangeNotifier;
}

interface SessionOpening {
  readonly user: Pick<User, 'id' | 'passwordHash' | 'sessionEpoch'>;
  /** How the user was authenticated, for the audit log. */
  readonly method: string;
  readonly remoteAddress: string;
  /** Writes that are committed with the session. */
  readonly writes?: readonly Write[];
}

/**
 * Issues a login token to an authenticated user; it is in the audit log before it is handed out. Errors are those of the
 * writes.
 */
export async function openSession(
  { tokens, audit }: LoginSessionDependencies,
  { user, method, remoteAddress, writes = [] }: SessionOpening,
): Promise<string> {
  const { text, id } = await tokens.issue(user);
  await audit.commit({ tenant: PERSONAL_TENANT }, writes, [
    {
      tenant: PERSONAL_TENANT,
      action: 'session.opened',
      actor: user.id,
      subject: user.id,
      details: { method, address: remoteAddress, tokenId: id },
    },
  ]);
  return text;
}

export interface LogoutRequest {
  /** All tokens of the request, from the header and the cookie. */
  readonly presented: readonly string[];
  readonly remoteAddress: string;
}

/** Ends the login tokens; other texts are ignored. API keys are not affected: they are deleted by id. */
export async function logOut(
  { tokens, revokedTokens, audit, clock, notify }: LoginSessionDependencies,
  { presented, remoteAddress }: LogoutRequest,
): Promise<void> {
  for (const token of new Set(presented)) {
    const claims = await tokens.read(token);
    if (claims === null) continue;
    const { userId, tokenId, expiresAt } = claims;
    const closed = {
      tenant: PERSONAL_TENANT,
      action: 'session.closed',
      actor: userId,
      subject: userId,
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
    notify.userChanged(userId);
  }
}
