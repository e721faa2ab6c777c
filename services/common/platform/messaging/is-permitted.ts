import { isEngramError } from '../../kernel/errors.ts';
import type { Permission } from '../../kernel/principal.ts';
import type { CallContext, Messenger } from './messenger.ts';

/** Whether the principal of the context holds the permission on the dataset; of one that is unknown nobody holds any. */
export async function isPermitted(
  messenger: Pick<Messenger, 'call'>,
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
