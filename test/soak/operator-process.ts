import { createHash, randomBytes } from 'node:crypto';
import { Registry } from 'prom-client';
import { inClusterConnection } from '../../operator/kube-runtime/kube-connection.ts';
import { createRuntimeClock } from '../../operator/kube-runtime/runtime-clock.ts';
import { createOperator } from '../../operator/operator.ts';
import { SERVICE_NAMES, type ServiceName } from '../../services/common/domain/service-paths.ts';
import type { DatasetId, TenantId, UserId } from '../../services/common/kernel/brand.ts';
import { asId } from '../../services/common/kernel/ids.ts';
import { createLogger } from '../../services/common/platform/observability/logger.ts';
import { servicesOf } from '../support/kube/fake-services.ts';

/**
 * A process of the operator for measuring: the real thing on a real API server, with services that answer at once and
 * always the same, whichever process asks. Speaks with the test by messages.
 */
const [folder = '', host = '', port = '', namespace = ''] = process.argv.slice(2);

const idOf = (text: string): string => {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
};

const services = servicesOf((serve) => {
  serve('auth.EnsureTenant', ({ crUid }) => ({
    tenantId: asId<TenantId>(idOf(crUid)),
    ownerId: asId<UserId>(idOf(`owner ${crUid}`)),
    created: false,
    corrected: [],
    isAsleep: false,
  }));
  serve('auth.SetTenantKeys', () => ({ added: 0, removed: 0 }));
  serve('auth.SetTenantModel', () => ({ changed: false }));
  serve('auth.SetTenantEmbedding', () => ({ changed: false }));
  serve('cognify.ProbeModel', () => ({ outcome: 'accepted' as const, detail: '' }));
  serve('auth.SetQuota', () => ({}));
  serve('auth.Usage', () => ({ usage: [] }));
  serve('ingest.SetRetention', () => ({}));
  serve('ingest.CheckIsolation', ({ otherTenantIds }) => ({
    unproven: null,
    comparedTenantIds: otherTenantIds,
    leaks: [],
  }));
  serve('ingest.RemoveCanary', () => ({ removed: true }));
  serve('ingest.EraseTenant', ({ tenantId }) => erased(tenantId));
  serve('auth.FindManaged', () => ({ managed: null }));
  serve('auth.ReleaseTenant', () => ({ released: true }));
  serve('auth.EnsureDataset', ({ crUid, tenantId, name }) => ({
    created: false,
    dataset: {
      id: asId<DatasetId>(idOf(crUid)),
      name,
      tenant: tenantId,
      ownerId: asId<UserId>('owner'),
      createdAt: '2026-08-01T00:00:00+00:00',
      updatedAt: null,
    },
  }));
  serve('auth.SyncGrants', () => ({ added: 0, removed: 0, unknownPrincipals: [] }));
  serve('cognify.SetDatasetConfiguration', () => ({
    graphModelHash: null,
    promptHash: null,
    chunkingHash: null,
    drifted: false,
    unused: null,
  }));
  serve('ingest.DatasetStatistics', () => ({
    items: 7,
    chunks: 8,
    nodes: 9,
    edges: 9,
    pending: 0,
    failed: 0,
    lagSeconds: 0,
    lastCognifiedAt: '2026-08-01T00:00:00+00:00',
    writer: null,
    activeRun: null,
  }));
  serve('cognify.MigrateEmbedding', () => ({ embedding: null, migration: null, failure: null }));
  serve('ingest.EraseDataset', ({ datasetId }) => erased(datasetId));
  serve('auth.ReleaseDataset', () => ({ released: true }));
});

function erased(id: string) {
  const receipt = `{"receipt":"${id}"}`;
  return { progress: { erased: true, step: '', removed: {}, residue: 0, receipt, failure: null } };
}

const registry = new Registry();
const operator = createOperator({
  connection: inClusterConnection({ host, port, folder }),
  clock: createRuntimeClock(),
  logger: createLogger({ level: 'warn', name: 'engram-operator' }),
  registry,
  services,
  watchNamespaces: [namespace],
  lease: { name: 'engram-operator', namespace },
  instance: 'soak',
  identity: `soak_${randomBytes(4).toString('hex')}`,
  workers: 4,
  resyncMs: 600_000,
  stores: [{ role: 'Documents', driver: 'mongodb', isolation: 'Label' }],
  backends: {
    namespace,
    port: 80,
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
