import type { DatasetRef } from '../domain/dataset.ts';
import { engramError } from '../domain/errors.ts';
import type { CallContext, Messenger } from './messenger.ts';
import { getPrincipal } from './methods/auth.ts';
import { fixedProof } from './principal-proof.ts';

/**
 * A context that speaks for the owner of the dataset, who needs no grant, as long as one token lasts.
 * `PermissionDeniedError` when the account is inactive; as `getPrincipal` when auth cannot say.
 */
export async function asDatasetOwner(
  messenger: Pick<Messenger, 'call'>,
  { ownerId, tenant }: DatasetRef,
  context: CallContext,
): Promise<CallContext> {
  const { principal, token } = await messenger.call(getPrincipal, { userId: ownerId, tenant }, context);
  if (principal === null) throw engramError('PermissionDeniedError', "The account of the dataset's owner is inactive.");
  return { ...context, principal, ...(token === undefined ? {} : { proof: fixedProof(token) }) };
}
