import type { Capability } from '../domain/capabilities.ts';
import type { Permission } from '../domain/principal.ts';

/** What a use case demands of the principal: the guard, the document and the permission test read it. */
export interface RoutePermission {
  /**
   * `nothing`: whoever passes authentication. `own`: the caller's account and what belongs to it. `datasets`: grants.
   * `tenant`: capabilities or membership. `server`: superusers.
   */
  readonly over: 'nothing' | 'own' | 'datasets' | 'tenant' | 'server';
  /** For the document. */
  readonly text: string;
}

export const NO_PERMISSION: RoutePermission = { over: 'nothing', text: 'none' };
export const SUPERUSER: RoutePermission = { over: 'server', text: 'superuser' };

/** `own('account')` */
export function own(what: string): RoutePermission {
  return { over: 'own', text: `own ${what}` };
}

/** `onDatasets('read', 'per dataset')`: the second names which datasets. */
export function onDatasets(permission: Permission, which = 'on the dataset'): RoutePermission {
  return { over: 'datasets', text: `${permission} ${which}` };
}

/** A capability in the tenant, or plain membership, which `which` explains. */
export function inTenant(demand: Capability | 'member', which = 'in the tenant'): RoutePermission {
  return { over: 'tenant', text: `${demand} ${which}` };
}
