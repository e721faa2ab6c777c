import { isEngramError } from '../../kernel/errors.ts';
import type { Permission } from '../../kernel/principal.ts';
import { nullIf } from '../async/null-if.ts';
import type { CallContext, MessageCaller } from './messenger.ts';

/** Returns whether the principal of the context holds the permission on the dataset; false for an unknown dataset. */
export async function isPermitted(
  messenger: MessageCaller,
  permission: Permission,
  dataset: string,
  context: CallContext,
): Promise<boolean> {
  const resolving = messenger.call('auth.ResolveDatasets', { permission, ids: [dataset] }, context);
  const isDenied = (error: unknown) => isEngramError(error) && error.wireName === 'PermissionDeniedError';
  return (await nullIf(isDenied, resolving)) !== null;
}
