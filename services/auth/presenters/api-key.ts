import type { ApiKey } from '../../common/records/auth/api-keys.ts';

/**
 * `text` only right after the key was made; later an empty `key`, by which clients see that they must mint another. The
 * first four fields are the contract's (auth-integrations.md §2.5), the others come on top.
 */
export function presentApiKey(key: ApiKey, text = '') {
  return {
    key: text,
    label: maskedKey(key),
    name: key.name,
    id: key.id,
    user_label: key.label,
    created_at: key.createdAt,
    last_used_at: key.lastUsedAt,
    expires_at: key.expiresAt,
    permissions: key.permissions,
    datasets: key.datasets,
  };
}

/** `0a1b2c3d****` */
export function maskedKey({ prefix }: Pick<ApiKey, 'prefix'>): string {
  return `${prefix}****`;
}
