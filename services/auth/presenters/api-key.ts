import type { ApiKey } from '../../common/records/auth/api-keys.ts';

/**
 * `text` only in the answer that creates the key; later `key` is empty, by which clients know that they need another. The
 * first four fields are those of the contract (proto/http/auth-integrations.md §2.5), the others are additions.
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
export function maskedKey({ prefix }: ApiKey): string {
  return `${prefix}****`;
}
