import { Registry } from 'prom-client';
import { GROUP } from '../../../operator/api/names.ts';
import { TENANT_KIND, type Tenant, type TenantSpec, type TenantStatusStore } from '../../../operator/api/tenant.ts';
import { createProvisionMemory } from '../../../operator/dedicated/model.ts';
import { type DedicatedOptions, NO_DEDICATED, POD_DEFAULTS } from '../../../operator/dedicated/options.ts';
import { type BusAddress, createDedicatedServices } from '../../../operator/dedicated/services.ts';
import type { Services } from '../../../operator/installation/services.ts';
import { createApplier, ownershipLabels } from '../../../operator/kube-runtime/applier.ts';
import { type Condition, findCondition } from '../../../operator/kube-runtime/conditions.ts';
import type { ReconcileResult } from '../../../operator/kube-runtime/controller.ts';
import type { EventNote } from '../../../operator/kube-runtime/events.ts';
import {
  type ConfigMap,
  KINDS,
  type KubeObject,
  type ResourceKind,
  type Secret,
  secretText,
} from '../../../operator/kube-runtime/kube-object.ts';
import { createRuntimeMetrics } from '../../../operator/kube-runtime/metrics.ts';
import type { StoreAdministrator } from '../../../operator/stores/store-administrator.ts';
import { createIsolationChecks } from '../../../operator/tenant/isolation-checks.ts';
import { createTenantReconciler } from '../../../operator/tenant-reconciler.ts';
import { createSilentLogger } from '../../../services/common/platform/observability/logger.ts';
import { createFakeClock, type FakeClock } from './fake-clock.ts';
import { type FakeKube, startFakeKube } from './fake-kube.ts';
import { createFakeServices, type FakeServices } from './fake-services.ts';

export const PLACE = { name: 'acme', namespace: 'memory' };
export const MANAGER = 'engram-operator';
export const SERVICES_NAMESPACE = 'engram';

const SHARED_STORES: readonly TenantStatusStore[] = [
  { role: 'Documents', driver: 'mongodb', isolation: 'Label' },
  { role: 'Vectors', driver: 'elasticsearch', isolation: 'Index' },
  { role: 'Graph', driver: 'neo4j', isolation: 'Label' },
];

/** The spec as the API server completes it. */
export function completeSpec(spec: Partial<TenantSpec> = {}): TenantSpec {
  return {
    state: 'Active',
    suspend: false,
    isolation: 'Shared',
    minimumIsolation: 'Label',
    owner: { email: 'admin@acme.example.com' },
    datasets: { allowedNamespaces: { from: 'Same' } },
    deletionPolicy: 'Retain',
    datasetDeletion: 'Block',
    ...spec,
  };
}

/** One tenant, an API server with faults, services with faults, and the reconciler between them. */
export interface TenantWorld {
  readonly kube: FakeKube;
  /** Objects in the namespace of the tenant that are not being deleted. */
  live<Kept extends KubeObject = KubeObject>(kind: ResourceKind): readonly Kept[];
  readonly clock: FakeClock;
  /** Fakes, unless the world was made with others. */
  readonly services: FakeServices;
  /** Of Dedicated tenants, and where their buses were opened. */
  readonly own: FakeServices;
  readonly opened: readonly BusAddress[];
  readonly notes: readonly EventNote[];
  reconcile(key?: string): Promise<ReconcileResult>;
  put(spec?: Partial<TenantSpec>, place?: { readonly name: string; readonly namespace: string }): Tenant;
  change(patch: object): Tenant;
  read(): Tenant | undefined;
  condition(type: string): Condition | undefined;
  /** Type → status and reason. */
  conditions(): Readonly<Record<string, string>>;
  secret(name: string): Secret | undefined;
  secretValue(name: string, key: string): string | undefined;
  configMaps(): readonly ConfigMap[];
  objects(kind: 'ingresses' | 'httproutes'): readonly KubeObject[];
  statusWrites(): number;
  /** Writes of anything but a status. */
  writes(): number;
  close(): Promise<void>;
}

/** Options with which tenants are Dedicated, in stores of the administrators. */
export function dedicatedTo(administrators: readonly StoreAdministrator[]): DedicatedOptions {
  return {
    image: 'engram:1',
    settings: {},
    pods: POD_DEFAULTS,
    network: { clients: [], stores: [] },
    stores: { available: true, administrators },
  };
}

export async function createTenantWorld(
  options: {
    readonly stores?: readonly TenantStatusStore[];
    readonly services?: Services;
    readonly dedicated?: DedicatedOptions;
    readonly trustedNamespaces?: readonly string[];
  } = {},
): Promise<TenantWorld> {
  const kube = await startFakeKube();
  const clock = createFakeClock();
  const services = createFakeServices();
  const notes: EventNote[] = [];
  const client = kube.client({ clock, fieldManager: MANAGER });
  const labels = ownershipLabels(GROUP);
  const names = ['auth', 'ingest', 'cognify', 'improve', 'search', 'integrations'] as const;
  const backends = {
    namespace: SERVICES_NAMESPACE,
    services: Object.fromEntries(names.map((name) => [name, `engram-${name}`])) as Record<
      (typeof names)[number],
      string
    >,
    port: 8000,
  };
  const ownCalls: BusAddress[] = [];
  const own = createFakeServices();
  const dedicatedServices = createDedicatedServices({
    client,
    clock,
    async open(address) {
      ownCalls.push(address);
      return { ...own, close: async () => {} };
    },
  });
  const reconciler = createTenantReconciler(
    {
      client,
      services: options.services ?? services,
      applier: createApplier({ client, labels, manager: MANAGER }),
      options: {
        manager: MANAGER,
        labels,
        backends,
        watchNamespaces: null,
        resyncMs: 600_000,
        trustedNamespaces: options.trustedNamespaces ?? [],
        home: SERVICES_NAMESPACE,
        stores: options.stores ?? SHARED_STORES,
      },
      dedicated: {
        options: options.dedicated ?? NO_DEDICATED,
        services: dedicatedServices,
        provisions: createProvisionMemory(clock, 480_000),
        tenants: () => kube.store.list('/apis/engram.dev/v1alpha1/tenants', undefined) as unknown as Tenant[],
      },
      isolation: createIsolationChecks({
        clock,
        registry: new Registry(),
        prefix: 'test_',
        intervalMs: 1_800_000,
        tenants: () => kube.store.list('/apis/engram.dev/v1alpha1/tenants', undefined) as unknown as Tenant[],
      }),
    },
    {
      client,
      clock,
      events: { record: (_, note) => void notes.push(note), flush: async () => {} },
      metrics: createRuntimeMetrics(new Registry(), 'test_'),
      logger: createSilentLogger(),
      random: () => 0.5,
    },
  );
  const signal = new AbortController().signal;
  const read = () => kube.read<Tenant>(TENANT_KIND, PLACE);
  const inMemory = (name: string) => ({ name, namespace: PLACE.namespace });
  const secret = (name: string) => kube.read<Secret>(KINDS.secret, inMemory(name));
  const isWrite = ({ method }: { readonly method: string }) => method !== 'GET';
  const isStatus = ({ path }: { readonly path: string }) => path.endsWith('/status');
  return {
    kube,
    live<Kept extends KubeObject>({ apiVersion, plural }: ResourceKind) {
      const path = `${apiVersion.includes('/') ? '/apis' : '/api'}/${apiVersion}/${plural}`;
      const found = kube.store.list(path, PLACE.namespace) as unknown as Kept[];
      return found.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    },
    clock,
    services,
    own,
    opened: ownCalls,
    notes,
    reconcile: (key = 'memory/acme') => reconciler.reconcile(key, signal),
    put: (spec = {}, place = PLACE) =>
      kube.put<Tenant>(TENANT_KIND, {
        apiVersion: TENANT_KIND.apiVersion,
        kind: TENANT_KIND.kind,
        metadata: place,
        spec: completeSpec(spec),
      }),
    change: (patch) => kube.change<Tenant>(TENANT_KIND, PLACE, patch),
    read,
    condition: (type) => findCondition(read()?.status?.conditions, type),
    conditions: () =>
      Object.fromEntries(
        (read()?.status?.conditions ?? []).map(({ type, status, reason }) => [type, `${status} ${reason}`]),
      ),
    secret,
    secretValue: (name, key) => secretText(secret(name) ?? {}, key),
    configMaps: () => kube.store.list('/api/v1/configmaps', undefined) as unknown as ConfigMap[],
    objects: (kind) => {
      const group = kind === 'ingresses' ? 'networking.k8s.io' : 'gateway.networking.k8s.io';
      return kube.store.list(`/apis/${group}/v1/${kind}`, undefined) as unknown as KubeObject[];
    },
    statusWrites: () => kube.requests.filter((request) => isWrite(request) && isStatus(request)).length,
    writes: () => kube.requests.filter((request) => isWrite(request) && !isStatus(request)).length,
    close: () => kube.close(),
  };
}
