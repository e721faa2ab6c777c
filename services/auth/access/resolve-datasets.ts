import { emailKey } from '../../common/domain/email-address.ts';
import {
  datasetsWith,
  type Grant,
  grantHolders,
  keyAllows,
  keyReaches,
  notAllPermitted,
  requireCreatableDatasetName,
} from '../../common/domain/permissions.ts';
import type { DatasetId } from '../../common/kernel/brand.ts';
import type { DatasetRef, SourceReader } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { asId, isUuid } from '../../common/kernel/ids.ts';
import { isTenantKey, type Permission, type Principal } from '../../common/kernel/principal.ts';
import type { Scope } from '../../common/kernel/scope.ts';
import { datasetRef, type StoredDataset } from '../../common/records/auth/datasets.ts';
import type { AuthDependencies } from '../model.ts';
import { createDataset } from './datasets.ts';

type PermittedDataset = DatasetRef & Pick<StoredDataset, 'sourceAccess'>;

interface DatasetQuery {
  readonly principal: Principal;
  readonly permission: Permission;
  readonly ids?: readonly string[] | undefined;
  readonly names?: readonly string[] | undefined;
  readonly createMissing?: boolean | undefined;
  readonly namesAmongPermitted?: boolean | undefined;
  /** The caller leaves out what sources withhold from the reader. */
  readonly partly?: boolean | undefined;
  /** Aborted when the caller no longer waits: no further dataset is created. */
  readonly signal?: AbortSignal | undefined;
}

/** Implements `auth.ResolveDatasets`; proto/ has its rules and errors. */
export async function resolveDatasets(deps: AuthDependencies, query: DatasetQuery): Promise<readonly DatasetRef[]> {
  const datasets = await withReader(deps, query.principal, await permittedDatasets(deps, query));
  if (query.partly || query.permission !== 'read') return datasets;
  const isNamed = (query.ids ?? []).length > 0 || query.names !== undefined;
  const seen = await Promise.all(datasets.map(deps.sourceAccess.asSeen));
  const partly = seen.find(({ withheld }) => withheld !== undefined);
  if (partly !== undefined && isNamed) throw partlyWithheld(partly);
  return datasets.filter((_, at) => seen[at]?.withheld === undefined);
}

/** Datasets with the principal as their reader, where a source says who sees which of their items. */
export async function withReader(
  deps: AuthDependencies,
  principal: Principal,
  datasets: readonly PermittedDataset[],
): Promise<readonly DatasetRef[]> {
  if (datasets.every(({ sourceAccess }) => sourceAccess === null)) return datasets.map(datasetRef);
  const reader = await readerOf(deps, principal);
  return datasets.map((dataset) => {
    const { sourceAccess: version } = dataset;
    return version === null ? datasetRef(dataset) : { ...datasetRef(dataset), reader: { ...reader, version } };
  });
}

/** Who the principal is at a source: an agent is the user it works for, a key of the tenant is nobody. */
async function readerOf({ users }: AuthDependencies, principal: Principal): Promise<Omit<SourceReader, 'version'>> {
  if (isTenantKey(principal)) return { account: null, address: null };
  const account = principal.parentId ?? principal.id;
  const user = await users.get(account);
  return { account, address: user?.isVerified ? emailKey(user.email) : null };
}

function partlyWithheld({ name }: DatasetRef) {
  return engramError(
    'PermissionDeniedError',
    `The source of dataset '${name}' does not let you see some of its items, and this shows the whole dataset. ` +
      'Search, recall, the list of items and the graph show the part that you may see.',
  );
}

async function permittedDatasets(deps: AuthDependencies, query: DatasetQuery): Promise<readonly PermittedDataset[]> {
  if (query.ids !== undefined && query.ids.length > 0) return byIds(deps, query, query.ids);
  if (query.names === undefined) return allPermitted(deps, query);
  if (query.names.length === 0) throw engramError('DatasetNotFoundError', 'No datasets found.');
  const names = [...new Set(query.names)];
  return query.namesAmongPermitted ? amongPermitted(deps, query, names) : amongOwn(deps, query, names);
}

async function byIds(deps: AuthDependencies, query: DatasetQuery, given: readonly string[]) {
  const { principal, permission } = query;
  if (!given.every(isUuid)) throw notAllPermitted(permission);
  const ids = [...new Set(given.map((id) => asId<DatasetId>(id)))];
  if (!ids.every((id) => keyReaches(principal, id))) throw notAllPermitted(permission);
  const [datasets] = await Promise.all([
    deps.datasets.getMany(scopeOf(query), ids),
    requirePermission(deps, query, ids),
  ]);
  if (datasets.length < ids.length) throw notAllPermitted(permission);
  return datasets;
}

async function allPermitted(deps: AuthDependencies, query: DatasetQuery): Promise<readonly PermittedDataset[]> {
  const grants = await deps.grants.ofHolders(scopeOf(query), await grantHoldersOf(deps, query.principal));
  return (await datasetsOfGrants(deps, query, grants)).toSorted(byAge);
}

/** Those of the ids that are datasets with the permission, in no order. */
export async function permittedAmong(
  deps: AuthDependencies,
  query: DatasetQuery,
  ids: readonly DatasetId[],
): Promise<readonly DatasetRef[]> {
  const grants = await deps.grants.on(scopeOf(query), ids, await grantHoldersOf(deps, query.principal));
  return datasetsOfGrants(deps, query, grants);
}

async function datasetsOfGrants(deps: AuthDependencies, query: DatasetQuery, grants: readonly Grant[]) {
  const { principal, permission } = query;
  if (!keyAllows(principal, permission)) return [];
  const ids = [...datasetsWith(permission, grants)].filter((id) => keyReaches(principal, id));
  return deps.datasets.getMany(scopeOf(query), ids);
}

/** Resolves names to the principal's own datasets of the current tenant; shared datasets need ids. */
async function amongOwn(deps: AuthDependencies, query: DatasetQuery, names: readonly string[]) {
  const { principal } = query;
  const own = await ownDatasets(deps, query, names);
  const known = new Map<string, PermittedDataset>(own.map((dataset) => [dataset.name, dataset]));
  const missing = names.filter((name) => !known.has(name));
  if (missing.length > 0 && !query.createMissing) throw namesNotFound(missing);
  for (const name of missing) requireCreatableDatasetName(name);
  // Checked before datasets are created: a refused request creates none.
  const ownIds = own.map(({ id }) => id);
  await requirePermission(deps, query, ownIds);
  for (const name of missing) {
    query.signal?.throwIfAborted();
    known.set(name, { ...(await createDataset(deps, principal, name)), sourceAccess: null });
  }
  return names.flatMap((name) => known.get(name) ?? []);
}

async function ownDatasets({ datasets }: AuthDependencies, query: DatasetQuery, names: readonly string[]) {
  const { principal } = query;
  const own = await datasets.ownedByName(scopeOf(query), principal.id, names);
  return own.filter(({ id }) => keyReaches(principal, id));
}

/**
 * Resolves names, for `forget` only, to the first dataset of the name that the principal has the permission on; an own
 * dataset precedes a shared one.
 */
async function amongPermitted(deps: AuthDependencies, query: DatasetQuery, names: readonly string[]) {
  const permitted = await allPermitted(deps, query);
  return names.map((name) => {
    const candidates = permitted.filter((dataset) => dataset.name === name);
    const found = candidates.find((dataset) => dataset.ownerId === query.principal.id) ?? candidates[0];
    if (found !== undefined) return found;
    throw engramError('DatasetNotFoundError', `Dataset '${name}' not found or not accessible.`);
  });
}

async function requirePermission(deps: AuthDependencies, query: DatasetQuery, ids: readonly DatasetId[]) {
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
async function grantHoldersOf({ users, memberships, roleMembers }: AuthDependencies, user: Pick<Principal, 'id'>) {
  const [childAgents, tenants, roles] = await Promise.all([
    users.childAgents(user.id),
    memberships.tenantsOf(user.id),
    roleMembers.rolesOf(user.id),
  ]);
  return grantHolders(user, { childAgents, tenants, roles });
}
