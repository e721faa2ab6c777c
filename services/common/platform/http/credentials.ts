import type { IncomingHttpHeaders } from 'node:http';
import type { Identity } from '../messaging/identify.ts';
import type { Credential, RequestOf } from '../messaging/messages.ts';
import type { CallContext } from '../messaging/messenger.ts';

/** Asks the auth service; the composition root passes the bus call. */
export type Authenticate = (
  credentials: readonly Credential[],
  strict: boolean,
  context: CallContext,
  circumstances?: Circumstances,
) => Promise<Identity>;

/** See `RequestOf<'auth.Authenticate'>`. */
type Circumstances = Pick<RequestOf<'auth.Authenticate'>, 'host' | 'unattended'>;

/** Everything a request presents, in the order in which it is tried: key header, Bearer, cookie. */
export function credentialsOf(headers: IncomingHttpHeaders, cookieName: string): Credential[] {
  const credentials: Credential[] = [];
  const key = headers['x-api-key'];
  if (typeof key === 'string' && key.trim() !== '') credentials.push({ kind: 'api-key', value: key.trim() });
  const bearer = /^bearer\s+(\S+)\s*$/i.exec(headers.authorization ?? '')?.[1];
  if (bearer !== undefined) credentials.push({ kind: 'bearer', value: bearer });
  const cookie = cookieValue(headers.cookie, cookieName);
  if (cookie !== null) credentials.push({ kind: 'cookie', value: cookie });
  return credentials;
}

/** A browser cannot set headers on a socket, so `?token=` carries a token or an API key there. */
export function socketCredentialsOf(headers: IncomingHttpHeaders, cookieName: string, token: string | null) {
  const credentials = credentialsOf(headers, cookieName);
  return token === null || token === '' ? credentials : [...credentials, { kind: 'bearer' as const, value: token }];
}

function cookieValue(header: string | undefined, name: string): string | null {
  for (const pair of (header ?? '').split(';')) {
    const at = pair.indexOf('=');
    if (at > 0 && pair.slice(0, at).trim() === name) {
      const value = pair
        .slice(at + 1)
        .trim()
        .replace(/^"(.*)"$/, '$1');
      if (value !== '') return value;
    }
  }
  return null;
}
