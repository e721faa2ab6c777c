import { randomBytes } from 'node:crypto';
import { sha256 } from '../../common/kernel/hashes.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import { VersionConflictError } from '../../common/storage/ports/document-store.ts';
import type { SourceDependencies } from '../dependencies.ts';
import type { Connector, OAuthSteps } from '../providers/connector.ts';
import { isSignature, signatureOf } from '../providers/signature.ts';
import { AlreadyConnectedError, connectingOf, storeConnection } from './connect.ts';

const LIFETIME_SECONDS = 600;
const COOKIE_PATH = '/api/v1/integrations';

/** Steps of a connector that is connected over OAuth; 400 for one that is connected with an address. */
export function oauthOf({ oauth, provider, capabilities: { address = 'an address' } }: Connector): OAuthSteps {
  if (oauth !== undefined) return oauth;
  throw new HttpError(400, {
    detail: `${provider} is connected with ${address}: POST /integrations/${provider}/connect.`,
  });
}

/** Begins an install: where the browser goes, and the cookie that it brings back. */
export async function beginInstall(
  { store, events, clock }: SourceDependencies,
  connector: Connector,
  principal: Principal,
  isSecure: boolean,
) {
  const oauth = oauthOf(connector);
  const { provider } = connector;
  const nonce = randomBytes(32).toString('base64url');
  const codeVerifier = randomBytes(32).toString('base64url');
  const expiry = Math.floor(clock.now().getTime() / 1000) + LIFETIME_SECONDS;
  const expiresAt = new Date(expiry * 1000).toISOString();
  const install = { nonce, provider, ...connectingOf(principal), codeVerifier, expiresAt };
  await store.commit({ tenant: principal.tenant }, [events.installWrite(install)]);
  const signed = `${principal.id}:${nonce}:${expiry}`;
  const state = `${signed}:${signatureOf(oauth.stateSecret, Buffer.from(signed))}`;
  const codeChallenge = sha256(codeVerifier, 'base64url');
  return {
    authorizeUrl: oauth.authorizeUrl({ state, codeChallenge }),
    cookie: `${cookieName(provider, nonce)}=1; HttpOnly; Max-Age=${LIFETIME_SECONDS}; Path=${COOKIE_PATH}; SameSite=lax${isSecure ? '; Secure' : ''}`,
  };
}

type InstallOutcome =
  | 'connected'
  | 'cancelled'
  | 'error_invalid_state'
  | 'error_already_connected'
  | 'error_exchange_failed';

/** Finishes an install, once. `cookie` clears that of a nonce that matched. */
export async function finishInstall(
  dependencies: SourceDependencies,
  connector: Connector,
  request: {
    readonly query: Readonly<Record<string, string>>;
    readonly cookies: string | undefined;
    readonly signal: AbortSignal;
  },
): Promise<{ readonly outcome: InstallOutcome; readonly cookie?: string }> {
  const { store, events, clock, logger } = dependencies;
  const oauth = oauthOf(connector);
  const { provider } = connector;
  const { query, signal } = request;
  if (query['error'] !== undefined) return { outcome: 'cancelled' };
  const nowMs = clock.now().getTime();
  const nonce = nonceOf(oauth, query['state'] ?? '', nowMs);
  if (nonce === null || !hasCookie(request.cookies, cookieName(provider, nonce)))
    return { outcome: 'error_invalid_state' };
  const cookie = `${cookieName(provider, nonce)}=""; HttpOnly; Max-Age=0; Path=${COOKIE_PATH}; SameSite=lax`;
  const install = await events.getInstall(nonce);
  if (install === null || install.provider !== provider) return { outcome: 'error_invalid_state', cookie };
  try {
    await store.commit({ tenant: install.tenant }, [events.finishWrite(nonce)]);
    const account = await oauth.exchange({ query, codeVerifier: install.codeVerifier, signal });
    const { userId, tenant, keyId } = install;
    await storeConnection(dependencies, connector, { userId, tenant, keyId }, account);
    return { outcome: 'connected', cookie };
  } catch (error) {
    if (error instanceof VersionConflictError) return { outcome: 'error_invalid_state', cookie };
    if (error instanceof AlreadyConnectedError) return { outcome: 'error_already_connected', cookie };
    logger.warn('source.exchange.failed', { provider, error });
    return { outcome: 'error_exchange_failed', cookie };
  }
}

/** The nonce of a state that this server signed and that is not too old; else null. */
function nonceOf(oauth: OAuthSteps, state: string, nowMs: number): string | null {
  const end = state.lastIndexOf(':');
  const signed = state.slice(0, Math.max(0, end));
  if (!isSignature(state.slice(end + 1), oauth.stateSecret, Buffer.from(signed))) return null;
  const [, nonce = '', expiry = ''] = signed.split(':');
  return Number(expiry) * 1000 >= nowMs ? nonce : null;
}

function cookieName(provider: string, nonce: string): string {
  return `cognee_oauth_nonce_${provider}_${nonce}`;
}

function hasCookie(cookies: string | undefined, name: string): boolean {
  return (cookies ?? '').split(';').some((cookie) => cookie.trim().startsWith(`${name}=`));
}
