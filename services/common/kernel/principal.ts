import type { DatasetId, TenantId, UserId } from './brand.ts';
import { type EngramError, engramError } from './errors.ts';

/** Independent grants on a dataset: none implies another. */
export const PERMISSIONS = ['read', 'write', 'delete', 'share'] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** The API key that a request came with, and what it is limited to. */
export interface PresentedKey {
  readonly id: string;
  /** Null: whatever its user may. */
  readonly permissions: readonly Permission[] | null;
  readonly datasets: readonly DatasetId[] | null;
  /** A tenant's own key: it acts there and nowhere else. Absent: a user's. */
  readonly tenant?: TenantId;
}

export interface KeyHolder {
  /** Absent when the request came with another credential, or with none. */
  readonly key?: PresentedKey;
}

/** The account that a request acts for, as auth resolved it from a credential. */
export interface Principal extends KeyHolder {
  readonly id: UserId;
  readonly email: string;
  /** The tenant the user works in now; `PERSONAL_TENANT` when none is selected. */
  readonly tenant: TenantId;
  readonly isSuperuser: boolean;
  readonly parentId: UserId | null;
}

export type UserInTenant = Pick<Principal, 'id' | 'tenant'>;

/** A limited key reaches datasets only: neither accounts nor tenants nor the server's settings. */
export function isLimited({ key }: KeyHolder): boolean {
  return key !== undefined && (key.permissions !== null || key.datasets !== null);
}

/** Refusal of a request that a limited key cannot make. */
export function limitedKeyError(): EngramError {
  const text = 'This API key is limited to datasets; the request needs its whole account.';
  return engramError('PermissionDeniedError', text);
}

/** With a tenant's own key: neither the account of the owner that it acts as, nor other tenants, nor the server. */
export function isTenantKey({ key }: KeyHolder): boolean {
  return key?.tenant !== undefined;
}

/** Whether the credential of the principal may do anything in the tenant at all. */
export function reachesTenant({ key }: KeyHolder, tenant: TenantId): boolean {
  return key?.tenant === undefined || key.tenant === tenant;
}
