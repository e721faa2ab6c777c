import { createHash, randomBytes } from 'node:crypto';
import type { DatasetServices } from '../../operator/dataset/services.ts';
import { inClusterConnection } from '../../operator/kube-runtime/kube-connection.ts';
import { createRuntimeClock } from '../../operator/kube-runtime/runtime-clock.ts';
import { createOperator } from '../../operator/operator.ts';
import type { TenantServices } from '../../operator/tenant/services.ts';
import { SERVICE_NAMES, type ServiceName } from '../../services/common/domain/service-paths.ts';
import { asId } from '../../services/common/kernel/ids.ts';
import { createLogger } from '../../services/common/platform/observability/logger.ts';
import { Registry } from '../../services/common/platform/observability/prometheus.ts';

/**
 * A process of the operator for measuring: the real thing on a real API server, with services that answer at once and
 * always the same, whichever process asks. Speaks with the test by messages.
 */
const [folder = '', host = '', port = '', namespace = ''] = process.argv.slice(2);

const idOf = (text: string): string => {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
};

const tenantServices: TenantServices = {
  ensureTenant: async ({ crUid }) => ({
    ...{ tenantId: asId(idOf(crUid)), ownerId: asId(idOf(`owner ${crUid}`)), created: false, corrected: [] },
    isAsleep: false,
  }),
  setTenantKeys: async () => ({ added: 0, removed: 0 }),
  setTenantModel: async () => ({ changed: false }),
  setTenantEmbedding: async () => ({ changed: false }),
  probeModel: async () => ({ outcome: 'accepted', detail: '' }),
  setQuota: async () => {},
  usage: async () => [],
  setRetention: async () => {},
  checkIsolation: async ({ otherTenantIds }) => ({ unproven: null, comparedTenantIds: otherTenantIds, leaks: [] }),
  removeCanary: async () => ({ removed: true }),
  eraseTenant: async ({ tenantId }) => erased(tenantId),
  findManaged: async () => null,
  releaseTenant: async () => ({ released: true }),
  unhealthy: async () => [],
};

const datasetServices: DatasetServices = {
  ensureDataset: async ({ crUid, tenantId, name }) => ({
    created: false,
    dataset: {
      ...{ id: asId(idOf(crUid)), name, tenant: tenantId, ownerId: asId('owner') },
      ...{ createdAt: '2026-08-01T00:00:00+00:00', updatedAt: null },
    },
  }),
  syncGrants: async () => ({ added: 0, removed: 0, unknownPrincipals: [] }),
  setConfiguration: async () => ({
    graphModelHash: null,
    promptHash: null,
    chunkingHash: null,
    drifted: false,
    unused: null,
  }),
  statistics: async () => ({
    ...{ items: 7, chunks: 8, nodes: 9, edges: 9, pending: 0, failed: 0, lagSeconds: 0 },
    ...{ lastCognifiedAt: '2026-08-01T00:00:00+00:00', writer: null, activeRun: null },
  }),
  setRetention: async () => {},
  migrateEmbedding: async () => ({ embedding: null, migration: null, failure: null }),
  start: async () => {},
  takeSnapshot: async () => ({ snapshot: null, done: 0, total: 0, failure: null }),
  listSnapshots: async () => ({ snapshots: [] }),
  pruneSnapshots: async () => ({ removed: [] }),
  restoreDataset: async () => ({ datasetId: null, step: '', done: 0, total: 0, failure: null }),
  eraseDataset: async ({ datasetId }) => erased(datasetId),
  findManaged: async () => null,
  releaseDataset: async () => ({ released: true }),
};

async function erased(id: string) {
  return { erased: true, step: '', removed: {}, residue: 0, receipt: `{"receipt":"${id}"}`, failure: null };
}

const registry = new Registry();
const operator = createOperator({
  connection: inClusterConnection({ host, port, folder }),
  clock: createRuntimeClock(),
  logger: createLogger({ level: 'warn', name: 'engram-operator' }),
  ...{ registry, tenantServices, datasetServices, watchNamespaces: [namespace] },
  ...{ lease: { name: 'engram-operator', namespace }, instance: 'soak' },
  identity: `soak_${randomBytes(4).toString('hex')}`,
  workers: 4,
  resyncMs: 600_000,
  stores: [{ role: 'Documents', driver: 'mongodb', isolation: 'Label' }],
  backends: {
    ...{ namespace, port: 80 },
    services: Object.fromEntries(SERVICE_NAMES.map((name) => [name, `engram-${name}`])) as Record<ServiceName, string>,
  },
  onLost: () => process.exit(1),
});
operator.start();

process.on('message', () => {
  const { user, system } = process.cpuUsage();
  void registry.metrics().then((metrics) => {
    const writes = [...metrics.matchAll(/status_writes_total\{kind="\w+"\} (\d+)/g)];
    process.send?.({
      cpuMs: (user + system) / 1000,
      rssMb: process.memoryUsage.rss() / 2 ** 20,
      statusWrites: writes.reduce((sum, [, count]) => sum + Number(count), 0),
      leading: operator.isLeading(),
    });
  });
});
process.once('SIGTERM', () => void operator.stop().then(() => process.exit(0)));
