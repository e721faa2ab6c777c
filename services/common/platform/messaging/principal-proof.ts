import type { MonotonicClock } from '../../ports/system.ts';
import { TOKEN_LIFETIME_MS } from './principal-tokens.ts';

/** Proves the principal of a context to other services, as long as the request lasts. */
export interface PrincipalProof {
  /** Resolves to a token that is valid for the next message. Throws the refusal of auth when it has to be asked again. */
  token(): Promise<string>;
}

/** A token is replaced after half its life, so that it outlives the message that carries it. */
const RENEW_AFTER_MS = TOKEN_LIFETIME_MS / 2;

/** Proves with one token: for work that ends long before the token does. */
export function fixedProof(token: string): PrincipalProof {
  return { token: async () => token };
}

/** Proves with tokens that `renew` replaces: for work that may outlive the first one. */
export function renewedProof(first: string, renew: () => Promise<string>, clock: MonotonicClock): PrincipalProof {
  let current = Promise.resolve(first);
  let askedAt = clock.monotonicMs();
  return {
    token() {
      if (clock.monotonicMs() - askedAt < RENEW_AFTER_MS) return current;
      askedAt = clock.monotonicMs();
      current = renew();
      current.catch(() => {
        askedAt = Number.NEGATIVE_INFINITY; // the next message asks again
      });
      return current;
    },
  };
}
