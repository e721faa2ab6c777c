import { z } from 'zod';
import { PERMISSIONS } from '../../common/kernel/principal.ts';
import { uuid, uuidList } from '../../common/platform/http/schema.ts';

export const principalParams = z.object({ principalId: uuid() });

/** Any text: unknown permissions have their own error. */
export const grantQuery = z.object({ permission_name: z.string() });
export const grantedQuery = z.object({ permission_name: z.string().default('read') });

/** A bare list, which must not be empty: an empty one could be read as all datasets of the caller. */
export const grantBody = uuidList({ min: 1 });

export const grantedDatasetRecord = z.object({
  id: z.string(),
  name: z.string(),
  createdAt: z.string(),
  updatedAt: z.string().nullable(),
  ownerId: z.string(),
  tenantId: z.string(),
  data: z.array(z.unknown()),
});

export const datasetPrincipalRecord = z.object({
  id: z.string(),
  kind: z.enum(['user', 'role', 'tenant']),
  name: z.string(),
  permissions: z.array(z.enum(PERMISSIONS)),
});
