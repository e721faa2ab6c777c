import { hash } from 'node:crypto';
import { credentialsOf } from '../../common/platform/http/credentials.ts';
import { ATTEMPT_LIFETIME_SECONDS } from '../oidc/oidc-start-sign-in.ts';

/** Browsers refuse larger ones. */
const MAX_ID_TOKEN_LENGTH = 3_800;

/** One for each sign-in under way, so that two tabs do not disturb each other. */
export function attemptCookieName(state: string): string {
  return `engram_sign_in_${hash('sha256', state, 'hex').slice(0, 16)}`;
}

/** Sent with the way back, which is a navigation from another site: Lax, not Strict. */
export function attemptCookie(state: string, secret: string, publicUrl: string): string {
  return `${attemptCookieName(state)}=${secret}; ${attributes(publicUrl)}; Max-Age=${ATTEMPT_LIFETIME_SECONDS}`;
}

export function clearedAttemptCookie(state: string, publicUrl: string): string {
  return `${attemptCookieName(state)}=; ${attributes(publicUrl)}; Max-Age=0`;
}

/** Kept by the browser that it is about, for the provider's logout page: some want it as proof of who signs out. */
export function idTokenCookie(provider: string, idToken: string, publicUrl: string): readonly string[] {
  if (idToken.length > MAX_ID_TOKEN_LENGTH) return [];
  return [`${idTokenCookieName(provider)}=${idToken}; ${attributes(publicUrl)}`];
}

export function clearedIdTokenCookie(provider: string, publicUrl: string): string {
  return `${idTokenCookieName(provider)}=; ${attributes(publicUrl)}; Max-Age=0`;
}

export function idTokenCookieName(provider: string): string {
  return `engram_id_token_${provider}`;
}

export function cookieValue(cookie: string | undefined, name: string): string | null {
  const [found] = cookie === undefined ? [] : credentialsOf({ cookie }, name);
  return found?.value ?? null;
}

function attributes(publicUrl: string): string {
  const { pathname, protocol } = new URL(publicUrl);
  const path = `${pathname.replace(/\/$/, '')}/api/v1/auth/oidc`;
  return `HttpOnly; Path=${path}; SameSite=Lax${protocol === 'https:' ? '; Secure' : ''}`;
}
