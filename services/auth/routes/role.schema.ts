import { z } from 'zod';
import { uuid } from '../../common/platform/http/schema.ts';
import { message } from './tenant.schema.ts';

export const roleParams = z.object({ roleId: uuid() });
export const tenantRoleParams = z.object({ tenantId: uuid(), roleId: uuid() });

export const createRoleQuery = z.object({ role_name: z.string() });
export const assignRoleQuery = z.object({ role_id: uuid() });

export const createdRole = message.extend({ role_id: z.string(), tenant_id: z.string() });
export const roleRecord = z.object({ id: z.string(), name: z.string() });
export const countedRoleRecord = roleRecord.extend({ description: z.null(), user_count: z.number() });
export const roleUserRecord = z.object({ id: z.string(), name: z.string() });
