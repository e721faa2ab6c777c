import type { DatasetId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { PERMISSIONS, type Permission, type Principal } from '../../common/kernel/principal.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import type { AuditEntry } from '../../common/ports/audit-log.ts';
import type { Write } from '../../common/storage/ports/document-store.ts';
import type { AuthDependencies } from '../dependencies.ts';
import type { GrantChange } from '../repositories/grants.ts';
import { affectedUsers, findHolder, findVisibleHolder, type Holder, holderWrite } from './holders.ts';
import { resolveDatasets } from './resolve-datasets.ts';

export interface GrantRequest {
  readonly principal: Principal;
  /** Id of a user, a role or a tenant. */
  readonly holder: string;
  readonly permission: string;
  /** Not empty: "none" must not come to mean "all". */
  readonly datasets: readonly string[];
}

/**
 * Gives one permission on all of the datasets, or on none. Idempotent. Errors: `PermissionDeniedError` unless the principal
 * may share all of them, `EntityNotFoundError` for an unknown holder and for a tenant or role of a
 * tenant that the principal does not belong to, `PermissionNotFoundError`.
 */
export function grantDatasets(deps: AuthDependencies, request: GrantRequest): Promise<void> {
  return changeGrants(deps, request, true);
}

/** Takes it. Idempotent. Errors as for giving. */
export function revokeDatasets(deps: AuthDependencies, request: GrantRequest): Promise<void> {
  return changeGrants(deps, request, false);
}

async function changeGrants(deps: AuthDependencies, request: GrantRequest, isGiven: boolean): Promise<void> {
  const { principal, datasets: ids } = request;
  await retryOnConflict(async () => {
    // Each time anew: who lost the right to share meanwhile is refused.
    const datasets = await resolveDatasets(deps, { principal, permission: 'share', ids });
    const datasetIds = datasets.map(({ id }) => id);
    const holder =
      (await findVisibleHolder(deps, principal, request.holder)) ??
      (isGiven ? null : await findGrantedHolder(deps, request, datasetIds));
    if (holder === null) throw engramError('EntityNotFoundError', `Could not find principal: ${request.holder}`);
    const permission = knownPermission(request.permission);
    const change = { holder: holder.id, permission, isGiven };
    if (await commitChange(deps, { principal, holder, change, datasetIds })) {
      deps.news.accessChanged(principal.tenant, affectedUsers(holder));
    }
  });
}

/** Who left a tenant must be able to take back what the tenant or its roles were given. */
async function findGrantedHolder(
  deps: AuthDependencies,
  { principal, holder: id }: GrantRequest,
  datasets: readonly DatasetId[],
): Promise<Holder | null> {
  const holder = await findHolder(deps, id);
  if (holder === null) return null;
  const grants = await deps.grants.on({ tenant: principal.tenant }, datasets, [holder.id]);
  return grants.length > 0 ? holder : null;
}

interface Change {
  readonly principal: Principal;
  readonly holder: Holder;
  readonly change: GrantChange;
  readonly datasetIds: readonly DatasetId[];
}

/** False when everything was so already. */
async function commitChange(
  deps: AuthDependencies,
  { principal, holder, change, datasetIds }: Change,
): Promise<boolean> {
  const { tenant, id: actor } = principal;
  const changes = await deps.grants.changes({ tenant }, datasetIds, change);
  const writes: Write[] = change.isGiven ? [holderWrite(deps, holder)] : [];
  for (const { dataset, writes: ofDataset } of changes) {
    writes.push(...ofDataset, ...deps.eventLog.appendWrites({ tenant, dataset }, [eventOf(dataset, change)]));
  }
  const [first, ...rest] = changes.map(({ dataset }): AuditEntry => {
    const action = change.isGiven ? 'grant.given' : 'grant.revoked';
    return { tenant, action, actor, subject: dataset, details: { holder: holder.id, permission: change.permission } };
  });
  if (first === undefined) return false;
  await deps.audit.commit({ tenant }, writes, [first, ...rest]);
  return true;
}

function eventOf(dataset: DatasetId, { holder, permission, isGiven }: GrantChange) {
  const type = isGiven ? 'access.granted' : 'access.revoked';
  return { type, subjectId: `${dataset}/${holder}/${permission}`, data: { holderId: holder, permission } };
}

function knownPermission(name: string): Permission {
  const known = PERMISSIONS.find((permission) => permission === name);
  if (known !== undefined) return known;
  throw engramError('PermissionNotFoundError', `${name} not found or not in allowed permission types`);
}
