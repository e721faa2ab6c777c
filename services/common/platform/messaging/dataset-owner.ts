import type { DatasetRef } from '../../kernel/dataset.ts';
import { asAccount } from './account-authority.ts';
import type { CallContext, Messenger } from './messenger.ts';

/**
 * A context that speaks for the owner of the dataset, who needs no grant, as long as one token lasts.
 * `PermissionDeniedError` when the account is inactive; as `getPrincipal` when auth cannot say.
 */
export async function asDatasetOwner(
  messenger: Pick<Messenger, 'call'>,
  { ownerId, tenant }: DatasetRef,
  context: CallContext,
): Promise<CallContext> {
  return asAccount(messenger, { userId: ownerId, tenant }, context, "The account of the dataset's owner is inactive.");
}
