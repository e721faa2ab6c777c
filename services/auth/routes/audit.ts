import { z } from 'zod';
import type { AuditRecord, SignedAuditHead } from '../../common/domain/audit-record.ts';
import type { DatasetId, TenantId, UserId } from '../../common/kernel/brand.ts';
import { isEngramError } from '../../common/kernel/errors.ts';
import { asId, isUuid } from '../../common/kernel/ids.ts';
import { type JsonObject, parseClientJson } from '../../common/kernel/json.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { PERSONAL_TENANT, wireTenant } from '../../common/kernel/scope.ts';
import { textAnswer } from '../../common/platform/http/answer-schemas.ts';
import { beginStream } from '../../common/platform/http/begin-stream.ts';
import { json, routesOf } from '../../common/platform/http/route.ts';
import { inTenant, NO_PERMISSION } from '../../common/platform/http/route-permission.ts';
import { lenientInteger, optionalOrBlank, uuid } from '../../common/platform/http/schema.ts';
import { permittedAmong } from '../access/resolve-datasets.ts';
import { capabilityMissing, requireCapability } from '../access/tenant-authority.ts';
import type { AuthDependencies } from '../model.ts';

/** `personal`: the personal space, whose log covers accounts. */
const tenantId = optionalOrBlank(
  z.union([z.literal(PERSONAL_TENANT), uuid()]).transform((text) => asId<TenantId>(text)),
).describe('Default: the tenant the caller works in. `personal`: accounts and the server, for superusers.');

/** Formatted like the times of records, so that strings compare like times. */
const time = optionalOrBlank(
  z.iso.datetime({ offset: true, local: true }).transform((text) => {
    const isZoned = /(Z|[+-]\d\d:?\d\d)$/i.test(text);
    return new Date(isZoned ? text : `${text}Z`).toISOString();
  }),
);

const auditQuery = z.object({
  tenant_id: tenantId,
  action: optionalOrBlank(z.string()).describe('For example `grant.given`'),
  actor: optionalOrBlank(z.string()).describe('Id of the user who did it'),
  subject: optionalOrBlank(z.string()).describe('Id of the changed thing'),
  since: time.describe('From this time on'),
  until: time.describe('Before this time'),
  limit: lenientInteger({ min: 1, max: 1000 }).default(100),
  after: optionalOrBlank(z.string()).describe('`next` of the page before, with the same filters'),
});

const auditExportQuery = z.object({ tenant_id: tenantId });

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

const auditPage = z.object({
  records: z.array(auditRecord),
  next: z.string().nullable(),
  names: z
    .record(z.string(), z.string())
    .describe('Addresses of accounts and names of datasets, by the ids in the records, that the caller may see now'),
});

const auditKeys = z.object({ keys: z.array(z.record(z.string(), z.string())) });

const path = '/api/v1/audit';
const permission = inTenant('manage_users', 'in the tenant; superuser for the log of accounts');
const denied = { description: 'May not manage the users of the tenant, or there is none' };

const { routes, get } = routesOf<AuthDependencies>({ tag: 'audit' });

/** Audit logs, for principals who manage the users of a tenant. */
export const auditRoutes = routes(
  get(path, 'listAuditRecords', {
    summary: 'The audit log of a tenant, newest first',
    permission,
    query: auditQuery,
    responses: { 200: { description: 'A page of records', schema: auditPage }, 403: denied },
    async handle({ principal, query }, deps) {
      const { tenant_id, limit, after, ...filter } = query;
      const tenant = await auditedTenant(deps, principal, tenant_id);
      const { items, next } = await deps.auditRecords.page(tenant, filter, { limit, after: after ?? null });
      const names = await namesIn(deps, { ...principal, tenant }, items);
      return json({ records: items.map(presentAuditRecord), next, names });
    },
  }),
  get(`${path}/export`, 'exportAuditLog', {
    summary: 'The whole audit log of a tenant as JSON lines, oldest first; the last line is the signed head',
    permission,
    query: auditExportQuery,
    responses: {
      200: {
        description: 'One record a line, then `{"head": …}`',
        schema: textAnswer,
        mediaType: 'text/plain',
      },
      403: denied,
    },
    async handle({ principal, query }, deps) {
      const tenant = await auditedTenant(deps, principal, query.tenant_id);
      const stream = await beginStream(lines(await exportAudit(deps, tenant, principal.id)));
      const headers = {
        'content-type': 'text/plain; charset=utf-8',
        'content-disposition': 'attachment; filename="audit.ndjson"',
        'cache-control': 'no-store',
      };
      return { stream, headers };
    },
  }),
  get(`${path}/keys`, 'getAuditKeys', {
    summary: 'The public keys that verify the signed heads of exports',
    auth: 'none',
    permission: NO_PERMISSION,
    responses: { 200: { description: 'A JSON Web Key set', schema: auditKeys } },
    handle: async (_, deps) => json({ keys: deps.auditHeads.publicKeys }),
  }),
);

/**
 * Returns the addresses and names of now, for the log holds ids alone: what is erased has none. Of accounts those of members
 * of the tenant and of their agents, of datasets those that the principal may read.
 */
async function namesIn(
  deps: AuthDependencies,
  principal: Principal,
  records: readonly AuditRecord[],
): Promise<Record<string, string>> {
  const { tenant } = principal;
  const named = records.flatMap(({ actor, subject, details }) => {
    return [actor, subject, ...Object.values(parseClientJson(details) as JsonObject)];
  });
  const ids = [...new Set(named)].filter((id): id is string => typeof id === 'string' && isUuid(id));
  const [users, datasets] = await Promise.all([
    deps.users.getMany(ids.map((id) => asId<UserId>(id))),
    permittedAmong(
      deps,
      { principal, permission: 'read' },
      ids.map((id) => asId<DatasetId>(id)),
    ),
  ]);
  const isPersonal = tenant === PERSONAL_TENANT || users.length === 0;
  const members = new Set(isPersonal ? [] : await deps.memberships.usersOf(tenant));
  const shown = users.filter(({ id, parentId }) => isPersonal || members.has(id) || members.has(parentId ?? id));
  return Object.fromEntries([
    ...shown.map(({ id, email }) => [id, email]),
    ...datasets.map(({ id, name }) => [id, name]),
  ]);
}

async function* lines({ records, head }: AuditExport): AsyncGenerator<string> {
  for await (const some of records) yield some.map(exportedRecord).join('');
  yield exportedHead(head);
}

/** A record with `details` as an object. Hashes are computed from its text, which exports have. */
function presentAuditRecord({ tenant, details, previous, hash, ...record }: AuditRecord) {
  return { tenant_id: wireTenant(asId(tenant)), ...record, details: parseClientJson(details), previous, hash };
}

/** A line of an export: the fields of the hash, in their order. */
export function exportedRecord(record: AuditRecord): string {
  const { tenant, number, at, action, actor, subject, details, previous, hash } = record;
  return `${JSON.stringify({ tenant, number, at, action, actor, subject, details, previous, hash })}\n`;
}

/** The last line of an export. */
export function exportedHead({ tenant, number, hash, signedAt, keyId, signature }: SignedAuditHead): string {
  return `${JSON.stringify({ head: { tenant, number, hash, signed_at: signedAt, key_id: keyId, signature } })}\n`;
}

/**
 * The tenant whose log is requested, by default the principal's own. `PermissionDeniedError` unless the principal manages its
 * users, also for a tenant that does not exist. The log of the personal space covers all accounts: only superusers read it.
 */
async function auditedTenant(deps: AuthDependencies, principal: Principal, wanted: TenantId = principal.tenant) {
  if (wanted === PERSONAL_TENANT) {
    if (!principal.isSuperuser) throw capabilityMissing('manage_users');
    return wanted;
  }
  try {
    await requireCapability(deps, principal, wanted, 'manage_users');
  } catch (error) {
    if (isEngramError(error) && error.wireName === 'TenantNotFoundError') throw capabilityMissing('manage_users');
    throw error;
  }
  return wanted;
}

interface AuditExport {
  /** From the first record to the head, a few hundred in memory at a time. */
  readonly records: AsyncGenerator<readonly AuditRecord[]>;
  /** Signed before the first record is read. */
  readonly head: SignedAuditHead;
}

/** Exports the whole log of a tenant; its last record is about this export. The caller has checked the permission. */
async function exportAudit(deps: AuthDependencies, tenant: TenantId, by: UserId): Promise<AuditExport> {
  await deps.audit.record({ tenant, action: 'export.made', actor: by, subject: tenant, details: { what: 'audit' } });
  const { number, hash } = await deps.auditRecords.head(tenant);
  const head = deps.auditHeads.sign({ tenant, number, hash, signedAt: deps.clock.now().toISOString() });
  return { records: recordsUpTo(deps, tenant, number), head };
}

async function* recordsUpTo({ auditRecords }: AuthDependencies, tenant: TenantId, last: number) {
  let after = 0;
  while (after < last) {
    const records = await auditRecords.range(tenant, after, last);
    const end = records.at(-1);
    // Records are missing in the store: the others are exported, and the head shows that something is missing.
    if (end === undefined) return;
    yield records;
    after = end.number;
  }
}
