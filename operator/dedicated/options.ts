import type { Config } from '../../services/common/platform/config/configuration.ts';
import type { Tenant } from '../api/tenant.ts';
import type { DedicatedStores, Provision } from '../stores/store-administrator.ts';
import type { InstallationKeys } from './keys.ts';
import PROCESS from './process.json' with { type: 'json' };

/** Anything as Kubernetes writes it; the API server checks it. */
export type KubeJson = Readonly<Record<string, unknown>>;

/** How pods of Dedicated tenants are made: what the chart's `defaults` say of its own. */
interface PodOptions {
  readonly imagePullPolicy: string;
  /** Names of Secrets, which must be in the tenant's namespace. */
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
  /** Of each of the two scratch volumes. */
  readonly scratchSize: string;
  readonly preStopSeconds: number;
  readonly drainSeconds: number;
}

/** What pods of Dedicated tenants may be reached by and reach, as NetworkPolicies write it. */
interface NetworkOptions {
  /** Peers that reach the services: the ingress controller, what reads metrics. None: everybody. */
  readonly clients: readonly KubeJson[];
  /** Rules of egress to the stores. */
  readonly stores: readonly KubeJson[];
}

/** What is to be known for Dedicated tenants. */
export interface DedicatedOptions {
  /** The installation's own, or null: then there are no Dedicated tenants. */
  readonly image: string | null;
  /** Variables of the services that are no secrets and of no store. */
  readonly settings: Readonly<Record<string, string>>;
  readonly pods: PodOptions;
  readonly network: NetworkOptions;
  readonly stores: DedicatedStores;
}

/** The chart's own defaults. `process.json` is generated from the chart: `npm run generate`. */
export const POD_DEFAULTS: PodOptions = PROCESS.pods;

/** No Dedicated tenants. */
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

/** What the operator's settings say of Dedicated tenants. What is not named is as the chart's own defaults. */
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
