import type { Config } from '../../services/common/platform/config/configuration.ts';
import type { Tenant } from '../api/tenant.ts';
import type { DedicatedStores, Provision } from '../stores/store-administrator.ts';
import type { InstallationKeys } from './keys.ts';
import PROCESS from './process.json' with { type: 'json' };

/** Any part of a Kubernetes object; the API server validates it. */
export type KubeJson = Readonly<Record<string, unknown>>;

/** Settings of the pods of Dedicated tenants: the chart's `defaults`. */
interface PodOptions {
  readonly imagePullPolicy: string;
  /** Names of Secrets, which must exist in the tenant's namespace. */
  readonly imagePullSecrets: readonly string[];
  readonly resources: KubeJson;
  readonly podSecurityContext: KubeJson;
  readonly securityContext: KubeJson;
  readonly nodeSelector: KubeJson;
  readonly tolerations: readonly KubeJson[];
  readonly affinity: KubeJson;
  readonly priorityClassName: string;
  readonly runtimeClassName: string;
  readonly podLabels: Readonly<Record<string, string>>;
  readonly podAnnotations: Readonly<Record<string, string>>;
  /** Size of each of the two scratch volumes. */
  readonly scratchSize: string;
  readonly preStopSeconds: number;
  readonly drainSeconds: number;
}

/** Peers of the pods of Dedicated tenants, as in NetworkPolicies. */
interface NetworkOptions {
  /** Peers that may reach the services: the ingress controller, the metrics scraper. Empty: everybody. */
  readonly clients: readonly KubeJson[];
  /** Egress rules to the stores. */
  readonly stores: readonly KubeJson[];
}

/** Options for Dedicated tenants. */
export interface DedicatedOptions {
  /** Image of the installation; null disables Dedicated tenants. */
  readonly image: string | null;
  /** Variables of the services, without secrets and settings of stores. */
  readonly settings: Readonly<Record<string, string>>;
  readonly pods: PodOptions;
  readonly network: NetworkOptions;
  readonly stores: DedicatedStores;
}

/** The chart's own defaults. `process.json` is generated from the chart: `npm run generate`. */
export const POD_DEFAULTS: PodOptions = PROCESS.pods;

/** Options that disable Dedicated tenants. */
export const NO_DEDICATED: DedicatedOptions = {
  image: null,
  settings: {},
  pods: POD_DEFAULTS,
  network: { clients: [], stores: [] },
  stores: { available: false, reason: 'The operator has no administrator of any store' },
};

type Settings = Pick<
  Config,
  'operatorDedicatedImage' | 'operatorDedicatedSettings' | 'operatorDedicatedPods' | 'operatorDedicatedNetwork'
>;

/** Reads the options from the operator's settings; defaults are those of the chart. */
export function dedicatedOptions(config: Settings, stores: DedicatedStores): DedicatedOptions {
  const texts = Object.entries(config.operatorDedicatedSettings ?? {}).map(([name, value]) => [name, String(value)]);
  const network = (config.operatorDedicatedNetwork ?? {}) as Partial<NetworkOptions>;
  return {
    image: config.operatorDedicatedImage ?? null,
    settings: Object.fromEntries(texts) as Record<string, string>,
    pods: { ...POD_DEFAULTS, ...(config.operatorDedicatedPods as Partial<PodOptions> | undefined) },
    network: { clients: network.clients ?? [], stores: network.stores ?? [] },
    stores,
  };
}

/**
 * - `serving`: the services run and receive the requests.
 * - `draining`: the services still receive them, until the activator runs, too.
 * - `hibernated`: only the activator runs.
 * - `waking`: the services start, and the activator receives the requests meanwhile.
 */
export type Mode = 'serving' | 'draining' | 'hibernated' | 'waking';

/** Everything that the objects of a Dedicated tenant are made from. */
export interface Installation {
  readonly tenant: Tenant;
  readonly options: DedicatedOptions & { readonly image: string };
  readonly keys: InstallationKeys;
  readonly provision: Provision;
  readonly mode: Mode;
  /** Port of the Services. */
  readonly port: number;
}
