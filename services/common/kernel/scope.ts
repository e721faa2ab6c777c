import type { DataItemId, DatasetId, TenantId } from './brand.ts';
import { asId } from './ids.ts';

/** The tenant of everybody's personal space; the wire prints it as null. */
export const PERSONAL_TENANT = asId<TenantId>('personal');

/**
 * Where a call may look and write. A port never reaches outside it: an item of another tenant or, when `dataset` is
 * given, of another dataset does not exist for the call.
 */
export interface Scope {
  readonly tenant: TenantId;
  readonly dataset?: DatasetId;
}

export interface DatasetScope extends Scope {
  readonly dataset: DatasetId;
  /**
   * Items that the reader may not see. To the ledger they are not committed, so that no reader shows them; rankings and limits of
   * the stores leave them out, so that they take no places of others. Absent: the reader sees all, or no reader asks.
   */
  readonly withheld?: ReadonlySet<DataItemId>;
}

declare const system: unique symbol;

/**
 * Reaches every tenant: account look-up, job claims, recovery, migrations. Made by composition roots and by the job
 * engine when it claims; everything that a request starts works with the scope of its principal.
 */
export interface SystemScope {
  readonly [system]: true;
}

export type AnyScope = Scope | SystemScope;

export const SYSTEM_SCOPE = Object.freeze({}) as SystemScope;

export function isSystemScope(scope: AnyScope): scope is SystemScope {
  return scope === SYSTEM_SCOPE;
}

export function datasetScope(tenant: TenantId, dataset: DatasetId): DatasetScope {
  return { tenant, dataset };
}

/** The wire's spelling of a tenant. */
export function wireTenant(tenant: TenantId): TenantId | null {
  return tenant === PERSONAL_TENANT ? null : tenant;
}
