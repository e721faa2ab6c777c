import { SERVICE_NAMES, type ServiceName } from '../../services/common/domain/service-paths.ts';
import type { MonotonicClock } from '../../services/common/ports/system.ts';
import type { Tenant } from '../api/tenant.ts';
import { done } from '../kube-runtime/steps.ts';
import type { Provision } from '../stores/store-administrator.ts';
import { isDedicated, isHibernated } from '../tenant/effective-state.ts';
import type { TenantContext, TenantDependencies, TenantStep } from '../tenant/model.ts';
import { translateErrors } from '../tenant/service-failure.ts';
import { objectName } from './names.ts';
import type { DedicatedOptions } from './options.ts';
import type { DedicatedServices } from './services.ts';

export interface DedicatedDependencies extends TenantDependencies {
  readonly dedicated: {
    readonly options: DedicatedOptions;
    readonly services: DedicatedServices;
    readonly provisions: ProvisionMemory;
    /** All Tenants in the cache, Shared and Dedicated. */
    readonly tenants: () => readonly Tenant[];
  };
}

type ProvisionMemory = ReturnType<typeof createProvisionMemory>;

/**
 * Remembers what the administrators of the stores answered, by the uid of the tenant, for `lastsMs`: a little less than the
 * time between two checks.
 */
export function createProvisionMemory(clock: MonotonicClock, lastsMs: number) {
  const held = new Map<string, { readonly state: string; readonly at: number; readonly provision: Provision }>();
  return {
    get(uid: string, state: string): Provision | undefined {
      const one = held.get(uid);
      return one?.state === state && clock.monotonicMs() - one.at < lastsMs ? one.provision : undefined;
    },
    set(uid: string, state: string, provision: Provision): void {
      held.set(uid, { state, at: clock.monotonicMs(), provision });
    },
    forget: (uid: string) => void held.delete(uid),
  };
}

/**
 * Runs a step with the services, stores and Kubernetes Services of the tenant: those of the installation, or its own. This is
 * the only place where they are chosen. A step that needs services is skipped while those of a Dedicated tenant are stopped.
 */
export function onTenantInstallation(
  deps: DedicatedDependencies,
  make: (deps: TenantDependencies) => TenantStep,
  { needsServices = true }: { readonly needsServices?: boolean } = {},
): TenantStep {
  const shared = make(deps);
  return {
    name: shared.name,
    async run(context) {
      const { object, status, signal } = context;
      if (!isDedicated(object)) return shared.run(context);
      if (needsServices && isHibernated(object, status)) return done();
      const services = needsServices
        ? await translateErrors('NATS', () => deps.dedicated.services.of(object, signal))
        : deps.services;
      return make({ ...withOwnBackends(deps, context), services }).run(context);
    },
  };
}

function withOwnBackends(deps: DedicatedDependencies, { object, status }: TenantContext): DedicatedDependencies {
  const { options } = deps;
  const services = Object.fromEntries(SERVICE_NAMES.map((name) => [name, objectName(object, name)]));
  const backends = {
    ...options.backends,
    namespace: object.metadata.namespace ?? '',
    services: services as Readonly<Record<ServiceName, string>>,
  };
  return { ...deps, options: { ...options, backends, stores: status.stores ?? [] } };
}
