import { asId } from '../../common/domain/ids.ts';
import { PERSONAL_TENANT } from '../../common/domain/scope.ts';
import type { User } from '../../common/repositories/users.ts';
import type { AuthDependencies } from '../dependencies.ts';

export type NewUser = Pick<User, 'email' | 'passwordHash' | 'isSuperuser' | 'isVerified'>;

/** Writes the account and its event together. Errors: `DuplicateKeyError` when the address has an account. */
export async function createUser(
  deps: Pick<AuthDependencies, 'store' | 'eventLog' | 'clock' | 'ids' | 'users'>,
  account: NewUser,
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
  await deps.store.commit(scope, [deps.users.insertWrite(user), ...events]);
  return { ...user, version: 1, keysMade: 0, updatedAt: null };
}
