import type { Registry } from 'prom-client';
import type { Logger } from '../services/common/platform/observability/logger.ts';
import type { DedicatedOptions } from './dedicated/options.ts';
import type { OpenBus } from './dedicated/services.ts';
import type { Backends } from './installation/installation.ts';
import type { Services } from './installation/services.ts';
import type { KubeConnection } from './kube-runtime/kube-connection.ts';
import type { LeaseTimes } from './kube-runtime/leader-election.ts';
import type { RuntimeClock } from './kube-runtime/runtime-clock.ts';
import type { TenantOptions } from './tenant/model.ts';

/** Field manager, value of the managed-by label, name in user agents. */
export const OPERATOR_NAME = 'engram-operator';

export const METRICS_PREFIX = 'engram_operator_';

export interface OperatorOptions {
  readonly connection: KubeConnection;
  readonly clock: RuntimeClock;
  readonly logger: Logger;
  readonly registry: Registry;
  /** Services of the installation. */
  readonly services: Services;
  readonly lease: { readonly name: string; readonly namespace: string };
  /** Default: 15, 10 and 2 s. */
  readonly leaseTimes?: LeaseTimes;
  /** Unique name of this process: its pod and a random suffix. */
  readonly identity: string;
  /** Name of the pod, for events. */
  readonly instance: string;
  /** Null: all. */
  readonly watchNamespaces: readonly string[] | null;
  /** In addition to the operator's own namespace; see `TenantOptions`. */
  readonly trustedNamespaces?: readonly string[];
  /** Workers of each kind. */
  readonly workers: number;
  readonly resyncMs: number;
  /** Interval of the isolation checks of a tenant. Default: half an hour. */
  readonly isolationCheckMs?: number;
  readonly stores: TenantOptions['stores'];
  readonly backends: Backends;
  /** Absent: there are no Dedicated tenants. */
  readonly dedicated?: { readonly options: DedicatedOptions; readonly open: OpenBus };
  /** Called when the lease is lost: the process must end. */
  onLost(): void;
}
