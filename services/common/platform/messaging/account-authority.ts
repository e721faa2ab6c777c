import { engramError } from '../../kernel/errors.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { MonotonicClock } from '../../ports/system.ts';
import type { CallContext, MessageCaller } from './messenger.ts';
import { fixedProof, renewedProof } from './principal-proof.ts';

/** Whom something is done for that is not, or no longer, asking. */
export interface Account {
  readonly userId: string;
  readonly tenant: string;
  /** The API key that it was asked by, whose limits hold; null or absent: by none. */
  readonly keyId?: string | null;
}

type AccountContext = CallContext & { readonly principal: Principal };

/**
 * A context that speaks for the account as long as one token lasts. `PermissionDeniedError`, with `gone`, when the account
 * or its API key is not there or not active any more; as `getPrincipal` when auth cannot say.
 */
export async function asAccount(
  messenger: MessageCaller,
  account: Account,
  asking: CallContext,
  gone: string,
): Promise<AccountContext> {
  const { principal, token } = await principalOf(messenger, account, asking, gone);
  return { ...asking, principal, ...(token === null ? {} : { proof: fixedProof(token) }) };
}

/** Does the same as `asAccount`, for work that takes longer than a token lives. */
export async function impersonateWithRenewal(
  { messenger, clock }: { readonly messenger: MessageCaller; readonly clock: MonotonicClock },
  account: Account,
  asking: CallContext,
  gone: string,
) {
  const ask = () => principalOf(messenger, account, asking, gone);
  const { principal, token } = await ask();
  const renew = async () => (await ask()).token ?? '';
  const proof = token === null ? {} : { proof: renewedProof(token, renew, clock) };
  return {
    /** Speaks for the account as long as it is there: auth is asked again and again. */
    context: { ...asking, principal, ...proof },
    /** Asks now whether it still is; `PermissionDeniedError` when not. */
    async requireStill() {
      await ask();
    },
  };
}

async function principalOf(
  messenger: MessageCaller,
  { userId, tenant, keyId = null }: Account,
  asking: CallContext,
  gone: string,
) {
  const account = { userId, tenant, ...(keyId === null ? {} : { key: keyId }) };
  const { principal, token } = await messenger.call('auth.GetPrincipal', account, asking);
  if (principal === null) throw engramError('PermissionDeniedError', gone);
  return { principal, token };
}
