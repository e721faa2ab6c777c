import type { UserId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { Write } from '../../common/storage/ports/document-store.ts';
import type { AuthDependencies } from '../dependencies.ts';

/**
 * To be committed with whatever ends a superuser: it holds another one, so that two who end each other at the same time
 * cannot both succeed. `VersionConflictError` in the commit when the other one ended meanwhile. Errors:
 * `PermissionDeniedError` when there is no other.
 */
export async function otherSuperuserWrite(deps: Pick<AuthDependencies, 'users'>, ending: UserId): Promise<Write> {
  const other = (await deps.users.superusers()).find(({ id }) => id !== ending);
  if (other !== undefined) return deps.users.touchWrite(other.id, { isActive: true, isSuperuser: true });
  throw engramError('PermissionDeniedError', 'This is the last superuser: nobody could manage accounts without one.');
}
