import type { Capability } from '../../domain/capabilities.ts';
import type { Permission } from '../../kernel/principal.ts';

/** Permission that a use case demands of the principal: the guard, the document and the permission test read it. */
export interface RoutePermission {
  /**
   * `nothing`: every authenticated principal. `identity`: the same, about itself. `account`: the caller's account and
   * what gives access to it. `own`: what the caller has in its tenant. `datasets`: grants. `tenant`: capabilities or
   * membership. `server`: superusers.
   */
  readonly over: 'nothing' | 'identity' | 'account' | 'own' | 'datasets' | 'tenant' | 'server';
  /** Words for the OpenAPI document. */
  readonly text: string;
}

export const NO_PERMISSION: RoutePermission = { over: 'nothing', text: 'none' };
/** Permission of routes that describe the caller, in whatever state its tenant is. */
export const IDENTITY: RoutePermission = { over: 'identity', text: 'none' };
export const SUPERUSER: RoutePermission = { over: 'server', text: 'superuser' };

/** `ofAccount('account')`: the same in every tenant, so it is not for the key of one. */
export function ofAccount(what: string): RoutePermission {
  return { over: 'account', text: `own ${what}` };
}

/** `own('history')`: in the tenant the caller works in. */
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
