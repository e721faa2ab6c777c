import type { TenantId, UserId } from '../../common/kernel/brand.ts';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import { type AccessChange, EVERY_TENANT } from '../../common/platform/messaging/messages.ts';
import type { Messenger } from '../../common/platform/messaging/messenger.ts';
import type { Logger } from '../../common/ports/logger.ts';
import type { PrincipalCache } from './principal-cache.ts';
import type { TenantCache } from './tenant-cache.ts';

/** Invalidates what caches hold of a change: here at once, in other processes by an event. To be called after the commit. */
export type AccessChangeNotifier = ReturnType<typeof createAccessChangeNotifier>;

export function createAccessChangeNotifier(
  { messenger, logger }: { readonly messenger: Messenger; readonly logger: Logger },
  cache: PrincipalCache,
  tenants: TenantCache,
) {
  // Not awaited: cache entries expire within a second anyway.
  const publish = (change: AccessChange): void => {
    messenger.publish('access', change.tenant, change).catch((error: unknown) => {
      logger.warn('auth.access_change.unpublished', { error });
    });
  };
  const dropTenant = (tenant: TenantId): void => {
    tenants.drop(tenant);
    cache.dropTenant(tenant);
  };
  return {
    /** Credentials, address or rights of an account have changed. The event goes to the personal space. */
    userChanged(userId: UserId) {
      cache.dropUser(userId);
      publish({ tenant: PERSONAL_TENANT, userId, datasetId: null });
    },
    datasetRemoved: ({ tenant, id }: DatasetRef) => publish({ tenant, userId: null, datasetId: id }),
    /** Memberships, roles, grants or capabilities in a tenant have changed: of these users, or of everybody there (null). */
    accessChanged(tenant: TenantId, users: readonly UserId[] | null) {
      for (const userId of users ?? []) cache.dropUser(userId);
      for (const userId of users ?? [null]) publish({ tenant, userId, datasetId: null });
    },
    /** Owner, state, host names or keys of a tenant have changed. */
    tenantChanged(tenant: TenantId) {
      dropTenant(tenant);
      publish({ tenant, userId: null, datasetId: null });
    },
    /** Subscribes to the events of other replicas. */
    listen: () =>
      messenger.subscribe('access', EVERY_TENANT, ({ tenant, userId, datasetId }) => {
        if (userId !== null) cache.dropUser(userId);
        else if (datasetId === null) dropTenant(tenant);
      }),
  };
}
