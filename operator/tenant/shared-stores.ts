import type { Config } from '../../services/common/config/configuration.ts';
import type { TenantStatusStore } from '../api/tenant.ts';

/**
 * What tenants of one installation share, and how each store keeps them apart: "Shared tenants" of design/architecture.md §8.
 * Rows, nodes, subjects and file names carry the tenant's id; Elasticsearch has an index per tenant; the embedded index and
 * graph are a file per dataset.
 */
export function sharedStores({ stores, s3Bucket }: Pick<Config, 'stores' | 's3Bucket'>): readonly TenantStatusStore[] {
  const isCluster = (port: keyof Config['stores']): boolean => stores[port] === 'cluster';
  const index: Pick<TenantStatusStore, 'driver' | 'isolation'> = isCluster('index')
    ? { driver: 'elasticsearch', isolation: 'Index' }
    : { driver: 'sqlite', isolation: 'Database' };
  const graph: Pick<TenantStatusStore, 'driver' | 'isolation'> = isCluster('graph')
    ? { driver: 'neo4j', isolation: 'Label' }
    : { driver: 'sqlite', isolation: 'Database' };
  const files = s3Bucket === undefined ? 'gridfs' : 's3';
  return [
    { role: 'Documents', driver: isCluster('documents') ? 'mongodb' : 'sqlite', isolation: 'Label' },
    { role: 'Blobs', driver: isCluster('blobs') ? files : 'files', isolation: 'Label' },
    { role: 'Text', ...index },
    { role: 'Vectors', ...index },
    { role: 'Graph', ...graph },
    { role: 'Bus', driver: isCluster('bus') ? 'nats' : 'in-process', isolation: 'Label' },
  ];
}
