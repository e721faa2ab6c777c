import type { UserId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { User } from '../../common/records/auth/users.ts';
import type { AuthDependencies } from '../dependencies.ts';

/** The account as it stands now. Errors: `UserNotFoundError`. */
export async function currentUser({ users }: Pick<AuthDependencies, 'users'>, id: UserId): Promise<User> {
  const user = await users.get(id);
  if (user === null) throw engramError('UserNotFoundError', 'The account does not exist any more.');
  return user;
}
