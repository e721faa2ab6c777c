import type { DatasetId, TenantId, UserId } from './brand.ts';

/** Independent grants on a dataset: none implies another. */
export const PERMISSIONS = ['read', 'write', 'delete', 'share'] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** The API key that a request came with, and what it is limited to. */
export interface PresentedKey {
  readonly id: string;
  /** Null: whatever its user may. */
  readonly permissions: readonly Permission[] | null;
  readonly datasets: readonly DatasetId[] | null;
}

/** Who a request acts for, as auth resolved it from a credential. */
export interface Principal {
  readonly id: UserId;
  readonly email: string;
  /** The tenant the user works in now; `PERSONAL_TENANT` when none is selected. */
  readonly tenant: TenantId;
  readonly isSuperuser: boolean;
  readonly parentId: UserId | null;
  /** Absent when the request came with another credential, or with none. */
  readonly key?: PresentedKey;
}

/** A limited key reaches datasets only: neither accounts nor tenants nor the server's settings. */
export function isLimited({ key }: Pick<Principal, 'key'>): boolean {
  return key !== undefined && (key.permissions !== null || key.datasets !== null);
}
