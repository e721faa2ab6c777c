import { isPublicAddress } from './public-address.ts';
import { checkTarget, type ResolveHost, resolveBySystem } from './target-guard.ts';

/**
 * `fetch` to servers that the operator named, such as identity providers, and to those that they name. Without
 * `allowPrivateNetwork` to public addresses only; no redirect is followed, and time limits come with `init.signal`. The name is
 * resolved again by `fetch`: unlike a user's URL, the server behind it is trusted not to play with its own address.
 * Errors: `SSRFProtectionError`, and what `fetch` throws.
 */
export function createProviderFetch(resolve: ResolveHost = resolveBySystem) {
  return async (
    url: string,
    init: RequestInit,
    { allowPrivateNetwork }: { readonly allowPrivateNetwork: boolean },
  ): Promise<Response> => {
    if (!allowPrivateNetwork) await checkTarget(url, { isAllowed: isPublicAddress, resolve });
    return fetch(url, { ...init, redirect: 'manual' });
  };
}
