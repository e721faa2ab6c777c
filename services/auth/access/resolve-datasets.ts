import {
  datasetsWith,
  grantHolders,
  keyAllows,
  keyReaches,
  notAllPermitted,
  requireCreatableDatasetName,
} from '../../common/domain/permissions.ts';
import type { DatasetId, PrincipalId } from '../../common/kernel/brand.ts';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { asId, isUuid } from '../../common/kernel/ids.ts';
import type { Permission, Principal } from '../../common/kernel/principal.ts';
import type { Scope } from '../../common/kernel/scope.ts';
import { datasetRef, type StoredDataset } from '../../common/records/auth/datasets.ts';
import type { AuthDependencies } from '../model.ts';
import { createDataset } from './datasets.ts';

interface DatasetQuery {
  readonly principal: Principal;
  readonly permission: Permission;
  readonly ids?: readonly string[] | undefined;
  readonly names?: readonly string[] | undefined;
  readonly createMissing?: boolean | undefined;
  readonly namesAmongPermitted?: boolean | undefined;
  /** Aborted when the caller no longer waits: no further dataset is created. */
  readonly signal?: AbortSignal | undefined;
}

/** Implements `auth.ResolveDatasets`; proto/ has its rules and errors. */
export async function resolveDatasets(deps: AuthDependencies, query: DatasetQuery): Promise<readonly DatasetRef[]> {
  if (query.ids !== undefined && query.ids.length > 0) return byIds(deps, query, query.ids);
  if (query.names === undefined) return allPermitted(deps, query);
  if (query.names.length === 0) throw engramError('DatasetNotFoundError', 'No datasets found.');
  const names = [...new Set(query.names)];
  return query.namesAmongPermitted ? amongPermitted(deps, query, names) : amongOwn(deps, query, names);
}

async function byIds(
  deps: AuthDependencies,
  query: DatasetQuery,
  given: readonly string[],
): Promise<readonly DatasetRef[]> {
  const { principal, permission } = query;
  if (!given.every(isUuid)) throw notAllPermitted(permission);
  const ids = [...new Set(given.map((id) => asId<DatasetId>(id)))];
  if (!ids.every((id) => keyReaches(principal, id))) throw notAllPermitted(permission);
  const [datasets] = await Promise.all([
    deps.datasets.getMany(scopeOf(query), ids),
    requirePermission(deps, query, ids),
  ]);
  if (datasets.length < ids.length) throw notAllPermitted(permission);
  return datasets.map(datasetRef);
}

async function allPermitted(deps: AuthDependencies, query: DatasetQuery): Promise<readonly DatasetRef[]> {
  const { principal, permission } = query;
  if (!keyAllows(principal, permission)) return [];
  const grants = await deps.grants.ofHolders(scopeOf(query), await grantHoldersOf(deps, principal));
  const ids = [...datasetsWith(permission, grants)].filter((id) => keyReaches(principal, id));
  const datasets = await deps.datasets.getMany(scopeOf(query), ids);
  return datasets.toSorted(byAge).map(datasetRef);
}

/** Resolves names to the principal's own datasets of the current tenant; shared datasets need ids. */
async function amongOwn(
  deps: AuthDependencies,
  query: DatasetQuery,
  names: readonly string[],
): Promise<readonly DatasetRef[]> {
  const { principal } = query;
  const own = await ownDatasets(deps, query, names);
  const known = new Map<string, DatasetRef>(own.map((dataset) => [dataset.name, datasetRef(dataset)]));
  const missing = names.filter((name) => !known.has(name));
  if (missing.length > 0 && !query.createMissing) throw namesNotFound(missing);
  for (const name of missing) requireCreatableDatasetName(name);
  // Checked before datasets are created: a refused request creates none.
  const ownIds = own.map(({ id }) => id);
  await requirePermission(deps, query, ownIds);
  for (const name of missing) {
    query.signal?.throwIfAborted();
    known.set(name, await createDataset(deps, principal, name));
  }
  return names.flatMap((name) => known.get(name) ?? []);
}

async function ownDatasets(
  { datasets }: AuthDependencies,
  query: DatasetQuery,
  names: readonly string[],
): Promise<readonly StoredDataset[]> {
  const { principal } = query;
  const own = await datasets.ownedByName(scopeOf(query), principal.id, names);
  return own.filter(({ id }) => keyReaches(principal, id));
}

/**
 * Resolves names, for `forget` only, to the first dataset of the name that the principal has the permission on; an own
 * dataset precedes a shared one.
 */
async function amongPermitted(
  deps: AuthDependencies,
  query: DatasetQuery,
  names: readonly string[],
): Promise<readonly DatasetRef[]> {
  const permitted = await allPermitted(deps, query);
  return names.map((name) => {
    const candidates = permitted.filter((dataset) => dataset.name === name);
    const found = candidates.find((dataset) => dataset.ownerId === query.principal.id) ?? candidates[0];
    if (found !== undefined) return found;
    throw engramError('DatasetNotFoundError', `Dataset '${name}' not found or not accessible.`);
  });
}

async function requirePermission(
  deps: AuthDependencies,
  query: DatasetQuery,
  ids: readonly DatasetId[],
): Promise<void> {
  const { principal, permission } = query;
  if (!keyAllows(principal, permission)) throw notAllPermitted(permission);
  const own = datasetsWith(permission, await deps.grants.on(scopeOf(query), ids, [principal.id]));
  const others = ids.filter((id) => !own.has(id));
  if (others.length === 0) return;
  // Agents, tenants and roles are read only now: most requests are about datasets that the principal itself has grants on.
  const holders = await grantHoldersOf(deps, principal);
  const inherited = datasetsWith(permission, await deps.grants.on(scopeOf(query), others, holders));
  if (others.some((id) => !inherited.has(id))) throw notAllPermitted(permission);
}

function scopeOf({ principal }: DatasetQuery): Scope {
  return { tenant: principal.tenant };
}

function byAge(one: DatasetRef, other: DatasetRef): number {
  if (one.createdAt !== other.createdAt) return one.createdAt < other.createdAt ? -1 : 1;
  return one.id < other.id ? -1 : 1;
}

function namesNotFound(names: readonly string[]) {
  const list = names.map((name) => `'${name}'`).join(', ');
  return engramError(
    'DatasetNotFoundError',
    `Dataset(s) not found: ${list}. Dataset names resolve only among the datasets you own in the current tenant; ` +
      'pass dataset_ids for datasets shared with you.',
  );
}

/** The holders whose grants count for the user: itself, its agents, tenants and roles, read in parallel. */
async function grantHoldersOf(
  { users, memberships, roleMembers }: AuthDependencies,
  user: Pick<Principal, 'id'>,
): Promise<readonly PrincipalId[]> {
  const [childAgents, tenants, roles] = await Promise.all([
    users.childAgents(user.id),
    memberships.tenantsOf(user.id),
    roleMembers.rolesOf(user.id),
  ]);
  return grantHolders(user, { childAgents, tenants, roles });
}
