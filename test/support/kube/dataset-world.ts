import { Registry } from 'prom-client';
import { DATASET_KIND, type Dataset, type DatasetSpec } from '../../../operator/api/dataset.ts';
import { TENANT_KIND, type Tenant } from '../../../operator/api/tenant.ts';
import { createDatasetReconciler } from '../../../operator/dataset-reconciler.ts';
import type { Services } from '../../../operator/installation/services.ts';
import { ownershipLabels } from '../../../operator/kube-runtime/applier.ts';
import { type Condition, findCondition } from '../../../operator/kube-runtime/conditions.ts';
import type { ReconcileResult, Reconciler } from '../../../operator/kube-runtime/controller.ts';
import type { EventNote } from '../../../operator/kube-runtime/events.ts';
import { type ConfigMap, KINDS, type Secret } from '../../../operator/kube-runtime/kube-object.ts';
import { createRuntimeMetrics } from '../../../operator/kube-runtime/metrics.ts';
import { createSilentLogger } from '../../../services/common/platform/observability/logger.ts';
import { createFakeClock, type FakeClock } from './fake-clock.ts';
import { type FakeKube, startFakeKube } from './fake-kube.ts';
import { createFakeServices, type FakeServices } from './fake-services.ts';
import { completeSpec, MANAGER, PLACE as TENANT_PLACE } from './tenant-world.ts';

const DATASET_PLACE = { name: 'tickets', namespace: 'memory' };
export const TENANT_ID = '6f1c2b0e-6a51-4b43-9a55-0b1d6a5c2f10';

/** One dataset of a tenant, an API server with faults, services with faults, and the reconciler between them. */
export interface DatasetWorld {
  readonly kube: FakeKube;
  readonly clock: FakeClock;
  readonly services: FakeServices;
  /** Of a Dedicated tenant. */
  readonly own: FakeServices;
  readonly notes: readonly EventNote[];
  reconcile(): Promise<ReconcileResult>;
  /** Starts another process, with empty memory. */
  restart(): void;
  put(spec?: Partial<DatasetSpec>): Dataset;
  change(patch: object): Dataset;
  remove(): void;
  read(): Dataset | undefined;
  /** Creates the Tenant, provisioned by default. */
  putTenant(spec?: Partial<Tenant['spec']>, status?: Tenant['status']): void;
  changeTenant(patch: object): void;
  putConfigMap(name: string, data: Readonly<Record<string, string>>): void;
  /** Creates or replaces it. */
  putSecret(name: string, texts: Readonly<Record<string, string>>): void;
  removeSecret(name: string): void;
  configMaps(): readonly ConfigMap[];
  condition(type: string): Condition | undefined;
  /** Type → status and reason. */
  conditions(): Readonly<Record<string, string>>;
  statusWrites(): number;
  close(): Promise<void>;
}

/** `real`: services in place of the fake ones. */
export async function createDatasetWorld(real?: Services): Promise<DatasetWorld> {
  const kube = await startFakeKube();
  const clock = createFakeClock();
  const services = createFakeServices();
  const own = createFakeServices();
  const notes: EventNote[] = [];
  const client = kube.client({ clock, fieldManager: MANAGER });
  const logger = createSilentLogger();
  const build = (): Reconciler =>
    createDatasetReconciler(
      {
        client,
        services: real ?? services,
        clock,
        logger,
        dedicated: {
          tenantOf: (name) => kube.read<Tenant>(TENANT_KIND, name),
          servicesOf: async () => own,
        },
        options: { manager: MANAGER, labels: ownershipLabels('engram.dev'), home: 'engram', resyncMs: 600_000 },
      },
      {
        client,
        clock,
        logger,
        metrics: createRuntimeMetrics(new Registry(), 'test_'),
        random: () => 0.5,
        events: { record: (_, note) => void notes.push(note), flush: async () => {} },
      },
    );
  let reconciler = build();
  const signal = new AbortController().signal;
  const read = () => kube.read<Dataset>(DATASET_KIND, DATASET_PLACE);
  const { apiVersion, kind } = DATASET_KIND;
  return {
    kube,
    clock,
    services,
    own,
    notes,
    read,
    reconcile: () => reconciler.reconcile('memory/tickets', signal),
    restart() {
      reconciler = build();
    },
    put: (spec = {}) =>
      kube.put<Dataset>(DATASET_KIND, {
        apiVersion,
        kind,
        metadata: DATASET_PLACE,
        spec: { tenantRef: { name: TENANT_PLACE.name }, suspend: false, ...spec },
      }),
    change: (patch) => kube.change<Dataset>(DATASET_KIND, DATASET_PLACE, patch),
    remove: () => kube.remove(DATASET_KIND, DATASET_PLACE),
    putTenant: (spec = {}, status = { tenantId: TENANT_ID }) =>
      void kube.put<Tenant>(TENANT_KIND, {
        apiVersion,
        kind: TENANT_KIND.kind,
        metadata: TENANT_PLACE,
        spec: completeSpec(spec),
        status,
      }),
    changeTenant: (patch) => void kube.change(TENANT_KIND, TENANT_PLACE, patch),
    putConfigMap: (name, data) =>
      void kube.put<ConfigMap>(KINDS.configMap, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name, namespace: DATASET_PLACE.namespace },
        data,
      }),
    putSecret(name, texts) {
      const place = { name, namespace: DATASET_PLACE.namespace };
      const encoded = Object.entries(texts).map(([key, text]) => [key, Buffer.from(text, 'utf8').toString('base64')]);
      const data = Object.fromEntries(encoded) as Record<string, string>;
      if (kube.read(KINDS.secret, place) !== undefined) kube.change(KINDS.secret, place, { data });
      else kube.put<Secret>(KINDS.secret, { apiVersion: 'v1', kind: 'Secret', metadata: place, data });
    },
    removeSecret: (name) => kube.remove(KINDS.secret, { name, namespace: DATASET_PLACE.namespace }),
    configMaps: () => kube.store.list('/api/v1/configmaps', undefined) as unknown as ConfigMap[],
    condition: (type) => findCondition(read()?.status?.conditions, type),
    conditions: () =>
      Object.fromEntries(
        (read()?.status?.conditions ?? []).map(({ type, status, reason }) => [type, `${status} ${reason}`]),
      ),
    statusWrites: () => kube.requests.filter(({ method, path }) => method !== 'GET' && path.endsWith('/status')).length,
    close: () => kube.close(),
  };
}
