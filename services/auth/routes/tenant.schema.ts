import { z } from 'zod';
import { optional, uuid } from '../../common/platform/http/schema.ts';

export const tenantParams = z.object({ tenantId: uuid() });
export const tenantMemberParams = z.object({ tenantId: uuid(), userId: uuid() });
export const memberParams = z.object({ userId: uuid() });

export const createTenantQuery = z.object({ tenant_name: z.string() });
export const joinTenantQuery = z.object({ tenant_id: uuid() });

/** Null or absent: the personal space. */
export const selectTenantBody = z.object({ tenant_id: optional(uuid()) }).meta({ id: 'SelectTenantDTO' });

export const message = z.object({ message: z.string() });
export const tenantMessage = message.extend({ tenant_id: z.string() });
export const tenantRecord = z.object({ id: z.string(), name: z.string() }).meta({ id: 'Tenant' });
export const tenantMemberRecord = z
  .object({
    id: z.string(),
    email: z.string(),
    roles: z.array(z.object({ id: z.string(), name: z.string() })),
  })
  .meta({ id: 'TenantMember' });
