import { isEngramError } from '../../kernel/errors.ts';
import type { Permission } from '../../kernel/principal.ts';
import type { CallContext, MessageCaller } from './messenger.ts';

/** Returns whether the principal of the context holds the permission on the dataset; false for an unknown dataset. */
export async function isPermitted(
  messenger: MessageCaller,
  permission: Permission,
  dataset: string,
  context: CallContext,
): Promise<boolean> {
  try {
    await messenger.call('auth.ResolveDatasets', { permission, ids: [dataset] }, context);
    return true;
  } catch (error) {
    if (isEngramError(error) && error.wireName === 'PermissionDeniedError') return false;
    throw error;
  }
}
