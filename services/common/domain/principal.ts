import type { TenantId, UserId } from './brand.ts';

/** Independent grants on a dataset: none implies another. */
export const PERMISSIONS = ['read', 'write', 'delete', 'share'] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** Who a request acts for, as auth resolved it from a credential. */
export interface Principal {
  readonly id: UserId;
  readonly email: string;
  /** The tenant the user works in now; `PERSONAL_TENANT` when none is selected. */
  readonly tenant: TenantId;
  readonly isSuperuser: boolean;
  readonly parentId: UserId | null;
}
