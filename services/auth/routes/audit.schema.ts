import { z } from 'zod';
import type { TenantId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import { lenientInteger, optionalOrBlank, uuid } from '../../common/platform/http/schema.ts';

/** `personal`: everybody's personal space, whose log tells of accounts. */
const tenantId = optionalOrBlank(
  z.union([z.literal(PERSONAL_TENANT), uuid()]).transform((text) => asId<TenantId>(text)),
).describe('Default: the tenant the caller works in. `personal`: accounts and the server, for superusers.');

/** As records have their time, so that texts compare like times. */
const time = optionalOrBlank(
  z.iso.datetime({ offset: true, local: true }).transform((text) => {
    const isZoned = /(Z|[+-]\d\d:?\d\d)$/i.test(text);
    return new Date(isZoned ? text : `${text}Z`).toISOString();
  }),
);

export const auditQuery = z.object({
  tenant_id: tenantId,
  action: optionalOrBlank(z.string()).describe('For example `grant.given`'),
  actor: optionalOrBlank(z.string()).describe('Id of the user who did it'),
  subject: optionalOrBlank(z.string()).describe('Id of what it was done to'),
  since: time.describe('From this time on'),
  until: time.describe('Before this time'),
  limit: lenientInteger({ min: 1, max: 1000 }).default(100),
  after: optionalOrBlank(z.string()).describe('`next` of the page before, with the same filters'),
});

export const auditExportQuery = z.object({ tenant_id: tenantId });

const auditRecord = z.object({
  tenant_id: z.string().nullable(),
  number: z.int().describe('From 1, without gaps'),
  at: z.string(),
  action: z.string(),
  actor: z.string().nullable(),
  subject: z.string(),
  details: z.record(z.string(), z.unknown()),
  previous: z.string().describe('Hash of the record before'),
  hash: z.string(),
});

export const auditPage = z.object({ records: z.array(auditRecord), next: z.string().nullable() });

export const auditKeys = z.object({ keys: z.array(z.record(z.string(), z.string())) });
