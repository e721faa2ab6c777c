import type { Config } from '../../services/common/platform/config/configuration.ts';
import { ConfigurationError } from '../../services/common/platform/config/load-config.ts';
import type { Tenant } from '../api/tenant.ts';
import type { DedicatedStores, Provision } from '../stores/store-administrator.ts';
import type { InstallationKeys } from './keys.ts';
import POD_TEMPLATE from './pod-template.json' with { type: 'json' };

/** Any part of a Kubernetes object; the API server validates it. */
export type KubeJson = Readonly<Record<string, unknown>>;

/** Container of the services, as the chart renders it. */
export interface PodContainer extends KubeJson {
  readonly env: readonly KubeJson[];
  readonly resources: { readonly requests?: KubeJson; readonly limits?: KubeJson };
  readonly volumeMounts: readonly KubeJson[];
}

/** Pod template of the services, which the chart renders from its own (`engram.dedicatedPods`). */
interface PodTemplate {
  readonly metadata: {
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
  };
  readonly spec: KubeJson & {
    readonly containers: readonly PodContainer[];
    readonly volumes: readonly KubeJson[];
    readonly topologySpreadConstraints?: readonly KubeJson[];
  };
}

/** Peers of the pods of Dedicated tenants, as in NetworkPolicies. */
interface NetworkOptions {
  /** Peers that may reach the services: the ingress controller, the metrics scraper. Empty: everybody. */
  readonly clients: readonly KubeJson[];
  /** Egress rules to the stores. */
  readonly stores: readonly KubeJson[];
}

export interface DedicatedOptions {
  /** Image of the installation; null disables Dedicated tenants. */
  readonly image: string | null;
  /** Variables of the services, without secrets and settings of stores. */
  readonly settings: Readonly<Record<string, string>>;
  readonly pods: PodTemplate;
  readonly network: NetworkOptions;
  readonly stores: DedicatedStores;
}

/** The chart's template with its default values; `test/chart/dedicated-objects.test.ts` compares both. */
export const POD_DEFAULTS: PodTemplate = POD_TEMPLATE;

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
    pods: podsOf(config),
    network: { clients: network.clients ?? [], stores: network.stores ?? [] },
    stores,
  };
}

function podsOf({ operatorDedicatedPods: pods = POD_TEMPLATE }: Settings): PodTemplate {
  const { metadata, spec } = pods as Partial<PodTemplate>;
  if (metadata !== undefined && Array.isArray(spec?.containers) && Array.isArray(spec.volumes))
    return { metadata, spec };
  throw new ConfigurationError([
    'ENGRAM_OPERATOR_DEDICATED_PODS must be a pod template, with metadata, spec.containers and spec.volumes',
  ]);
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
