import type { TenantId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { PresentedKey, Principal } from '../../common/kernel/principal.ts';
import type { Credential } from '../../common/platform/messaging/messages.ts';
import { type ApiKey, hasExpired, presentedKey } from '../../common/records/auth/api-keys.ts';
import { principalOf, type User } from '../../common/records/auth/users.ts';
import { belongsTo, isAdmitted } from '../access/admission.ts';
import { ensureDefaultUser } from '../accounts/default-user.ts';
import { apiKeyHash, isApiKeyText } from '../credentials/api-key-text.ts';
import { cacheKey, type PrincipalCache } from '../credentials/principal-cache.ts';
import type { TenantCache } from '../credentials/tenant-cache.ts';
import type { OidcDependencies } from '../oidc/oidc-client.ts';
import { ownerOfIssuerToken } from '../oidc/provider-access.ts';

export interface AuthenticateDependencies extends OidcDependencies {
  readonly cache: PrincipalCache;
  readonly tenantCache: TenantCache;
}

/** `lastUsedAt` of a key is renewed at most this often. */
const LAST_USED_STEP_MS = 5 * 60_000;
const ANONYMOUS = 'anonymous';

export interface AuthenticateRequest {
  /** In the order they are tried; one that is refused falls through to the next. */
  readonly credentials: readonly Credential[];
  /** Demands a credential even where the posture does not. */
  readonly strict?: boolean | undefined;
  /**
   * Host name of the request, lower case and without port, where host names select tenants: that of a tenant's is a request
   * in the tenant.
   */
  readonly host?: string | undefined;
}

/** The way in: under the host name of a tenant, under another one (null), or where host names do not matter (undefined). */
type Entrance = TenantId | null | undefined;

/**
 * Who a request acts for; null when nobody. Where no credential is required, the default account stands in, though never
 * for an API key that is not valid, nor under the host name of a tenant. `PermissionDeniedError` there for somebody who does not belong to the tenant.
 */
export async function authenticate(
  deps: AuthenticateDependencies,
  { credentials, strict = false, host }: AuthenticateRequest,
): Promise<Principal | null> {
  const entrance: Entrance = host === undefined ? undefined : await deps.tenantCache.byHostName(host);
  let isStranger = false;
  for (const credential of credentials) {
    const found = await cached(deps, cacheKey(credential), { entrance, find: () => ownerOf(deps, credential) });
    if (found === STRANGER) isStranger = true;
    else if (found !== null) return found;
  }
  if (isStranger) {
    throw engramError('PermissionDeniedError', 'This account does not belong to the tenant of this host name.');
  }
  if (strict || deps.settings.posture.required || typeof entrance === 'string') return null;
  // Who sends a key means an account; as the default one the request would see and change the memory of somebody else.
  if (credentials.some(isApiKey)) return null;
  const find = async () => ({ user: await ensureDefaultUser(deps), endsAt: null });
  const found = await cached(deps, ANONYMOUS, { entrance, find });
  return found === STRANGER ? null : found;
}

/** What a credential stands for. */
interface Owner {
  readonly user: User;
  /** When the credential ends by itself; it is not remembered for longer. */
  readonly endsAt: Date | null;
  readonly key?: PresentedKey;
}

/** A valid credential of somebody who has no business in the tenant of the host name. */
const STRANGER = 'stranger';

interface Search {
  readonly entrance: Entrance;
  readonly find: () => Promise<Owner | null>;
}

async function cached(
  deps: AuthenticateDependencies,
  credential: string,
  { entrance, find }: Search,
): Promise<Principal | typeof STRANGER | null> {
  const { cache, clock } = deps;
  const key = entrance === undefined ? credential : `${entrance ?? ''} ${credential}`;
  const known = cache.get(key);
  if (known !== null) return known;
  const lookUp = cache.lookUp();
  const owner = await find();
  if (owner === null || !(await isAdmitted(deps, owner.user))) return null;
  const principal = await principalAt(deps, owner, entrance);
  if (principal === null || principal === STRANGER) return principal;
  const { endsAt } = owner;
  cache.put(key, principal, lookUp, endsAt === null ? undefined : endsAt.getTime() - clock.now().getTime());
  return principal;
}

async function principalAt(
  deps: AuthenticateDependencies,
  { user, key }: Owner,
  entrance: Entrance,
): Promise<Principal | typeof STRANGER | null> {
  const principal = { ...principalOf(user), ...(key === undefined ? {} : { key }) };
  if (key?.tenant !== undefined) {
    if (!(await opens(deps, key.tenant, entrance))) return null;
    // As the owner of the tenant, not as whatever else its owner is.
    return { ...principal, tenant: key.tenant, isSuperuser: false };
  }
  if (typeof entrance !== 'string') return principal;
  return (await belongsTo(deps, user, entrance)) ? { ...principal, tenant: entrance } : STRANGER;
}

/** Whether a tenant's key is accepted here: under its host names alone, where it has any. */
async function opens(
  { tenantCache }: AuthenticateDependencies,
  tenant: TenantId,
  entrance: Entrance,
): Promise<boolean> {
  if (entrance === undefined || entrance === tenant) return true;
  if (entrance !== null) return false;
  return (await tenantCache.get(tenant))?.hostNames.length === 0;
}

/** A shipped client sends its API key as Bearer. */
function isApiKey({ kind, value }: Credential): boolean {
  return kind === 'api-key' || (kind === 'bearer' && isApiKeyText(value));
}

async function ownerOf(deps: AuthenticateDependencies, credential: Credential): Promise<Owner | null> {
  const { kind, value } = credential;
  if (isApiKey(credential)) return ownerOfApiKey(deps, value);
  const owner = await ownerOfToken(deps, value);
  return owner === null && kind === 'bearer' ? ownerOfIssuerToken(deps, value) : owner;
}

async function ownerOfApiKey(deps: AuthenticateDependencies, text: string): Promise<Owner | null> {
  if (!isApiKeyText(text)) return null;
  const key = await deps.apiKeys.findByHash(apiKeyHash(text));
  if (key === null || hasExpired(key, deps.clock.now())) return null;
  const user = await userOfKey(deps, key);
  if (user === null) return null;
  if (user.isActive) await renewLastUse(deps, key);
  return { user, key: presentedKey(key), endsAt: key.expiresAt === null ? null : new Date(key.expiresAt) };
}

/** A tenant's key acts as whoever owns the tenant now. */
async function userOfKey({ users, tenantCache }: AuthenticateDependencies, { userId, tenant }: ApiKey) {
  if (tenant === null) return users.get(userId);
  const ownerId = (await tenantCache.get(tenant))?.ownerId ?? null;
  return ownerId === null ? null : users.get(ownerId);
}

async function renewLastUse({ apiKeys, clock, logger }: AuthenticateDependencies, key: ApiKey): Promise<void> {
  const now = clock.now();
  if (key.lastUsedAt !== null && now.getTime() - Date.parse(key.lastUsedAt) < LAST_USED_STEP_MS) return;
  try {
    await apiKeys.touch(key, now.toISOString());
  } catch (error) {
    // Whatever is wrong with writing, it must not turn a valid key away.
    logger.warn('auth.api_key.last_use_not_stored', { error, keyId: key.id });
  }
}

async function ownerOfToken(deps: AuthenticateDependencies, token: string): Promise<Owner | null> {
  const claims = await deps.tokens.read(token);
  if (claims === null) return null;
  const [user, isRevoked] = await Promise.all([deps.users.get(claims.userId), deps.revokedTokens.has(claims.tokenId)]);
  if (user === null || isRevoked || !deps.tokens.isCurrent(claims, user)) return null;
  return { user, endsAt: claims.expiresAt };
}
