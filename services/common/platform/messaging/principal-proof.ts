import { engramError } from '../../kernel/errors.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { Clock } from '../../ports/system.ts';
import type { Closure, Credential, RequestOf } from './messages.ts';
import type { CallContext, Messenger } from './messenger.ts';
import { TOKEN_LIFETIME_MS } from './principal-tokens.ts';

/** auth's word on the principal of a context, as long as the request lasts. */
export interface PrincipalProof {
  /** A token that will do for this message. Throws what auth says when it has to be asked again. */
  token(): Promise<string>;
}

/** Who a request acts for, and the proof of it. */
export interface Identity {
  /** Null when no credential was accepted and the posture demands one. */
  readonly principal: Principal | null;
  readonly required: boolean;
  readonly posture: string;
  readonly proof?: PrincipalProof;
  /** Of the tenant that the principal works in; absent: it answers. */
  readonly tenantState?: Closure | null;
}

/** A token is replaced after half its life, so that it outlives the message that carries it. */
const RENEW_AFTER_MS = TOKEN_LIFETIME_MS / 2;

/**
 * Asks auth who credentials belong to. The proof asks again with the same
 * credentials when its token is old: one that was revoked meanwhile proves nothing any more.
 */
export function createIdentify(messenger: Messenger, clock: Pick<Clock, 'monotonicMs'>) {
  return async (
    credentials: readonly Credential[],
    strict: boolean,
    context: CallContext,
    circumstances: Pick<RequestOf<'auth.Authenticate'>, 'host' | 'unattended'> = {},
  ): Promise<Identity> => {
    const request = { credentials, strict, ...circumstances };
    const ask = () => messenger.call('auth.Authenticate', request, context);
    const { token, ...identity } = await ask();
    if (token === null) return identity;
    const tenant = identity.principal?.tenant;
    const renew = async (): Promise<string> => {
      const again = await ask();
      const isSame = again.principal?.id === identity.principal?.id && again.principal?.tenant === tenant;
      // What a hibernated tenant has in hand is ended.
      const isShut = again.tenantState !== null && again.tenantState !== 'Hibernated';
      if (again.token === null || !isSame || isShut) {
        throw engramError('PermissionDeniedError', 'The credentials of this request are not valid any more.');
      }
      return again.token;
    };
    return { ...identity, proof: renewedProof(token, renew, clock) };
  };
}

/** For what ends long before its token does. */
export function fixedProof(token: string): PrincipalProof {
  return { token: async () => token };
}

/** For what may outlive its first token: `renew` answers the next one. */
export function renewedProof(
  first: string,
  renew: () => Promise<string>,
  clock: Pick<Clock, 'monotonicMs'>,
): PrincipalProof {
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
