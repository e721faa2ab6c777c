import type { Logger } from '../../services/common/ports/logger.ts';
import type { Clock } from '../../services/common/ports/system.ts';
import type { Dataset, DatasetStatus } from '../api/dataset.ts';
import type { Tenant } from '../api/tenant.ts';
import type { OwnershipLabels } from '../kube-runtime/applier.ts';
import type { KubeClient } from '../kube-runtime/kube-client.ts';
import type { ObjectName } from '../kube-runtime/kube-object.ts';
import type { Step, StepContext } from '../kube-runtime/steps.ts';
import type { OwnServices } from '../tenant/dedicated/own-services.ts';
import type { CheckMemory } from './check-memory.ts';
import type { DatasetServices } from './services.ts';

export interface DatasetOptions {
  /** Value of the managed-by label. */
  readonly manager: string;
  readonly labels: OwnershipLabels;
  /** The operator's namespace. */
  readonly home: string;
  /** How often each dataset is compared with what is. */
  readonly resyncMs: number;
}

/** Of Dedicated tenants. */
export interface DedicatedTenants {
  /** As the cache has it. */
  tenantOf(name: ObjectName): Tenant | undefined;
  readonly services: Pick<OwnServices, 'of'>;
}

export interface DatasetDependencies {
  readonly client: KubeClient;
  /** The installation's. */
  readonly services: DatasetServices;
  readonly dedicated?: DedicatedTenants;
  readonly options: DatasetOptions;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What this process remembers about resources; all of it can be lost. */
export interface DatasetMemory {
  readonly identity: CheckMemory;
  readonly access: CheckMemory;
  readonly configuration: CheckMemory;
  readonly retention: CheckMemory;
  readonly embedding: CheckMemory;
  /** Of a migration, as it was written last. */
  readonly progress: CheckMemory;
  readonly statistics: CheckMemory;
  readonly starts: CheckMemory;
}

export interface DatasetParts extends DatasetDependencies {
  readonly memory: DatasetMemory;
}

export type DatasetStep = Step<Dataset, DatasetStatus>;
export type DatasetContext = StepContext<Dataset, DatasetStatus>;
