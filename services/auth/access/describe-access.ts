import { shownAgentAddress } from '../../common/domain/agent-address.ts';
import { isCanaryDataset } from '../../common/domain/canary.ts';
import { CAPABILITIES } from '../../common/domain/capabilities.ts';
import type { UserId } from '../../common/kernel/brand.ts';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { asId } from '../../common/kernel/ids.ts';
import { isLimited, limitedKeyError, type Permission, type Principal } from '../../common/kernel/principal.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import type { AnswerOf } from '../../common/platform/messaging/messages.ts';
import type { Tenant } from '../../common/records/auth/tenants.ts';
import type { User } from '../../common/records/auth/users.ts';
import type { AuthDependencies } from '../model.ts';
import type { Role } from '../repositories/roles.ts';
import { resolveDatasets, withReader } from './resolve-datasets.ts';
import { authorityOf } from './tenant-authority.ts';

type Edge = AnswerOf<'auth.DescribeAccess'>['edges'][number];

const RELATIONS: Readonly<Record<Permission, string>> = {
  read: 'reads',
  write: 'writes',
  delete: 'can_delete',
  share: 'can_share',
};

/** Implements `auth.DescribeAccess`; proto/ has its rules. Accounts are named by their id: addresses are for those who share. */
export async function describeAccess(
  deps: AuthDependencies,
  principal: Principal,
): Promise<AnswerOf<'auth.DescribeAccess'>> {
  if (isLimited(principal)) throw limitedKeyError();
  const scope = { tenant: principal.tenant };
  const tenant = principal.tenant === PERSONAL_TENANT ? null : await deps.tenants.get(principal.tenant);
  const authority = tenant === null ? null : await authorityOf(deps, principal, tenant);
  const isAdmin = authority?.isMember === true && CAPABILITIES.every((capability) => authority.allows(capability));
  const readable = await resolveDatasets(deps, { principal, permission: 'read' });
  const datasets = isAdmin
    ? (await withReader(deps, principal, await deps.datasets.allOfTenant(scope))).filter(
        (dataset) => !isCanaryDataset(dataset),
      )
    : readable;
  const edges: Edge[] = [];
  const holders = new Set<string>([principal.id, ...datasets.map(({ ownerId }) => ownerId)]);
  const granted: { readonly holder: string; readonly dataset: string; readonly relation: string }[] = [];
  for (const { id } of datasets) {
    for (const { holder, permissions } of await deps.grants.onDataset(scope, id)) {
      holders.add(holder);
      for (const permission of permissions) granted.push({ holder, dataset: id, relation: RELATIONS[permission] });
    }
  }
  const { roles, members, memberIds } = await peopleOf(deps, tenant, { isAdmin, holders });
  for (const { user } of members) if (isAdmin) holders.add(user);
  if (isAdmin) for (const id of memberIds) holders.add(id);
  const agents = await deps.users.agentsOf(principal.id);
  const users = await deps.users.getMany([...holders].map((id) => asId<UserId>(id)));
  const accounts = [...new Map([...users, ...agents].map((user) => [user.id, user])).values()];
  const nodes = [
    ...(tenant === null ? [] : [{ id: `tenant:${tenant.id}`, type: 'Tenant', name: tenant.name }]),
    ...accounts.map(accountNode),
    ...roles.map(({ id, name }) => ({ id: `role:${id}`, type: 'Role', name })),
  ];
  const idOf = new Map(nodes.map(({ id }) => [id.slice(id.indexOf(':') + 1), id]));
  const add = (source: string | undefined, relation: string, target: string | undefined) => {
    if (source !== undefined && target !== undefined) edges.push({ source, relation, target });
  };
  for (const { id, ownerId } of datasets) add(idOf.get(ownerId), 'owns', datasetNode({ id }));
  for (const { holder, relation, dataset } of granted) add(idOf.get(holder), relation, datasetNode({ id: dataset }));
  for (const { id } of roles) add(tenant?.id && idOf.get(tenant.id), 'has_role', idOf.get(id));
  for (const { role, user } of members) add(idOf.get(role), 'has_member', idOf.get(user));
  for (const id of memberIds) add(tenant?.id && idOf.get(tenant.id), 'has_member', idOf.get(id));
  for (const { id, parentId } of accounts)
    add(parentId === null ? undefined : idOf.get(parentId), 'operates', idOf.get(id));
  return { datasets, readableIds: readable.map(({ id }) => id), nodes, edges };
}

interface Seen {
  readonly isAdmin: boolean;
  /** Ids of users, roles and tenants with something on the datasets. */
  readonly holders: ReadonlySet<string>;
}

/** Returns roles and members of the tenant: all for its administrators, those with something on the datasets for others. */
async function peopleOf(deps: AuthDependencies, tenant: Tenant | null, { isAdmin, holders }: Seen) {
  if (tenant === null) return { roles: [] as readonly Role[], members: [], memberIds: [] };
  const [allRoles, allMembers, allIds] = await Promise.all([
    deps.roles.ofTenant(tenant.id),
    deps.roleMembers.ofTenant(tenant.id),
    deps.memberships.usersOf(tenant.id),
  ]);
  const roles = allRoles.filter(({ id }) => isAdmin || holders.has(id));
  const seen = new Set<string>(roles.map(({ id }) => id));
  return {
    roles,
    members: allMembers.filter(({ role, user }) => seen.has(role) && (isAdmin || holders.has(user))),
    memberIds: allIds.filter((id) => isAdmin || holders.has(id)),
  };
}

function accountNode({ id, email, parentId }: User) {
  if (parentId === null) return { id: `user:${id}`, type: 'User', name: `user:${id.slice(0, 8)}` };
  return { id: `agent:${id}`, type: 'Agent', name: shownAgentAddress(email).replace(/@.*$/, '') };
}

const datasetNode = ({ id }: DatasetRef | { readonly id: string }): string => `dataset:${id}`;
