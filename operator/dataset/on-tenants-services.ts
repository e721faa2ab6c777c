import type { Tenant } from '../api/tenant.ts';
import { keyOf } from '../kube-runtime/kube-object.ts';
import { progressing, type StepOutcome } from '../kube-runtime/steps.ts';
import { isAsleep, isDedicated } from '../tenant/dedicated/own-services.ts';
import { WAKE_AT } from '../tenant/names.ts';
import type { DatasetContext, DatasetParts, DatasetStep } from './dependencies.ts';
import { tenantName } from './resource.ts';
import { askService } from './service-failure.ts';
import type { DatasetServices } from './services.ts';

/** That the Tenant wakes comes back by itself. */
const LATER_MS = 300_000;

/**
 * A step on the services that the dataset's tenant has: the installation's, or those of a Dedicated one. The one place where
 * they are chosen.
 */
export function onTenantsServices(parts: DatasetParts, make: (parts: DatasetParts) => DatasetStep): DatasetStep {
  const shared = make(parts);
  return {
    name: shared.name,
    async run(context) {
      const tenant = parts.dedicated?.tenantOf(tenantName(context.object));
      if (parts.dedicated === undefined || tenant === undefined || !isDedicated(tenant)) return shared.run(context);
      if (isAsleep(tenant, tenant.status)) return asleep(context, tenant);
      const services = await askService('NATS', () => servicesOf(parts, tenant, context.signal));
      return make({ ...parts, services }).run(context);
    },
  };
}

async function servicesOf(
  { dedicated, services }: DatasetParts,
  tenant: Tenant,
  signal: AbortSignal,
): Promise<DatasetServices> {
  return (await dedicated?.services.of(tenant, signal))?.dataset ?? services;
}

function asleep({ object }: DatasetContext, { spec }: Tenant): StepOutcome<never> {
  const how = spec.state === 'Hibernated' ? 'set its state to Active' : `give it a new annotation ${WAKE_AT}`;
  const message = `Tenant ${keyOf(tenantName(object))} is hibernated: ${how}, then this goes on`;
  return progressing('TenantHibernated', message, { requeueAfterMs: LATER_MS });
}
