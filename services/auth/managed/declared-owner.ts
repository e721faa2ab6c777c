import { checkEmailAddress } from '../../common/domain/email-address.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { EnsureTenantRequest } from '../../common/platform/messaging/methods/auth-managed.ts';
import type { Tenant } from '../../common/records/auth/tenants.ts';
import type { User } from '../../common/records/auth/users.ts';
import { DuplicateKeyError } from '../../common/storage/ports/document-store.ts';
import { createUser } from '../accounts/create-user.ts';
import { isReservedAddress } from '../accounts/register-user.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { passwordProblem } from '../sign-in/password-rule.ts';

export interface DeclaredOwner {
  readonly user: User;
  readonly isNew: boolean;
}

/** PHC of argon2id, or bcrypt: what the hasher verifies. */
const PASSWORD_HASH = /^\$(?:argon2id\$v=19\$m=\d+,t=\d+,p=\d+\$[\w+/]+\$[\w+/]+|2[aby]\$\d\d\$[\w./]{53})$/;

/** The address as it is stored. `InvalidRequestError` for what is none, and for one that stands for somebody else. */
export function ownerAddress({ settings }: Pick<AuthDependencies, 'settings'>, text: string): string {
  const { address, reason } = checkEmailAddress(text);
  if (address === undefined) throw invalid(`The owner's e-mail address cannot be used. ${reason}`);
  if (isReservedAddress(settings, address)) throw invalid("The owner's e-mail address is reserved.");
  return address;
}

/**
 * The account of the address, which is made when there is none: the operator vouches for the address. Whoever has it already
 * must have proved it, or own the tenant. Errors: `OwnerUnverified`, `ConflictError` for an inactive account,
 * `InvalidRequestError` without a password for a new account.
 */
export async function declaredOwner(
  deps: AuthDependencies,
  email: string,
  request: EnsureTenantRequest,
  tenant: Tenant | null,
): Promise<DeclaredOwner> {
  const existing = await deps.users.findByEmail(email);
  if (existing === null) return makeOwner(deps, email, request);
  if (tenant?.ownerId === existing.id) return { user: existing, isNew: false };
  if (!existing.isActive) throw engramError('ConflictError', "The owner's account is inactive.");
  if (existing.isVerified) return { user: existing, isNew: false };
  throw engramError(
    'OwnerUnverified',
    "The owner's e-mail address has an account that has not proved it: verify the address, or name another one.",
  );
}

async function makeOwner(deps: AuthDependencies, email: string, request: EnsureTenantRequest): Promise<DeclaredOwner> {
  const passwordHash = await passwordHashOf(deps, request);
  try {
    const user = await createUser(deps, { email, passwordHash, isSuperuser: false, isVerified: true }, null, {
      ...{ writes: () => [], details: { resource: request.crUid } },
    });
    return { user, isNew: true };
  } catch (error) {
    if (!(error instanceof DuplicateKeyError)) throw error;
    throw engramError('ConflictError', "The owner's account is being made.", { retryable: true, cause: error });
  }
}

async function passwordHashOf(
  { passwords, settings }: AuthDependencies,
  { ownerPasswordHash, ownerPassword }: EnsureTenantRequest,
): Promise<string> {
  if (ownerPasswordHash !== undefined) {
    if (PASSWORD_HASH.test(ownerPasswordHash)) return ownerPasswordHash;
    throw invalid('The password hash of the owner is neither argon2id nor bcrypt.');
  }
  if (ownerPassword === undefined) throw invalid("The owner's account is new and needs a password.");
  const reason = passwordProblem(ownerPassword, settings);
  if (reason !== null) throw invalid(`The owner's password cannot be used. ${reason}`);
  return passwords.hash(ownerPassword);
}

function invalid(message: string) {
  return engramError('InvalidRequestError', message);
}
