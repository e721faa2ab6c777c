import { randomBytes } from 'node:crypto';
import { Registry } from 'prom-client';
import { DATASET_KIND, type Dataset, type DatasetSpec } from '../../operator/api/dataset.ts';
import { TENANT_KIND, type Tenant, type TenantSpec } from '../../operator/api/tenant.ts';
import type { DedicatedOptions } from '../../operator/dedicated/options.ts';
import type { Services } from '../../operator/installation/services.ts';
import { findCondition } from '../../operator/kube-runtime/conditions.ts';
import { createKubeClient } from '../../operator/kube-runtime/http-kube-client.ts';
import type { KubeClient } from '../../operator/kube-runtime/kube-client.ts';
import { type KubeConnection, kubeconfigConnection } from '../../operator/kube-runtime/kube-connection.ts';
import type { CustomObject } from '../../operator/kube-runtime/kube-object.ts';
import { createKubeTransport } from '../../operator/kube-runtime/kube-transport.ts';
import type { LeaseTimes } from '../../operator/kube-runtime/leader-election.ts';
import { createRuntimeClock } from '../../operator/kube-runtime/runtime-clock.ts';
import { createOperator, type Operator } from '../../operator/operator.ts';
import { SERVICE_NAMES, type ServiceName } from '../../services/common/domain/service-paths.ts';
import { createSilentLogger } from '../../services/common/platform/observability/logger.ts';
import { createFakeServices, type FakeServices } from '../support/kube/fake-services.ts';

/** An operator as `operator/main.ts` creates it, without the bus. */
interface RunningOperator {
  readonly operator: Operator;
  readonly lost: () => boolean;
  metrics(): Promise<string>;
  stop(): Promise<void>;
}

interface RunOptions {
  readonly connection?: KubeConnection;
  readonly workers?: number;
  /** Namespace of the lease and of the routes; default: that of the world. */
  readonly home?: string;
  /** Options for Dedicated tenants, whose services are the same fakes. Default: none. */
  readonly dedicated?: DedicatedOptions;
  /** Default: so long that no stall of the machine costs the lead. */
  readonly leaseTimes?: LeaseTimes;
}

const PATIENT: LeaseTimes = { durationMs: 60_000, renewDeadlineMs: 50_000, retryMs: 200 };

/** A namespace on a real API server, fake services, and any number of operators. */
export interface OperatorWorld {
  readonly client: KubeClient;
  readonly services: FakeServices;
  run(options?: RunOptions): RunningOperator;
  readonly connection: KubeConnection;
  createTenant(name: string, spec?: Partial<TenantSpec>): Promise<void>;
  createDataset(name: string, tenant: string, spec?: Partial<DatasetSpec>): Promise<void>;
  tenants(): Promise<readonly Tenant[]>;
  datasets(): Promise<readonly Dataset[]>;
  close(): Promise<void>;
}

/** Uses fake services by default. */
export async function createOperatorWorld(namespace: string, real?: Services): Promise<OperatorWorld> {
  const clock = createRuntimeClock();
  const connection = await kubeconfigConnection(process.env['ENGRAM_TEST_KUBECONFIG'] ?? '');
  const transport = createKubeTransport({ connection, clock, userAgent: 'engram-tests' });
  const client = createKubeClient({ transport, fieldManager: 'a-user' });
  const services = createFakeServices();
  const running = new Set<RunningOperator>();
  const targets = Object.fromEntries(SERVICE_NAMES.map((name) => [name, `engram-${name}`])) as Record<
    ServiceName,
    string
  >;

  function run(options: RunOptions = {}): RunningOperator {
    const registry = new Registry();
    const { home = namespace } = options;
    let lost = false;
    const operator = createOperator({
      connection: options.connection ?? connection,
      clock,
      logger: createSilentLogger(),
      registry,
      services: real ?? services,
      watchNamespaces: [namespace],
      lease: { name: 'engram-operator', namespace: home },
      instance: 'test',
      identity: `test_${randomBytes(4).toString('hex')}`,
      leaseTimes: options.leaseTimes ?? PATIENT,
      workers: options.workers ?? 4,
      resyncMs: 600_000,
      stores: [{ role: 'Documents', driver: 'mongodb', isolation: 'Label' }],
      backends: { namespace: home, services: targets, port: 80 },
      ...(options.dedicated === undefined
        ? {}
        : {
            dedicated: {
              options: options.dedicated,
              open: async () => ({ ...services, close: async () => {} }),
            },
          }),
      onLost() {
        lost = true;
      },
    });
    const made: RunningOperator = {
      operator,
      lost: () => lost,
      metrics: () => registry.metrics(),
      async stop() {
        running.delete(made);
        await operator.stop();
        operator.close();
      },
    };
    running.add(made);
    operator.start();
    return made;
  }

  return {
    client,
    connection,
    services,
    run,
    async createTenant(name, spec = {}) {
      await client.create(TENANT_KIND, {
        apiVersion: TENANT_KIND.apiVersion,
        kind: TENANT_KIND.kind,
        metadata: { name, namespace },
        // The API server completes it.
        spec: { owner: { email: `${name}@example.com` }, ...spec } as TenantSpec,
      });
    },
    async createDataset(name, tenant, spec = {}) {
      await client.create(DATASET_KIND, {
        apiVersion: DATASET_KIND.apiVersion,
        kind: DATASET_KIND.kind,
        metadata: { name, namespace },
        spec: { tenantRef: { name: tenant }, ...spec } as DatasetSpec,
      });
    },
    tenants: async () => (await client.list<Tenant>(TENANT_KIND, { namespace })).items,
    datasets: async () => (await client.list<Dataset>(DATASET_KIND, { namespace })).items,
    async close() {
      await Promise.all([...running].map((each) => each.stop()));
      transport.close();
    },
  };
}

type WithConditions = CustomObject<unknown, Tenant['status'] | Dataset['status']>;

export function isReady({ metadata, status }: WithConditions): boolean {
  return (
    status?.observedGeneration === metadata.generation && readyReason({ status } as WithConditions) === 'Available'
  );
}

export function readyReason({ status }: Pick<WithConditions, 'status'>): string | undefined {
  return findCondition(status?.conditions, 'Ready')?.reason;
}
