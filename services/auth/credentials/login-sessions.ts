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

export interface SessionOpening {
  readonly user: Pick<User, 'id' | 'passwordHash' | 'sessionEpoch'>;
  /** How they proved who they are; for the audit log. */
  readonly method: string;
  readonly remoteAddress: string;
  /** What is written with it, all or nothing. */
  readonly writes?: readonly Write[];
}

/** A login token for somebody who has proved who they are, in the audit log before it is handed out. Throws what the writes throw. */
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
  /** Every token that the request carries, as bearer or cookie. */
  readonly presented: readonly string[];
  readonly remoteAddress: string;
}

/** Ends the login tokens presented; what is no token of ours is passed over. API keys stay: they are removed by name. */
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
