import type { TenantId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { PresentedKey, Principal } from '../../common/kernel/principal.ts';
import type { Credential } from '../../common/platform/messaging/messages.ts';
import { type ApiKey, hasExpired, presentedKey } from '../../common/records/auth/api-keys.ts';
import { principalOf, type User } from '../../common/records/auth/users.ts';
import { belongsTo, isAdmitted } from '../access/admission.ts';
import { ensureDefaultUser } from '../accounts/default-user.ts';
import { apiKeyHash, isApiKeyText } from '../credentials/api-key-text.ts';
import { cacheKey } from '../credentials/principal-cache.ts';
import type { OidcDependencies } from '../oidc/oidc-client.ts';
import { ownerOfIssuerToken } from '../oidc/provider-access.ts';

/** `lastUsedAt` of a key is updated at most this often. */
const LAST_USED_STEP_MS = 5 * 60_000;
const ANONYMOUS = 'anonymous';

interface AuthenticateRequest {
  /** Tried in this order; after a refused one the next is tried. */
  readonly credentials: readonly Credential[];
  /** Demands a credential even where the posture does not. */
  readonly strict?: boolean | undefined;
  /**
   * Host name of the request, lower case and without port, if host names select tenants: the host name of a tenant makes it a
   * request in that tenant.
   */
  readonly host?: string | undefined;
}

/** The tenant of the request's host name; null: of no tenant; undefined: host names do not select tenants. */
type HostTenant = TenantId | null | undefined;

/**
 * Returns the principal of a request; null: the request is not authenticated. In open mode a request without credentials uses
 * the default account, but never a request with an invalid API key or under the host name of a tenant.
 * `PermissionDeniedError` when the account does not belong to the tenant of the host name.
 */
export async function authenticate(
  deps: OidcDependencies,
  { credentials, strict = false, host }: AuthenticateRequest,
): Promise<Principal | null> {
  const hostTenant: HostTenant = host === undefined ? undefined : await deps.tenantCache.byHostName(host);
  let isStranger = false;
  for (const credential of credentials) {
    const found = await cached(deps, cacheKey(credential), { hostTenant, find: () => ownerOf(deps, credential) });
    if (found === STRANGER) isStranger = true;
    else if (found !== null) return found;
  }
  if (isStranger) {
    throw engramError('PermissionDeniedError', 'This account does not belong to the tenant of this host name.');
  }
  if (strict || deps.settings.posture.required || typeof hostTenant === 'string') return null;
  // An invalid key is not replaced by the default account: the request would see and change the data of another account.
  if (credentials.some(isApiKey)) return null;
  const find = async () => ({ user: await ensureDefaultUser(deps), endsAt: null });
  const found = await cached(deps, ANONYMOUS, { hostTenant, find });
  return found === STRANGER ? null : found;
}

/** The account of a credential. */
interface Owner {
  readonly user: User;
  /** When the credential expires; it is cached no longer than that. */
  readonly endsAt: Date | null;
  readonly key?: PresentedKey;
}

/** The credential is valid, but the account does not belong to the tenant of the host name. */
const STRANGER = 'stranger';

interface Search {
  readonly hostTenant: HostTenant;
  readonly find: () => Promise<Owner | null>;
}

async function cached(deps: OidcDependencies, credential: string, { hostTenant, find }: Search) {
  const { cache, clock } = deps;
  const key = hostTenant === undefined ? credential : `${hostTenant ?? ''} ${credential}`;
  const known = cache.get(key);
  if (known !== null) return known;
  const lookUp = cache.lookUp();
  const owner = await find();
  if (owner === null || !(await isAdmitted(deps, owner.user))) return null;
  const principal = await principalAt(deps, owner, hostTenant);
  if (principal === null || principal === STRANGER) return principal;
  const { endsAt } = owner;
  cache.put(key, principal, lookUp, endsAt === null ? undefined : endsAt.getTime() - clock.now().getTime());
  return principal;
}

async function principalAt(deps: OidcDependencies, { user, key }: Owner, hostTenant: HostTenant) {
  const principal = { ...principalOf(user), ...(key === undefined ? {} : { key }) };
  if (key?.tenant !== undefined) {
    if (!(await isAcceptedAt(deps, key.tenant, hostTenant))) return null;
    // With the rights of the tenant's owner, but not as a superuser.
    return { ...principal, tenant: key.tenant, isSuperuser: false };
  }
  if (typeof hostTenant !== 'string') return principal;
  return (await belongsTo(deps, user, hostTenant)) ? { ...principal, tenant: hostTenant } : STRANGER;
}

/** Whether a tenant's key is accepted: only under its host names, if it has any. */
async function isAcceptedAt({ tenantCache }: OidcDependencies, tenant: TenantId, hostTenant: HostTenant) {
  if (hostTenant === undefined || hostTenant === tenant) return true;
  if (hostTenant !== null) return false;
  return (await tenantCache.get(tenant))?.hostNames.length === 0;
}

/** Released clients send their API key as a bearer token. */
function isApiKey({ kind, value }: Credential): boolean {
  return kind === 'api-key' || (kind === 'bearer' && isApiKeyText(value));
}

async function ownerOf(deps: OidcDependencies, credential: Credential): Promise<Owner | null> {
  const { kind, value } = credential;
  if (isApiKey(credential)) return ownerOfApiKey(deps, value);
  const owner = await ownerOfToken(deps, value);
  return owner === null && kind === 'bearer' ? ownerOfIssuerToken(deps, value) : owner;
}

async function ownerOfApiKey(deps: OidcDependencies, text: string): Promise<Owner | null> {
  if (!isApiKeyText(text)) return null;
  const key = await deps.apiKeys.findByHash(apiKeyHash(text));
  if (key === null || hasExpired(key, deps.clock.now())) return null;
  const user = await userOfKey(deps, key);
  if (user === null) return null;
  if (user.isActive) await renewLastUse(deps, key);
  return { user, key: presentedKey(key), endsAt: key.expiresAt === null ? null : new Date(key.expiresAt) };
}

/** A tenant's key acts as the current owner of the tenant. */
async function userOfKey({ users, tenantCache }: OidcDependencies, { userId, tenant }: ApiKey) {
  if (tenant === null) return users.get(userId);
  const ownerId = (await tenantCache.get(tenant))?.ownerId ?? null;
  return ownerId === null ? null : users.get(ownerId);
}

async function renewLastUse({ apiKeys, clock, logger }: OidcDependencies, key: ApiKey): Promise<void> {
  const now = clock.now();
  if (key.lastUsedAt !== null && now.getTime() - Date.parse(key.lastUsedAt) < LAST_USED_STEP_MS) return;
  try {
    await apiKeys.touch(key, now.toISOString());
  } catch (error) {
    // A failed write must not refuse a valid key.
    logger.warn('auth.api_key.last_use_write_failed', { error, keyId: key.id });
  }
}

async function ownerOfToken(deps: OidcDependencies, token: string): Promise<Owner | null> {
  const claims = await deps.tokens.read(token);
  if (claims === null) return null;
  const [user, isRevoked] = await Promise.all([deps.users.get(claims.userId), deps.revokedTokens.has(claims.tokenId)]);
  if (user === null || isRevoked || !deps.tokens.isCurrent(claims, user)) return null;
  return { user, endsAt: claims.expiresAt };
}
