import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { engramError } from '../../kernel/errors.ts';
import { isPublicAddress } from './public-address.ts';

interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** Name → addresses; the default asks the system, as `/etc/hosts` has a say there too. */
export type ResolveHost = (host: string) => Promise<readonly ResolvedAddress[]>;

/** A URL that may be fetched, with the addresses that were checked: the connection must go to one of these and no other. */
export interface CheckedTarget {
  readonly url: URL;
  readonly addresses: readonly ResolvedAddress[];
}

export interface TargetRules {
  /** Whether a connection may go there. */
  readonly isAllowed: (address: string) => boolean;
  readonly resolve: ResolveHost;
  /** Creates the error for a host that is not allowed or, with `cause`, was not resolved. The default names the host. */
  readonly refusal?: (url: URL, cause?: unknown) => Error;
}

/**
 * Ports above 1023 on which well-known services speak something else than HTTP; browsers refuse most of them too, the data stores are
 * added because their line protocols can be talked to by an HTTP request.
 */
const REFUSED_PORTS = new Set([
  1719, 1720, 1723, 2049, 3306, 3389, 3659, 4045, 4190, 5060, 5061, 5432, 5900, 6000, 6379, 6566, 6665, 6666, 6667,
  6668, 6669, 6679, 6697, 10080, 11211, 27017,
]);

/** Errors: `SSRFProtectionError`. The name is resolved here once; nothing may resolve it a second time. */
export async function checkTarget(address: string | URL, rules: TargetRules): Promise<CheckedTarget> {
  const url = parseUrl(address);
  const host = bare(url.hostname);
  if (url.username !== '' || url.password !== '')
    throw refused(`URL host '${host}' is given with credentials, which are not accepted.`);
  if (isIP(host) !== 0) {
    if (!rules.isAllowed(host)) throw rules.refusal?.(url) ?? nonPublicHost(url);
    checkPort(url, host);
    return { url, addresses: [{ address: host, family: isIP(host) === 6 ? 6 : 4 }] };
  }
  const addresses = await resolvePublic(url, rules);
  checkPort(url, host);
  return { url, addresses };
}

function parseUrl(address: string | URL): URL {
  const url = URL.parse(String(address));
  if (url === null) throw refused('The URL is not valid.');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw refused(`URL scheme '${url.protocol.replace(':', '')}' is not accepted; only http and https are.`);
  }
  return url;
}

function checkPort(url: URL, host: string): void {
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  if (port === 80 || port === 443 || (port >= 1_024 && !REFUSED_PORTS.has(port))) return;
  throw refused(`Port ${port} of URL host '${host}' is blocked.`);
}

/** One bad address among good ones refuses the host: a name that answers with both is an attack or a mistake. */
async function resolvePublic(url: URL, { resolve, isAllowed, refusal }: TargetRules) {
  const host = url.hostname;
  let addresses: readonly ResolvedAddress[];
  try {
    addresses = await resolve(host);
  } catch (error) {
    const unresolved = `Could not resolve URL host '${host}'.`;
    throw refusal?.(url, error) ?? engramError('SSRFProtectionError', unresolved, { cause: error });
  }
  if (addresses.length === 0) throw refusal?.(url) ?? refused(`Could not resolve URL host '${host}'.`);
  if (addresses.every(({ address }) => isAllowed(address))) return addresses;
  // Without the address: it would disclose the network of this server.
  throw refusal?.(url) ?? refused(`URL host '${host}' resolves to a non-public address and is blocked.`);
}

export function nonPublicHost({ hostname }: URL): Error {
  return refused(`URL host '${bare(hostname)}' points to a non-public address and is blocked.`);
}

/** IPv6 without its brackets. */
function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}

export async function resolveBySystem(host: string): Promise<readonly ResolvedAddress[]> {
  const found = await lookup(host, { all: true, order: 'ipv4first' });
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
}

function refused(message: string): Error {
  return engramError('SSRFProtectionError', message);
}

/**
 * `fetch` to servers that the operator named, such as identity providers, and to those that they name. Without
 * `allowPrivateNetwork` to public addresses only; no redirect is followed, and time limits come with `init.signal`. The name is
 * resolved again by `fetch`: unlike a user's URL, the server behind it is trusted not to play with its own address.
 * Errors: `SSRFProtectionError`, and what `fetch` throws.
 */
export function createProviderFetch() {
  return async (url: string, init: RequestInit, { allowPrivateNetwork }: { readonly allowPrivateNetwork: boolean }) => {
    if (!allowPrivateNetwork) await checkTarget(url, { isAllowed: isPublicAddress, resolve: resolveBySystem });
    return fetch(url, { ...init, redirect: 'manual' });
  };
}
