import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import type { User } from '../../common/records/auth/users.ts';
import type { Write } from '../../common/storage/ports/document-store.ts';
import type { AuthDependencies } from '../dependencies.ts';

export interface SessionOpening {
  readonly user: Pick<User, 'id' | 'passwordHash' | 'shutOuts'>;
  /** How they proved who they are; for the audit log. */
  readonly method: string;
  readonly remoteAddress: string;
  /** What is written with it, all or nothing. */
  readonly writes?: readonly Write[];
}

/** A login token for somebody who has proved who they are, in the audit log before it is handed out. Throws what the writes throw. */
export async function openSession(
  { tokens, audit }: Pick<AuthDependencies, 'tokens' | 'audit'>,
  { user, method, remoteAddress, writes = [] }: SessionOpening,
): Promise<string> {
  const { text, id } = await tokens.issue(user);
  await audit.commit({ tenant: PERSONAL_TENANT }, writes, [
    {
      ...{ tenant: PERSONAL_TENANT, action: 'session.opened', actor: user.id, subject: user.id },
      details: { method, address: remoteAddress, tokenId: id },
    },
  ]);
  return text;
}
