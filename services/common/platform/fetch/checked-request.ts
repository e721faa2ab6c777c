import type { ClientRequest, IncomingMessage } from 'node:http';
import type { LookupFunction } from 'node:net';
import { type CheckedTarget, nonPublicHost, type TargetRules } from './target-guard.ts';

interface CheckedRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly signal?: AbortSignal;
}

/**
 * Sends a request to a target that `checkTarget` gave: the connection goes to the address that was checked, so a name that changes
 * its answer in between gains nothing. No redirects, no cookies, no proxies, a fresh connection each time. Errors:
 * `SSRFProtectionError`, those of `node:http`.
 */
export function sendChecked(
  { url, addresses }: CheckedTarget,
  { method, headers, body, signal }: CheckedRequest,
  { isAllowed, refusal = nonPublicHost }: TargetRules,
): Promise<IncomingMessage> {
  // With the first request: TLS would cost each start 20 ms.
  const { request } = process.getBuiltinModule(url.protocol === 'https:' ? 'node:https' : 'node:http');
  return new Promise((resolve, reject) => {
    const sent: ClientRequest = request(url, {
      method,
      agent: false,
      lookup: pinned(addresses),
      ...(signal === undefined ? {} : { signal }),
      maxHeaderSize: 32 * 1024,
      headers,
    });
    sent.once('response', resolve);
    sent.once('error', reject);
    sent.once('socket', (socket) => {
      // A last look at where the connection really goes; pinning makes this true, and nothing but this makes it certain.
      socket.once('connect', () => {
        if (!isAllowed(socket.remoteAddress ?? '')) sent.destroy(refusal(url));
      });
    });
    sent.end(body);
  });
}

/** A resolver that knows only the addresses that were checked. */
function pinned(addresses: CheckedTarget['addresses']): LookupFunction {
  return (_host, options, callback) => {
    const [first] = addresses;
    if (first === undefined) callback(new Error('no address'), []);
    else if (options.all === true) callback(null, [...addresses]);
    else callback(null, first.address, first.family);
  };
}
