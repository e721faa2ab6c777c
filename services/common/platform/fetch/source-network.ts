import type { SourceNetwork } from '../../ports/source-network.ts';
import { sendChecked } from './checked-request.ts';
import { limitedBody } from './limited-body.ts';
import { isPublicAddress } from './public-address.ts';
import { checkTarget, resolveBySystem, type TargetRules } from './target-guard.ts';

const TIMEOUT_MS = 60_000;

/** `SourceNetwork` over `node:http`, with the checks of `createGuardedFetcher`. */
export function createSourceNetwork(listedHosts: readonly string[]): SourceNetwork {
  const rulesOf = (host: string): TargetRules => ({
    isAllowed: listedHosts.includes(host) ? () => true : isPublicAddress,
    resolve: resolveBySystem,
  });
  return {
    async send(url, { method, headers, body, maxBytes, signal }) {
      const rules = rulesOf(url.hostname);
      const bounded = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
      const request = { method, headers, signal: bounded, ...(body === undefined ? {} : { body }) };
      const response = await sendChecked(await checkTarget(url, rules), request, rules);
      const limits = { maxBytes, timeoutMs: TIMEOUT_MS, signal: bounded, name: url.pathname };
      return {
        status: response.statusCode ?? 0,
        headers: response.headers,
        body: limitedBody(response, limits),
      };
    },
    async addressOf(host) {
      const { addresses } = await checkTarget(`https://${host}/`, rulesOf(host));
      return addresses[0]?.address ?? host;
    },
    isListed: (host) => listedHosts.includes(host),
  };
}
