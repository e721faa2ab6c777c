import { wireTenant } from '../../common/kernel/scope.ts';
import type { User } from '../../common/records/auth/users.ts';

/** The user record of proto/http/auth-integrations.md §2.4. */
export function presentUser(user: User) {
  return {
    id: user.id,
    email: user.email,
    is_active: user.isActive,
    is_superuser: user.isSuperuser,
    is_verified: user.isVerified,
    tenant_id: wireTenant(user.tenant),
    parent_user_id: user.parentId,
  };
}
