import { isAgentAddress } from '../../common/domain/email-address.ts';
import { asId } from '../../common/domain/ids.ts';
import { PERSONAL_TENANT } from '../../common/domain/scope.ts';
import { HttpError } from '../../common/http/http-error.ts';
import { DuplicateKeyError } from '../../common/ports/document-store.ts';
import type { User } from '../../common/repositories/users.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { isDefaultAddress } from './default-user.ts';
import { passwordProblem } from './password-rule.ts';

export interface NewAccount {
  /** Checked and spelled as it is stored. */
  readonly email: string;
  readonly password: string;
}

/**
 * Makes an ordinary account. Addresses that later stand for somebody else – the default account's and those of agents – are
 * taken from the first day, so that nobody can own them in advance.
 */
export async function registerUser(deps: AuthDependencies, { email, password }: NewAccount): Promise<User> {
  const { store, eventLog, users } = deps;
  const isTaken = isReservedAddress(deps.settings, email) || (await users.findByEmail(email)) !== null;
  if (isTaken) throw alreadyExists();
  const reason = passwordProblem(password);
  if (reason !== null) throw new HttpError(400, { detail: { code: 'REGISTER_INVALID_PASSWORD', reason } });
  const user = {
    id: asId<User['id']>(deps.ids.uuid()),
    email,
    passwordHash: await deps.passwords.hash(password),
    isActive: true,
    isSuperuser: false,
    isVerified: false,
    tenant: PERSONAL_TENANT,
    parentId: null,
    createdAt: deps.clock.now().toISOString(),
  };
  const scope = { tenant: PERSONAL_TENANT };
  const events = eventLog.appendWrites(scope, [{ type: 'user.registered', subjectId: user.id, data: {} }]);
  try {
    await store.commit(scope, [users.insertWrite(user), ...events]);
  } catch (error) {
    if (error instanceof DuplicateKeyError) throw alreadyExists();
    throw error;
  }
  return { ...user, version: 1, keysMade: 0, updatedAt: null };
}

export function isReservedAddress(settings: AuthDependencies['settings'], email: string): boolean {
  return isDefaultAddress(settings, email) || isAgentAddress(email);
}

function alreadyExists(): HttpError {
  return new HttpError(400, { detail: 'REGISTER_USER_ALREADY_EXISTS' });
}
