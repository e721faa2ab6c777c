import type { User } from '../../common/records/auth/users.ts';
import type { AuthDependencies } from '../dependencies.ts';

/** Whether credentials of the account are accepted: an agent's as long as the one it works for is admitted itself. */
export async function isAdmitted(
  { users }: Pick<AuthDependencies, 'users'>,
  { isActive, parentId }: Pick<User, 'isActive' | 'parentId'>,
): Promise<boolean> {
  if (!isActive || parentId === null) return isActive;
  return (await users.get(parentId))?.isActive === true;
}
