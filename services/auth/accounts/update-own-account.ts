import type { Principal } from '../../common/kernel/principal.ts';
import type { User } from '../../common/records/auth/users.ts';
import { requireNoKeyBudget } from '../budgets/budgets.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { changeUser, type UserChange } from './change-user.ts';

export type AccountChange = Pick<UserChange, 'email' | 'password'>;

/**
 * Changes the caller's own address or password and nothing else, whatever was sent. Errors as `changeUser`, and
 * `PermissionDeniedError` for a request that came with a key that has a budget: a password signs in without one.
 */
export async function updateOwnAccount(
  deps: AuthDependencies,
  principal: Principal,
  { email, password }: AccountChange,
): Promise<User> {
  await requireNoKeyBudget(deps, principal);
  return changeUser(deps, principal.id, { email, password }, principal.id);
}
