import type { Config } from '../../../services/common/platform/config/configuration.ts';
import type { DedicatedStores } from '../../stores/store-administrator.ts';
import { type DedicatedOptions, type NetworkOptions, POD_DEFAULTS, type PodOptions } from './options.ts';

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
