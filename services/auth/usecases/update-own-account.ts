import type { UserId } from '../../common/domain/brand.ts';
import type { User } from '../../common/repositories/users.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { changeUser, type UserChange } from './change-user.ts';

export type AccountChange = Pick<UserChange, 'email' | 'password'>;

/** Changes the caller's own address or password and nothing else, whatever was sent. Errors as `changeUser`. */
export function updateOwnAccount(deps: AuthDependencies, id: UserId, change: AccountChange): Promise<User> {
  const { email, password } = change;
  return changeUser(deps, id, { email, password }, id);
}
