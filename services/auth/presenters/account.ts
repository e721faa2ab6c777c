import { wireTenant } from '../../common/domain/scope.ts';
import type { ApiKey } from '../../common/repositories/api-keys.ts';
import type { User } from '../../common/repositories/users.ts';

/** The user record of the wire (auth-integrations.md §2.4). */
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

/** `text` only right after the key was made; later an empty `key`, by which clients see that they must mint another. */
export function presentApiKey(key: ApiKey, text = '') {
  return { key: text, label: `${key.prefix}****`, name: key.name, id: key.id };
}
