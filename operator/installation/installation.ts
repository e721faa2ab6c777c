import { SERVICE_NAMES, type ServiceName } from '../../services/common/domain/service-paths.ts';
import type { Config } from '../../services/common/platform/config/configuration.ts';
import type { TenantStatusStore } from '../api/tenant.ts';

/** Stores of the installation, with how each keeps Shared tenants apart. */
export function storesOf({ s3Bucket }: Config): readonly TenantStatusStore[] {
  return [
    { role: 'Documents', driver: 'mongodb', isolation: 'Label' },
    { role: 'Blobs', driver: s3Bucket === undefined ? 'gridfs' : 's3', isolation: 'Label' },
    { role: 'Text', driver: 'elasticsearch', isolation: 'Index' },
    { role: 'Vectors', driver: 'elasticsearch', isolation: 'Index' },
    { role: 'Graph', driver: 'neo4j', isolation: 'Label' },
    { role: 'Bus', driver: 'nats', isolation: 'Label' },
  ];
}

/** Services that requests are routed to. */
export interface Backends {
  readonly namespace: string;
  readonly services: Readonly<Record<ServiceName, string>>;
  readonly port: number;
}

type BackendSettings = Pick<Config, 'operatorNamespace' | 'operatorServices' | 'operatorServicePort'>;

/** Reads the Services from the configuration; throws an error that names an invalid entry. */
export function backendsOf(config: BackendSettings): Backends {
  const services: Record<string, string> = Object.fromEntries(SERVICE_NAMES.map((name) => [name, `engram-${name}`]));
  for (const entry of config.operatorServices ?? []) {
    const [service = '', name = '', ...rest] = entry.split('=');
    if (!(SERVICE_NAMES as readonly string[]).includes(service) || name === '' || rest.length > 0) {
      throw new Error(
        `ENGRAM_OPERATOR_SERVICES: "${entry}" is not of the form <service>=<name> with one of ${SERVICE_NAMES.join(', ')}.`,
      );
    }
    services[service] = name;
  }
  return {
    namespace: config.operatorNamespace,
    services: services as Record<ServiceName, string>,
    port: config.operatorServicePort,
  };
}
