import type { IncomingMessage } from 'node:http';

/** Returns the host of a `Host` header or an address: without port, brackets and final dot, in lower case. */
export function hostName(host: string): string {
  const name = host.trim().toLowerCase();
  if (name.startsWith('[')) return name.slice(1, Math.max(name.indexOf(']'), 1));
  // A bare IPv6 address has several colons and no port.
  return name.split(':').length > 2 ? name : (name.split(':', 1)[0] ?? '').replace(/\.$/, '');
}

/** Two servers on the way may each believe another one of them; HTTP demands that such a request is refused with 400. */
export function hasSeveralHosts({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): boolean {
  return rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length > 1;
}

export const SEVERAL_HOSTS = 'The request has more than one Host header.';

export interface ServerAddress {
  /** Address under which clients reach the server; null: it is not configured. */
  readonly publicUrl: string | null;
  /** Hosted mode: tenants have host names of their own. */
  readonly selectsTenantByHost: boolean;
}

/** Returns the address of the server as the client of a request knows it, without trailing slash. */
export function serverAddress({ publicUrl, selectsTenantByHost }: ServerAddress, host: string | undefined): string {
  const configured = new URL(publicUrl ?? `http://${host ?? 'localhost'}`);
  if (selectsTenantByHost && host !== undefined && URL.canParse(`${configured.protocol}//${host}`)) {
    return `${configured.protocol}//${host}`;
  }
  return `${configured.origin}${configured.pathname.replace(/\/+$/u, '')}`;
}
