import type { UserId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import { NO_PASSWORD, type User } from '../../common/records/auth/users.ts';
import { DuplicateKeyError } from '../../common/storage/ports/document-store.ts';
import { createUser, isReservedAddress } from '../accounts/account.ts';
import { type LinkedIdentity, linkedIdentitiesCollection } from '../repositories/linked-identities.ts';
import { isWithinDomains, type OidcDependencies, type ProvenIdentity, verifiedAddress } from './oidc-client.ts';

export interface LinkedAccount {
  readonly user: User;
  readonly link: LinkedIdentity;
  /** The account was linked or created just now. */
  readonly isNew: boolean;
}

/**
 * Returns the active account of an identity: the linked one, else the one with the verified address, else a new one if the
 * provider may create accounts.
 *
 * An address alone gives access to an account only when both sides have verified it: a provider that lets users claim any
 * address must not give access to the accounts of others, and a person who registered here with somebody else's address must
 * not share the account with its owner. Errors: `PermissionDeniedError`, `ConflictError` for an account that cannot be
 * linked.
 */
export async function accountOf(deps: OidcDependencies, identity: ProvenIdentity): Promise<LinkedAccount> {
  // Another request may have created or changed the account or the link meanwhile.
  return retryOnConflict(async () => {
    const linked = (await findLinked(deps, identity)) ?? (await linkByAddress(deps, identity));
    if (!linked.user.isActive) throw refused('This account is not active.');
    return linked;
  });
}

async function findLinked({ linkedIdentities, users }: OidcDependencies, { issuer, subject }: ProvenIdentity) {
  const link = await linkedIdentities.find(issuer, subject);
  if (link === null) return null;
  const user = await users.get(link.userId);
  // Accounts are removed together with their links.
  if (user === null) throw refused('This account is being removed.');
  return { user, link, isNew: false };
}

async function linkByAddress(deps: OidcDependencies, identity: ProvenIdentity): Promise<LinkedAccount> {
  const { provider, claims } = identity;
  const address = verifiedAddress(claims);
  if (address === null) throw refused(`${provider.title} does not vouch for your e-mail address.`);
  const isAllowed = isWithinDomains(address, provider.emailDomains) && !isReservedAddress(deps.settings, address);
  if (!isAllowed) throw refused(`Your e-mail address cannot be used to sign in with ${provider.title}.`);
  const user = await deps.users.findByEmail(address);
  if (user !== null) {
    // Addresses that differ in case only count as the same account here, but their mailboxes may be different.
    if (user.email.toLowerCase() !== address.toLowerCase()) throw lookAlike();
    return linkExisting(deps, identity, user);
  }
  if (!provider.provision) throw refused('There is no account with your e-mail address. Ask an administrator for one.');
  return createAccount(deps, identity, address);
}

async function linkExisting(deps: OidcDependencies, identity: ProvenIdentity, user: User): Promise<LinkedAccount> {
  const { provider, issuer, subject } = identity;
  if (!user.isActive) throw refused('This account is not active.');
  if (!user.isVerified) {
    throw engramError(
      'ConflictError',
      `An account with your e-mail address exists, but it is not verified. Verify the address, or have the account removed, and sign in with ${provider.title} again.`,
    );
  }
  const link = linkOf(deps, identity, user.id);
  const entry = {
    tenant: PERSONAL_TENANT,
    action: 'user.changed',
    actor: user.id,
    subject: user.id,
    details: { linked_identity: provider.name, issuer, subject_at_issuer: subject },
  };
  try {
    // Written back unchanged: the commit conflicts unless the account is still verified and active.
    const writes = [deps.users.replaceWrite(user), deps.linkedIdentities.insertWrite(link)];
    await deps.audit.commit({ tenant: PERSONAL_TENANT }, writes, [entry]);
  } catch (error) {
    if (!isOtherPerson(error)) throw error;
    throw engramError(
      'ConflictError',
      `The account with your e-mail address belongs to another person at ${provider.title}. Ask an administrator.`,
    );
  }
  return { user: { ...user, version: user.version + 1 }, link, isNew: true };
}

/** Creates an account with a verified address and no password: only the provider gives access to it. */
async function createAccount(deps: OidcDependencies, identity: ProvenIdentity, email: string): Promise<LinkedAccount> {
  const { provider, issuer } = identity;
  const account = { email, passwordHash: NO_PASSWORD, isSuperuser: false, isVerified: true };
  const user = await createUser(deps, account, null, {
    writes: (id) => [deps.linkedIdentities.insertWrite(linkOf(deps, identity, id))],
    details: { provider: provider.name, issuer },
  });
  return { user, link: linkOf(deps, identity, user.id), isNew: true };
}

function linkOf({ clock }: OidcDependencies, { issuer, subject }: ProvenIdentity, userId: UserId): LinkedIdentity {
  return { issuer, subject, userId, joinedTenants: [], createdAt: clock.now().toISOString() };
}

/** Whether the account has another identity of the issuer: the address was passed on to another person. */
function isOtherPerson(error: unknown): boolean {
  return (
    error instanceof DuplicateKeyError &&
    error.collection === linkedIdentitiesCollection.name &&
    error.index.includes('userId')
  );
}

function lookAlike(): Error {
  return engramError(
    'ConflictError',
    'There is an account with an address that looks like yours. Ask an administrator.',
  );
}

function refused(message: string): Error {
  return engramError('PermissionDeniedError', message);
}
