import type { UserId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import type { User } from '../../common/records/auth/users.ts';
import type { Write } from '../../common/storage/ports/document-store.ts';
import type { AuthDependencies } from '../dependencies.ts';

export type NewUser = Pick<User, 'email' | 'passwordHash' | 'isSuperuser' | 'isVerified'>;

/** What is written with the account, all or nothing, and what the audit log says of it. */
export interface Accompaniment {
  readonly writes: (user: UserId) => readonly Write[];
  readonly details: JsonObject;
}

/**
 * Writes the account with its event and its line in the audit log. `by` is null for who signs up and for the service itself.
 * Errors: `DuplicateKeyError` when the address has an account.
 */
export async function createUser(
  deps: Pick<AuthDependencies, 'audit' | 'eventLog' | 'clock' | 'ids' | 'users'>,
  account: NewUser,
  by: UserId | null = null,
  also: Accompaniment = { writes: () => [], details: {} },
): Promise<User> {
  const user = {
    ...account,
    id: asId<User['id']>(deps.ids.uuid()),
    isActive: true,
    tenant: PERSONAL_TENANT,
    parentId: null,
    createdAt: deps.clock.now().toISOString(),
  };
  const scope = { tenant: PERSONAL_TENANT };
  const events = deps.eventLog.appendWrites(scope, [{ type: 'user.registered', subjectId: user.id, data: {} }]);
  const details = { email: user.email, is_superuser: user.isSuperuser, ...also.details };
  await deps.audit.commit(
    scope,
    [deps.users.insertWrite(user), ...events, ...also.writes(user.id)],
    [{ ...scope, action: 'user.registered', actor: by, subject: user.id, details }],
  );
  return { ...user, version: 1, keysMade: 0, shutOuts: 0, updatedAt: null };
}
