import { SERVICE_NAMES, type ServiceName } from '../../../services/common/domain/service-paths.ts';
import type { Clock } from '../../../services/common/ports/system.ts';
import type { Tenant } from '../../api/tenant.ts';
import { done } from '../../kube-runtime/steps.ts';
import type { Provision } from '../../stores/store-administrator.ts';
import type { TenantContext, TenantDependencies, TenantStep } from '../dependencies.ts';
import { askServices } from '../service-failure.ts';
import { objectName } from './names.ts';
import type { DedicatedOptions } from './options.ts';
import { isAsleep, isDedicated, type OwnServices } from './own-services.ts';

/** What the reconciler of tenants needs for Dedicated ones. */
export interface Dedicated {
  readonly options: DedicatedOptions;
  readonly services: OwnServices;
  readonly provisions: ProvisionMemory;
  /** All Tenants that are known now, of both kinds. */
  readonly tenants: () => readonly Tenant[];
}

/** What the stores' administrators answered; can be lost. */
export interface ProvisionMemory {
  get(uid: string, state: string): Provision | undefined;
  set(uid: string, state: string, provision: Provision): void;
  forget(uid: string): void;
}

/** Remembers for `lastsMs`, a little less than the time between two checks. */
export function createProvisionMemory(clock: Pick<Clock, 'monotonicMs'>, lastsMs: number): ProvisionMemory {
  const held = new Map<string, { readonly state: string; readonly at: number; readonly provision: Provision }>();
  return {
    get(uid, state) {
      const one = held.get(uid);
      return one?.state === state && clock.monotonicMs() - one.at < lastsMs ? one.provision : undefined;
    },
    set: (uid, state, provision) => void held.set(uid, { state, at: clock.monotonicMs(), provision }),
    forget: (uid) => void held.delete(uid),
  };
}

/**
 * A step on the services, stores and Services that the tenant has: the installation's or its own. The one place where they are
 * chosen. What only services can do waits while those of a Dedicated tenant sleep.
 */
export function onOwn(
  deps: TenantDependencies,
  make: (deps: TenantDependencies) => TenantStep,
  { needsServices = true }: { readonly needsServices?: boolean } = {},
): TenantStep {
  const shared = make(deps);
  return {
    name: shared.name,
    async run(context) {
      const { object, status } = context;
      if (!isDedicated(object)) return shared.run(context);
      if (needsServices && isAsleep(object, status)) return done();
      const own = needsServices ? await withOwnServices(deps, context) : deps;
      return make(withOwnBackends(own, context)).run(context);
    },
  };
}

async function withOwnServices(
  deps: TenantDependencies,
  { object, signal }: TenantContext,
): Promise<TenantDependencies> {
  const { tenant } = await askServices('NATS', () => deps.dedicated.services.of(object, signal));
  return { ...deps, services: tenant };
}

function withOwnBackends(deps: TenantDependencies, { object, status }: TenantContext): TenantDependencies {
  const { options } = deps;
  const services = Object.fromEntries(SERVICE_NAMES.map((name) => [name, objectName(object, name)]));
  const backends = {
    ...options.backends,
    namespace: object.metadata.namespace ?? '',
    services: services as Readonly<Record<ServiceName, string>>,
  };
  return { ...deps, options: { ...options, backends, stores: status.stores ?? [] } };
}
