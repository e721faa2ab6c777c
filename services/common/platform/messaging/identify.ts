import { engramError } from '../../kernel/errors.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { MonotonicClock } from '../../ports/system.ts';
import type { Closure, Credential, RequestOf } from './messages.ts';
import type { CallContext, Messenger } from './messenger.ts';
import { type PrincipalProof, renewedProof } from './principal-proof.ts';

/** The principal that a request acts for, with its proof. */
export interface Identity {
  /** Null when no credential was accepted and the posture demands one. */
  readonly principal: Principal | null;
  readonly required: boolean;
  readonly posture: string;
  readonly proof?: PrincipalProof;
  /** State of the tenant that the principal works in; absent: it is open. */
  readonly tenantState?: Closure | null;
}

/**
 * Asks auth for the principal of credentials. The proof asks again with the same credentials when its token is old, so that
 * revoked credentials soon prove nothing.
 */
export function createIdentify(messenger: Messenger, clock: MonotonicClock) {
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
      // Work of a hibernated tenant that has begun is ended.
      const isShut = again.tenantState !== null && again.tenantState !== 'Hibernated';
      if (again.token === null || !isSame || isShut) {
        throw engramError('PermissionDeniedError', 'The credentials of this request are not valid any more.');
      }
      return again.token;
    };
    return { ...identity, proof: renewedProof(token, renew, clock) };
  };
}
