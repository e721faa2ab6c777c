import { CAPABILITIES, type Capability, isCapability } from '../../common/domain/capabilities.ts';
import type { PrincipalId, TenantId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import type { AuditEntry } from '../../common/ports/audit-log.ts';
import type { Tenant } from '../../common/records/auth/tenants.ts';
import type { Write } from '../../common/storage/ports/document-store.ts';
import type { AuthDependencies } from '../model.ts';
import { affectedUsers, findHolder, type Holder, holderWrite } from './holders.ts';
import { authorityOf, capabilityMissing } from './tenant-authority.ts';

interface CapabilityRequest {
  readonly principal: Principal;
  /** Id of a user, a role or a tenant. */
  readonly holder: string;
  readonly capabilities: readonly string[];
  /** The tenant in which a user gets them; default: the principal's current tenant. */
  readonly tenant: TenantId | undefined;
}

/**
 * Grants capabilities to a user, a role or a whole tenant. Idempotent. Errors: `CapabilityNotFoundError`;
 * `PermissionDeniedError` with one text for an unknown holder, an unknown tenant and a missing capability, so that ids cannot
 * be probed; and for capabilities that the principal lacks, and for a user outside the tenant.
 */
export async function grantCapabilities(deps: AuthDependencies, request: CapabilityRequest): Promise<void> {
  const capabilities = knownCapabilities(request.capabilities);
  await retryOnConflict(async () => {
    const { holder, tenant, authority } = await authorised(deps, request, 'grant_capabilities');
    const lacking = capabilities.filter((capability) => !authority.allows(capability));
    if (lacking.length > 0) throw denied(`User cannot grant capabilities they do not hold: ${lacking.join(', ')}`);
    const writes = [...(await presenceWrites(deps, holder, tenant))];
    const missing = await heldBy(deps, tenant, holder.id).then((held) => capabilities.filter((one) => !held.has(one)));
    const at = deps.clock.now().toISOString();
    for (const capability of missing) {
      writes.push(
        deps.capabilities.insertWrite({ holder: holder.id, capability }, request.principal.id, at),
        ...deps.eventLog.appendWrites({ tenant: tenant.id }, [
          { type: 'capability.granted', ...subjectOf(holder, capability) },
        ]),
      );
    }
    const change = { holder, tenant, writes, capabilities: missing, actor: request.principal.id };
    await commit(deps, change, 'capability.granted');
  });
}

/**
 * Revokes capabilities of any holder. Idempotent. Errors as for granting, except those about the principal's own capabilities
 * and about a user outside the tenant.
 */
export async function revokeCapabilities(deps: AuthDependencies, request: CapabilityRequest): Promise<void> {
  const capabilities = knownCapabilities(request.capabilities);
  const { holder, tenant } = await authorised(deps, request, 'revoke_capabilities');
  const held = await heldBy(deps, tenant, holder.id);
  const present = capabilities.filter((capability) => held.has(capability));
  const writes = present.flatMap((capability) => [
    deps.capabilities.removeWrite({ holder: holder.id, capability }),
    ...deps.eventLog.appendWrites({ tenant: tenant.id }, [
      { type: 'capability.revoked', ...subjectOf(holder, capability) },
    ]),
  ]);
  const change = { holder, tenant, writes, capabilities: present, actor: request.principal.id };
  await commit(deps, change, 'capability.revoked');
}

/**
 * Returns the principal's capabilities in the tenant, sorted. `PermissionDeniedError` for non-members and for an unknown
 * tenant alike.
 */
export async function ownCapabilities(
  deps: AuthDependencies,
  principal: Principal,
  id: TenantId,
): Promise<readonly Capability[]> {
  const tenant = await deps.tenants.get(id);
  const authority = tenant === null ? null : await authorityOf(deps, principal, tenant);
  if (authority === null || !authority.isMember) throw denied('User is not a member of this tenant');
  return authority.capabilities;
}

async function authorised(deps: AuthDependencies, request: CapabilityRequest, capability: Capability) {
  const holder = await findHolder(deps, request.holder);
  const tenant = holder === null ? null : await deps.tenants.get(scopeOf(holder, request));
  if (holder === null || tenant === null) throw capabilityMissing(capability);
  const authority = await authorityOf(deps, request.principal, tenant);
  if (!authority.allows(capability)) throw capabilityMissing(capability);
  return { holder, tenant, authority };
}

function scopeOf(holder: Holder, { tenant, principal }: CapabilityRequest): TenantId {
  if (holder.kind === 'tenant') return holder.id;
  return holder.kind === 'role' ? holder.role.tenant : (tenant ?? principal.tenant);
}

/** Writes that make the commit fail when the holder is gone or, for a user, the membership has ended. */
async function presenceWrites(deps: AuthDependencies, holder: Holder, tenant: Tenant): Promise<readonly Write[]> {
  if (holder.kind !== 'user') return [holderWrite(deps, holder)];
  if (!(await deps.memberships.has(tenant.id, holder.id))) {
    throw denied('User is not a member of this tenant; add them to the tenant before granting capabilities');
  }
  return [deps.memberships.touchWrite(tenant.id, holder.id)];
}

async function heldBy({ capabilities }: AuthDependencies, tenant: Tenant, holder: PrincipalId) {
  const grants = await capabilities.ofHolders(tenant.id, [holder]);
  return new Set(grants.map(({ capability }) => capability));
}

interface Change {
  readonly holder: Holder;
  readonly tenant: Tenant;
  readonly writes: readonly Write[];
  readonly capabilities: readonly Capability[];
  readonly actor: string;
}

async function commit(deps: AuthDependencies, change: Change, action: string): Promise<void> {
  const { holder, tenant, writes, capabilities, actor } = change;
  const [first, ...rest] = capabilities.map(
    (capability): AuditEntry => ({ tenant: tenant.id, action, actor, subject: holder.id, details: { capability } }),
  );
  if (first === undefined) return;
  await deps.audit.commit({ tenant: tenant.id }, writes, [first, ...rest]);
  deps.notify.accessChanged(tenant.id, affectedUsers(holder));
}

function knownCapabilities(names: readonly string[]): readonly Capability[] {
  const unknown = names.filter((name) => !isCapability(name));
  if (unknown.length === 0) return [...new Set(names.filter(isCapability))].toSorted();
  const text = `Unknown capability: ${unknown.join(', ')}. Known: ${CAPABILITIES.join(', ')}`;
  throw engramError('CapabilityNotFoundError', text);
}

function subjectOf(holder: Holder, capability: Capability) {
  return { subjectId: `${holder.id}/${capability}`, data: { holderId: holder.id, capability } };
}

function denied(message: string) {
  return engramError('PermissionDeniedError', message);
}
