import { WAKE_AT } from '../api/names.ts';
import type { Tenant } from '../api/tenant.ts';
import { keyOf } from '../kube-runtime/kube-object.ts';
import { progressing, type StepOutcome } from '../kube-runtime/steps.ts';
import { isDedicated, isHibernated } from '../tenant/effective-state.ts';
import { type DatasetContext, type DatasetParts, type DatasetStep, tenantName } from './model.ts';
import { translateErrors } from './service-failure.ts';

/** A Tenant that wakes triggers the reconcile of its Datasets. */
const LATER_MS = 300_000;

/**
 * Runs a step with the services of the dataset's tenant: those of the installation, or those of a Dedicated tenant. This is
 * the only place where they are chosen.
 */
export function onTenantServices(parts: DatasetParts, make: (parts: DatasetParts) => DatasetStep): DatasetStep {
  const shared = make(parts);
  return {
    name: shared.name,
    async run(context) {
      const { dedicated } = parts;
      const tenant = dedicated?.tenantOf(tenantName(context.object));
      if (dedicated === undefined || tenant === undefined || !isDedicated(tenant)) return shared.run(context);
      if (isHibernated(tenant, tenant.status)) return hibernated(context, tenant);
      const services = await translateErrors('NATS', () => dedicated.servicesOf(tenant, context.signal));
      return make({ ...parts, services }).run(context);
    },
  };
}

function hibernated({ object }: DatasetContext, { spec }: Tenant): StepOutcome<never> {
  const how = spec.state === 'Hibernated' ? 'set its state to Active' : `give it a new annotation ${WAKE_AT}`;
  const message = `Tenant ${keyOf(tenantName(object))} is hibernated: ${how}, then this continues`;
  return progressing('TenantHibernated', message, { requeueAfterMs: LATER_MS });
}
