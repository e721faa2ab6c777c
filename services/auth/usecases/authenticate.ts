import type { PresentedKey, Principal } from '../../common/domain/principal.ts';
import type { Credential } from '../../common/messaging/methods/auth.ts';
import { type ApiKey, hasExpired, presentedKey } from '../../common/repositories/api-keys.ts';
import { principalOf, type User } from '../../common/repositories/users.ts';
import { apiKeyHash, isApiKeyText } from '../credentials/api-key-text.ts';
import { cacheKey } from '../credentials/principal-cache.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { ensureDefaultUser } from './default-user.ts';
import { isAdmitted } from './is-admitted.ts';
import { ownerOfIssuerToken } from './issuer-token.ts';

/** `lastUsedAt` of a key is renewed at most this often. */
const LAST_USED_STEP_MS = 5 * 60_000;
const ANONYMOUS = 'anonymous';

export interface AuthenticateRequest {
  /** In the order they are tried; one that is refused falls through to the next. */
  readonly credentials: readonly Credential[];
  /** Demands a credential even where the posture does not. */
  readonly strict?: boolean;
}

/** Who a request acts for; null when nobody. Where no credential is required, the default account stands in. */
export async function authenticate(
  deps: AuthDependencies,
  { credentials, strict = false }: AuthenticateRequest,
): Promise<Principal | null> {
  for (const credential of credentials) {
    const principal = await cached(deps, cacheKey(credential), () => ownerOf(deps, credential));
    if (principal !== null) return principal;
  }
  if (strict || deps.settings.posture.required) return null;
  return cached(deps, ANONYMOUS, async () => ({ user: await ensureDefaultUser(deps), endsAt: null }));
}

/** What a credential stands for. */
interface Owner {
  readonly user: User;
  /** When the credential ends by itself; it is not remembered for longer. */
  readonly endsAt: Date | null;
  readonly key?: PresentedKey;
}

async function cached(
  deps: AuthDependencies,
  key: string,
  find: () => Promise<Owner | null>,
): Promise<Principal | null> {
  const { cache, clock } = deps;
  const known = cache.get(key);
  if (known !== null) return known;
  const lookUp = cache.lookUp();
  const owner = await find();
  if (owner === null || !(await isAdmitted(deps, owner.user))) return null;
  const { user, endsAt, key: presented } = owner;
  const principal = { ...principalOf(user), ...(presented === undefined ? {} : { key: presented }) };
  cache.put(key, principal, lookUp, endsAt === null ? undefined : endsAt.getTime() - clock.now().getTime());
  return principal;
}

async function ownerOf(deps: AuthDependencies, { kind, value }: Credential): Promise<Owner | null> {
  // A shipped client sends its API key as Bearer.
  const isKey = kind === 'api-key' || (kind === 'bearer' && isApiKeyText(value));
  if (isKey) return ownerOfApiKey(deps, value);
  const owner = await ownerOfToken(deps, value);
  return owner === null && kind === 'bearer' ? ownerOfIssuerToken(deps, value) : owner;
}

async function ownerOfApiKey(deps: AuthDependencies, text: string): Promise<Owner | null> {
  if (!isApiKeyText(text)) return null;
  const key = await deps.apiKeys.findByHash(apiKeyHash(text));
  if (key === null || hasExpired(key, deps.clock.now())) return null;
  const user = await deps.users.get(key.userId);
  if (user === null) return null;
  if (user.isActive) await renewLastUse(deps, key);
  return { user, key: presentedKey(key), endsAt: key.expiresAt === null ? null : new Date(key.expiresAt) };
}

async function renewLastUse({ apiKeys, clock, logger }: AuthDependencies, key: ApiKey): Promise<void> {
  const now = clock.now();
  if (key.lastUsedAt !== null && now.getTime() - Date.parse(key.lastUsedAt) < LAST_USED_STEP_MS) return;
  try {
    await apiKeys.touch(key, now.toISOString());
  } catch (error) {
    // Whatever is wrong with writing, it must not turn a valid key away.
    logger.warn('auth.api_key.last_use_not_stored', { error, keyId: key.id });
  }
}

async function ownerOfToken(deps: AuthDependencies, token: string): Promise<Owner | null> {
  const claims = await deps.tokens.read(token);
  if (claims === null) return null;
  const [user, isRevoked] = await Promise.all([deps.users.get(claims.userId), deps.revokedTokens.has(claims.tokenId)]);
  if (user === null || isRevoked || !deps.tokens.isCurrent(claims, user)) return null;
  return { user, endsAt: claims.expiresAt };
}
