import { WAKE_AT } from '../api/names.ts';
import type { Tenant, TenantStatus, TenantStatusStore } from '../api/tenant.ts';
import type { Backends } from '../installation/installation.ts';
import type { Services } from '../installation/services.ts';
import type { Applier, OwnershipLabels } from '../kube-runtime/applier.ts';
import type { KubeClient } from '../kube-runtime/kube-client.ts';
import type { Step, StepContext } from '../kube-runtime/steps.ts';
import type { IsolationChecks } from './isolation-checks.ts';

export interface TenantOptions {
  /** Value of the managed-by label. */
  readonly manager: string;
  readonly labels: OwnershipLabels;
  /** Stores of the tenant with their isolation: those of the installation, or its own. */
  readonly stores: readonly TenantStatusStore[];
  /** The operator's namespace. */
  readonly home: string;
  readonly backends: Backends;
  /** Namespaces whose Tenants may adopt any tenant and name any TLS Secret in the namespace of the services. */
  readonly trustedNamespaces: readonly string[];
  /** Namespaces whose resources this operator works on; null for all of them. */
  readonly watchNamespaces: readonly string[] | null;
  /** Each tenant is reconciled again after this time. */
  readonly resyncMs: number;
}

export interface TenantDependencies {
  readonly client: KubeClient;
  readonly applier: Applier;
  /** Services of the installation that the tenant is in. */
  readonly services: Services;
  readonly options: TenantOptions;
  readonly isolation: IsolationChecks;
}

export type TenantStep = Step<Tenant, TenantStatus>;
export type TenantContext = StepContext<Tenant, TenantStatus>;

/** Whether the spec changed since the last reconcile: differences that follow from that are no drift. */
export function isNewGeneration({ object, status }: TenantContext): boolean {
  return status.observedGeneration !== object.metadata.generation;
}

/** Whether the wake-at annotation has a new value. */
export function isWakeRequested({ object, status }: TenantContext): boolean {
  const wakeAt = object.metadata.annotations?.[WAKE_AT];
  return wakeAt !== undefined && wakeAt !== status.lastHandledWakeAt;
}
