import { PERMISSIONS, type Permission } from '../../services/common/kernel/principal.ts';

/**
 * A model of access control (proto/http/auth-integrations.md §3.1) with plain sets. Entries of relations are ids joined by
 * `|`.
 */
export class AccessModel {
  readonly parents = new Map<string, string>();
  readonly current = new Map<string, string>();
  readonly members = new Set<string>();
  readonly roleTenants = new Map<string, string>();
  readonly assigned = new Set<string>();
  readonly datasets = new Map<string, string>();
  readonly grants = new Set<string>();

  agentsOf = (user: string) => [...this.parents.keys()].filter((agent) => this.parents.get(agent) === user);
  tenantsOf = (user: string) => secondOf(this.members, user);
  rolesOf = (user: string) => (this.tenantsOf(user).length === 0 ? [] : secondOf(this.assigned, user));
  holders = (user: string) => [user, ...this.agentsOf(user), ...this.tenantsOf(user), ...this.rolesOf(user)];
  may = (user: string, permission: Permission, dataset: string) =>
    this.datasets.get(dataset) === this.current.get(user) &&
    this.holders(user).some((holder) => this.grants.has(`${dataset}|${holder}|${permission}`));
  /** Whether the user may know of the tenant or role: it is a member, or an agent that works in the tenant. */
  knows = (user: string, holder: string) => {
    const isTenant = [...this.members].some((entry) => entry.endsWith(`|${holder}`));
    const tenant = this.roleTenants.get(holder) ?? (isTenant ? holder : undefined);
    return tenant === undefined || this.current.get(user) === tenant || this.members.has(`${user}|${tenant}`);
  };
  holds = (holder: string, dataset: string) =>
    [...this.grants].some((entry) => entry.startsWith(`${dataset}|${holder}|`));
  reach = (user: string, permission: Permission) =>
    [...this.datasets.keys()].filter((dataset) => this.may(user, permission, dataset));
  give = (dataset: string, holder: string) => {
    for (const permission of PERMISSIONS) this.grants.add(`${dataset}|${holder}|${permission}`);
  };
}

function secondOf(relation: ReadonlySet<string>, first: string): readonly string[] {
  return [...relation].filter((entry) => entry.startsWith(`${first}|`)).map((entry) => entry.slice(first.length + 1));
}

/** Removes entries. */
export function drop(relation: Set<string>, isDropped: (parts: readonly string[]) => boolean): void {
  for (const entry of relation) if (isDropped(entry.split('|'))) relation.delete(entry);
}
