import type { DatasetId, TenantId } from '../../services/common/kernel/brand.ts';
import { asId } from '../../services/common/kernel/ids.ts';
import type { Logger } from '../../services/common/ports/logger.ts';
import type { Clock, MonotonicClock } from '../../services/common/ports/system.ts';
import type { Dataset, DatasetStatus } from '../api/dataset.ts';
import { FRAME_ANNOTATIONS } from '../api/names.ts';
import { TENANT_KIND, type Tenant } from '../api/tenant.ts';
import type { Services } from '../installation/services.ts';
import type { OwnershipLabels } from '../kube-runtime/applier.ts';
import type { KubeClient } from '../kube-runtime/kube-client.ts';
import type { ObjectName } from '../kube-runtime/kube-object.ts';
import { progressing, type Step, type StepContext, StepFailure } from '../kube-runtime/steps.ts';

interface DatasetOptions {
  /** Value of the managed-by label. */
  readonly manager: string;
  readonly labels: OwnershipLabels;
  /** The operator's namespace. */
  readonly home: string;
  /** Each dataset is reconciled again after this time. */
  readonly resyncMs: number;
}

/** Access to Dedicated tenants. */
interface DedicatedTenants {
  /** Reads the cache. */
  tenantOf(name: ObjectName): Tenant | undefined;
  /** Services of a Dedicated tenant. Throws `ServiceUnavailableError` when its bus does not answer. */
  servicesOf(tenant: Tenant, signal: AbortSignal): Promise<Services>;
}

export interface DatasetDependencies {
  readonly client: KubeClient;
  /** Services of the installation; in a step, those of the dataset's tenant. */
  readonly services: Services;
  readonly dedicated?: DedicatedTenants;
  readonly options: DatasetOptions;
  readonly clock: Clock;
  readonly logger: Logger;
}

type CheckMemory = ReturnType<typeof createCheckMemory>;

/**
 * Remembers for `maxAgeMs`, by the uid of the resource, that a check succeeded: so the statistics can be read every minute
 * without repeating all other checks. A restart forgets everything and repeats them.
 */
export function createCheckMemory(clock: MonotonicClock, maxAgeMs: number) {
  const held = new Map<string, { readonly state: string; readonly until: number }>();
  return {
    /** Whether a check of the same `state` (generation, contents) succeeded within the age. */
    holds(uid: string, state: string): boolean {
      const check = held.get(uid);
      return check?.state === state && clock.monotonicMs() < check.until;
    },
    remember(uid: string, state: string, ageMs = maxAgeMs): void {
      held.set(uid, { state, until: clock.monotonicMs() + ageMs });
    },
    forget: (uid: string) => void held.delete(uid),
  };
}

/** Results of checks that this process remembers for each resource; all of it can be lost. */
export interface DatasetMemory {
  readonly identity: CheckMemory;
  readonly access: CheckMemory;
  readonly configuration: CheckMemory;
  readonly retention: CheckMemory;
  readonly embedding: CheckMemory;
  readonly sources: CheckMemory;
  /** Progress of a migration, as it was written last. */
  readonly progress: CheckMemory;
  readonly statistics: CheckMemory;
  readonly starts: CheckMemory;
}

export interface DatasetParts extends DatasetDependencies {
  readonly memory: DatasetMemory;
}

export type DatasetStep = Step<Dataset, DatasetStatus>;
export type DatasetContext = StepContext<Dataset, DatasetStatus>;

export function tenantName({ metadata, spec }: Dataset): ObjectName {
  const namespace = spec.tenantRef.namespace ?? metadata.namespace;
  return { name: spec.tenantRef.name, ...(namespace === undefined ? {} : { namespace }) };
}

/** Name of the dataset in the HTTP API. */
export function wireName({ metadata, spec }: Dataset): string {
  return spec.name ?? metadata.name;
}

export function uidOf({ metadata }: Dataset): string {
  return metadata.uid ?? '';
}

/** Value of the reconcile-at annotation. */
export function requestOf({ metadata }: Dataset): string {
  return metadata.annotations?.[FRAME_ANNOTATIONS.reconcileAt] ?? '';
}

/** State that a check belongs to: changes with the generation and with each request to reconcile. */
export function stateOf(dataset: Dataset): string {
  return `${dataset.metadata.generation ?? 0} ${requestOf(dataset)}`;
}

export function readTenant(client: KubeClient, dataset: Dataset, signal: AbortSignal): Promise<Tenant | null> {
  return client.get<Tenant>(TENANT_KIND, tenantName(dataset), { signal });
}

export interface DatasetIds {
  readonly tenantId: TenantId;
  readonly datasetId: DatasetId;
}

/** Ids that the previous steps found. */
export function idsOf({ status }: DatasetContext): DatasetIds {
  const { tenantId, datasetId } = status;
  if (tenantId === undefined || datasetId === undefined) {
    throw new StepFailure(progressing('Provisioning', 'The dataset is being created'));
  }
  return { tenantId: asId<TenantId>(tenantId), datasetId: asId<DatasetId>(datasetId) };
}
