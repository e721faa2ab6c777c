import { Registry } from 'prom-client';
import { GROUP } from '../../operator/api/names.ts';
import { TENANT_KIND, type Tenant, type TenantSpec } from '../../operator/api/tenant.ts';
import { createProvisionMemory } from '../../operator/dedicated/model.ts';
import { type DedicatedOptions, NO_DEDICATED } from '../../operator/dedicated/options.ts';
import { createDedicatedServices } from '../../operator/dedicated/services.ts';
import type { Services } from '../../operator/installation/services.ts';
import { createApplier, ownershipLabels } from '../../operator/kube-runtime/applier.ts';
import { findCondition } from '../../operator/kube-runtime/conditions.ts';
import type { ReconcileResult } from '../../operator/kube-runtime/controller.ts';
import type { EventNote } from '../../operator/kube-runtime/events.ts';
import { createKubeClient } from '../../operator/kube-runtime/http-kube-client.ts';
import { isKubeError, type KubeClient } from '../../operator/kube-runtime/kube-client.ts';
import { kubeconfigConnection } from '../../operator/kube-runtime/kube-connection.ts';
import {
  KINDS,
  type ObjectName,
  type ResourceKind,
  type Secret,
  secretText,
} from '../../operator/kube-runtime/kube-object.ts';
import { createKubeTransport } from '../../operator/kube-runtime/kube-transport.ts';
import { createRuntimeMetrics } from '../../operator/kube-runtime/metrics.ts';
import { createRuntimeClock } from '../../operator/kube-runtime/runtime-clock.ts';
import { createIsolationChecks } from '../../operator/tenant/isolation-checks.ts';
import { createTenantReconciler } from '../../operator/tenant-reconciler.ts';
import { SERVICE_NAMES, type ServiceName } from '../../services/common/domain/service-paths.ts';
import { createSilentLogger } from '../../services/common/platform/observability/logger.ts';
import { createFakeServices, type FakeServices } from '../support/kube/fake-services.ts';

/** The reconciler of tenants on a real API server; the services are fakes. */
export interface ClusterTenants {
  readonly client: KubeClient;
  /** Fakes, unless the world was made with others. */
  readonly services: FakeServices;
  /** Of Dedicated tenants. */
  readonly own: FakeServices;
  readonly notes: readonly EventNote[];
  readonly namespace: string;
  /** Advances the clock of the reconciler. */
  pass(ms: number): void;
  /** Reconciles, and retries conflicts as the controller does. */
  reconcile(name: string): Promise<ReconcileResult>;
  create(name: string, spec?: Partial<TenantSpec>): Promise<Tenant>;
  /** Merge patch, as a user. */
  change(kind: ResourceKind, name: ObjectName, patch: object): Promise<void>;
  tenant(name: string): Promise<Tenant | null>;
  /** Type → status and reason. */
  conditions(name: string): Promise<Readonly<Record<string, string>>>;
  secretValue(name: string, key?: string): Promise<string | undefined>;
  remove(name: string): Promise<void>;
  close(): void;
}

export async function startClusterTenants(places: {
  readonly kubeconfig: string;
  readonly namespace: string;
  readonly servicesNamespace: string;
  readonly services?: Services;
  readonly dedicated?: DedicatedOptions;
}): Promise<ClusterTenants> {
  const { namespace, servicesNamespace } = places;
  let passedMs = 0;
  const real = createRuntimeClock();
  const clock = { ...real, now: () => new Date(Date.now() + passedMs) };
  const connection = await kubeconfigConnection(places.kubeconfig);
  const transport = createKubeTransport({ connection, clock, userAgent: 'engram-tests' });
  const client = createKubeClient({ transport, fieldManager: 'engram-operator' });
  const asUser = createKubeClient({ transport, fieldManager: 'a-user' });
  const services = createFakeServices();
  const own = createFakeServices();
  const notes: EventNote[] = [];
  const manager = 'engram-operator';
  const labels = ownershipLabels(GROUP);
  const targets = Object.fromEntries(SERVICE_NAMES.map((name) => [name, `engram-${name}`])) as Record<
    ServiceName,
    string
  >;
  const reconciler = createTenantReconciler(
    {
      client,
      services: places.services ?? services,
      applier: createApplier({ client, labels, manager }),
      options: {
        manager,
        labels,
        watchNamespaces: [namespace],
        resyncMs: 600_000,
        trustedNamespaces: [servicesNamespace],
        stores: [{ role: 'Documents', driver: 'mongodb', isolation: 'Label' }],
        home: servicesNamespace,
        backends: { namespace: servicesNamespace, services: targets, port: 80 },
      },
      dedicated: {
        options: places.dedicated ?? NO_DEDICATED,
        services: createDedicatedServices({
          client,
          clock,
          open: async () => ({ ...own, close: async () => {} }),
        }),
        provisions: createProvisionMemory(clock, 480_000),
        tenants: () => [],
      },
      isolation: createIsolationChecks({
        clock,
        registry: new Registry(),
        prefix: 'test_',
        intervalMs: 1_800_000,
        tenants: () => [],
      }),
    },
    {
      client,
      clock,
      logger: createSilentLogger(),
      metrics: createRuntimeMetrics(new Registry(), 'test_'),
      events: { record: (_, note) => void notes.push(note), flush: async () => {} },
    },
  );
  const signal = new AbortController().signal;
  const placed = (name: string) => ({ name, namespace });
  const tenant = (name: string) => client.get<Tenant>(TENANT_KIND, placed(name));
  return {
    client,
    services,
    own,
    notes,
    namespace,
    pass(ms) {
      passedMs += ms;
    },
    async reconcile(name) {
      for (;;) {
        try {
          return await reconciler.reconcile(`${namespace}/${name}`, signal);
        } catch (error) {
          if (!isKubeError(error, 409)) throw error;
        }
      }
    },
    create: (name, spec = {}) =>
      asUser.create(TENANT_KIND, {
        apiVersion: TENANT_KIND.apiVersion,
        kind: TENANT_KIND.kind,
        metadata: placed(name),
        // The API server completes it.
        spec: { owner: { email: `${name}@example.com` }, ...spec } as TenantSpec,
      }),
    async change(kind, name, patch) {
      await asUser.patch(kind, name, patch);
    },
    tenant,
    async conditions(name) {
      const { conditions = [] } = (await tenant(name))?.status ?? {};
      const types = conditions.map(({ type }) => findCondition(conditions, type));
      return Object.fromEntries(types.flatMap((held) => (held ? [[held.type, `${held.status} ${held.reason}`]] : [])));
    },
    async secretValue(name, key = 'apiKey') {
      return secretText((await client.get<Secret>(KINDS.secret, placed(name))) ?? {}, key);
    },
    async remove(name) {
      await asUser.delete(TENANT_KIND, placed(name));
    },
    close: () => transport.close(),
  };
}
