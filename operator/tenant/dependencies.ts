import type { ServiceName } from '../../services/common/domain/service-paths.ts';
import type { Tenant, TenantStatus, TenantStatusStore } from '../api/tenant.ts';
import type { Applier, OwnershipLabels } from '../kube-runtime/applier.ts';
import type { KubeClient } from '../kube-runtime/kube-client.ts';
import type { Step, StepContext } from '../kube-runtime/steps.ts';
import type { Dedicated } from './dedicated/dedicated.ts';
import type { IsolationChecks } from './isolation-checks.ts';
import type { TenantServices } from './services.ts';

export interface TenantOptions {
  /** Value of the managed-by label. */
  readonly manager: string;
  readonly labels: OwnershipLabels;
  /** Stores that the tenant is in, with the isolation that each offers: the installation's, unless it has its own. */
  readonly stores: readonly TenantStatusStore[];
  /** The operator's namespace. */
  readonly home: string;
  /** Where requests are routed to. */
  readonly backends: {
    readonly namespace: string;
    readonly services: Readonly<Record<ServiceName, string>>;
    readonly port: number;
  };
  /** Namespaces whose Tenants may adopt any tenant and name any TLS Secret beside the services. */
  readonly trustedNamespaces: readonly string[];
  /** Namespaces whose resources this operator works on; null for all of them. */
  readonly watchNamespaces: readonly string[] | null;
  /** How often each tenant is compared with what is. */
  readonly resyncMs: number;
}

export interface TenantDependencies {
  readonly client: KubeClient;
  readonly applier: Applier;
  readonly services: TenantServices;
  readonly options: TenantOptions;
  readonly dedicated: Dedicated;
  readonly isolation: IsolationChecks;
}

export type TenantStep = Step<Tenant, TenantStatus>;
export type TenantContext = StepContext<Tenant, TenantStatus>;
