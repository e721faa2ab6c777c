import type { UserId } from '../../common/domain/brand.ts';
import { engramError } from '../../common/domain/errors.ts';
import type { User } from '../../common/repositories/users.ts';
import type { AuthDependencies } from '../dependencies.ts';

/** The account as it stands now. Errors: `UserNotFoundError`. */
export async function currentUser({ users }: Pick<AuthDependencies, 'users'>, id: UserId): Promise<User> {
  const user = await users.get(id);
  if (user === null) throw engramError('UserNotFoundError', 'The account does not exist any more.');
  return user;
}
