import type { Tenant } from '../api/tenant.ts';
import type { ConditionDraft } from '../kube-runtime/conditions.ts';
import { keyOf } from '../kube-runtime/kube-object.ts';
import { done, stalled } from '../kube-runtime/steps.ts';
import { isDedicated } from '../tenant/effective-state.ts';
import type { TenantStep } from '../tenant/model.ts';
import type { DedicatedDependencies } from './model.ts';

/** Another Tenant that releases a name triggers no reconcile. */
const AGAIN_MS = 60_000;

/**
 * Ensures that a host name belongs to one Tenant: the one that is routed under it, otherwise the oldest. The auth of a
 * Dedicated tenant cannot check this, because it knows no other tenant.
 */
export function reserveHostName(deps: DedicatedDependencies): TenantStep {
  return {
    name: 'reserve-host-name',
    async run({ object }) {
      if (!isDedicated(object)) return done();
      const others = deps.dedicated.tenants().filter(({ metadata }) => metadata.uid !== object.metadata.uid);
      const holder = holderOf(object, others);
      if (holder === null) return done();
      const message = `Host name ${object.spec.routing?.hostname} belongs to another Tenant: choose another one, or remove it from that one first`;
      const condition: ConditionDraft = { type: 'Routed', status: 'False', reason: 'HostnameConflict', message };
      return stalled('HostnameConflict', message, { conditions: [condition], requeueAfterMs: AGAIN_MS });
    },
  };
}

function holderOf(tenant: Tenant, others: readonly Tenant[]): Tenant | null {
  const { hostname } = tenant.spec.routing ?? {};
  if (hostname === undefined || isRouted(tenant, hostname)) return null;
  const rivals = others.filter((other) => other.spec.routing?.hostname === hostname || isRouted(other, hostname));
  return rivals.find((other) => isRouted(other, hostname) || isBefore(other, tenant)) ?? null;
}

function isRouted({ status }: Tenant, hostname: string): boolean {
  return status?.url !== undefined && URL.parse(status.url)?.host === hostname;
}

function isBefore(one: Tenant, other: Tenant): boolean {
  const orderOf = ({ metadata }: Tenant) => `${metadata.creationTimestamp ?? ''} ${keyOf(metadata)}`;
  return orderOf(one) < orderOf(other);
}
