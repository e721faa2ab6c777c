import { textAnswer } from '../../common/platform/http/answer-schemas.ts';
import { beginStream } from '../../common/platform/http/begin-stream.ts';
import { defineRoute, json, type Route } from '../../common/platform/http/route.ts';
import { inTenant, NO_PERMISSION } from '../../common/platform/http/route-permission.ts';
import { onDemand } from '../../common/platform/lifecycle/on-demand.ts';
import type { AuditExport } from '../audit/audit-export.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { exportedHead, exportedRecord, presentAuditRecord } from '../presenters/audit.ts';
import { auditExportQuery, auditKeys, auditPage, auditQuery } from './audit.schema.ts';

const auditedTenant = onDemand(async () => (await import('../audit/audit-access.ts')).auditedTenant);
const exportAudit = onDemand(async () => (await import('../audit/audit-export.ts')).exportAudit);

const path = '/api/v1/audit';
const permission = inTenant('manage_users', 'in the tenant; superuser for the log of accounts');
const denied = { description: 'May not manage the users of the tenant, or there is none' };

/** Who did what in a tenant, for those who manage its users. */
export function auditRoutes(deps: AuthDependencies): readonly Route[] {
  return [list(deps), exported(deps), keys(deps)];
}

function list(deps: AuthDependencies): Route {
  return defineRoute({
    method: 'GET',
    path,
    tag: 'audit',
    summary: 'Who did what in a tenant, newest first',
    auth: 'user',
    permission,
    query: auditQuery,
    responses: { 200: { description: 'A page of records', schema: auditPage }, 403: denied },
    async handle({ principal, query }) {
      const { tenant_id, limit, after, ...filter } = query;
      const tenant = await auditedTenant(deps, principal, tenant_id);
      const { items, next } = await deps.auditRecords.page(tenant, filter, { limit, after: after ?? null });
      return json({ records: items.map(presentAuditRecord), next });
    },
  });
}

function exported(deps: AuthDependencies): Route {
  return defineRoute({
    method: 'GET',
    path: `${path}/export`,
    tag: 'audit',
    summary: 'The whole log of a tenant as JSON lines, oldest first; the last line is its signed end',
    auth: 'user',
    permission,
    query: auditExportQuery,
    responses: {
      200: {
        description: 'One record a line, then `{"head": …}`',
        schema: textAnswer,
        mediaType: 'application/x-ndjson',
      },
      403: denied,
    },
    async handle({ principal, query }) {
      const tenant = await auditedTenant(deps, principal, query.tenant_id);
      const stream = await beginStream(lines(await exportAudit(deps, tenant, principal.id)));
      const headers = {
        'content-type': 'application/x-ndjson',
        'content-disposition': 'attachment; filename="audit.ndjson"',
        'cache-control': 'no-store',
      };
      return { stream, headers };
    },
  });
}

async function* lines({ records, head }: AuditExport): AsyncGenerator<string> {
  for await (const some of records) yield some.map(exportedRecord).join('');
  yield exportedHead(head);
}

function keys(deps: AuthDependencies): Route {
  return defineRoute({
    method: 'GET',
    path: `${path}/keys`,
    tag: 'audit',
    summary: 'The public keys that verify the signed ends of exports',
    auth: 'none',
    permission: NO_PERMISSION,
    responses: { 200: { description: 'A JSON Web Key set', schema: auditKeys } },
    async handle() {
      return json({ keys: deps.auditHeads.publicKeys });
    },
  });
}
