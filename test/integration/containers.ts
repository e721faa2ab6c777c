import { setTimeout as sleep } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import {
  GenericContainer,
  getContainerRuntimeClient,
  type PortWithOptionalBinding,
  RandomPortGenerator,
  type StartedTestContainer,
  Wait,
  type WaitStrategy,
} from 'testcontainers';
import type { BackendAddress, ContainerName } from './backend.ts';

/** How one backend is started from its official image. */
interface ContainerPlan<Name extends ContainerName> {
  readonly image: string;
  readonly port: PortWithOptionalBinding;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ready: WaitStrategy;
  /** What is left to do when the server answers at this `host:port`. */
  prepare?(address: string): Promise<void>;
  variables(address: string): BackendAddress<Name>;
}

const PASSWORD = 'engram-test';
/** Longest wait for the container runtime to answer. */
const RUNTIME_MS = 5000;
/** Longest start of a server on a busy machine; pulling its image is not counted. */
const START_MS = 180_000;

/** The image is replaced by `ENGRAM_TEST_IMAGE_<NAME>`. */
const PLANS: { readonly [Name in ContainerName]: (host: string) => Promise<ContainerPlan<Name>> } = {
  mongodb: async () => ({
    image: 'mongo:8.0',
    port: 27017,
    // Tests wait for documents to expire: look every second instead of every minute.
    command: ['--replSet', 'rs0', '--bind_ip_all', '--setParameter', 'ttlMonitorSleepSecs=1'],
    ready: Wait.forLogMessage(/Waiting for connections/i),
    prepare: initiateReplicaSet,
    variables: (address) => ({ ENGRAM_TEST_MONGODB_URL: directMongodbUrl(address) }),
  }),
  elasticsearch: async () => {
    const secured = process.env['ELASTICSEARCH_SECURITY'] !== 'off';
    const ready = Wait.forHttp('/_cluster/health?wait_for_status=yellow', 9200);
    return {
      image: 'docker.elastic.co/elasticsearch/elasticsearch:8.19.2',
      port: 9200,
      environment: {
        'discovery.type': 'single-node',
        'cluster.routing.allocation.disk.threshold_enabled': 'false',
        'xpack.security.enabled': String(secured),
        'xpack.security.http.ssl.enabled': 'false',
        ELASTIC_PASSWORD: PASSWORD,
        ES_JAVA_OPTS: '-Xms512m -Xmx512m',
      },
      ready: secured ? ready.withBasicCredentials('elastic', PASSWORD) : ready,
      variables: (address) => ({
        ENGRAM_TEST_ELASTICSEARCH_URL: `http://${secured ? `elastic:${PASSWORD}@` : ''}${address}`,
      }),
    };
  },
  neo4j: async () => ({
    image: 'neo4j:5.26-community',
    port: 7687,
    environment: { NEO4J_AUTH: `neo4j/${PASSWORD}`, NEO4J_server_memory_heap_max__size: '512m' },
    ready: Wait.forLogMessage(/Started\.$/),
    variables: (address) => ({
      ENGRAM_TEST_NEO4J_URL: `bolt://${address}`,
      ENGRAM_TEST_NEO4J_USER: 'neo4j',
      ENGRAM_TEST_NEO4J_PASSWORD: PASSWORD,
    }),
  }),
  nats: async () => ({
    image: 'nats:2.11',
    port: 4222,
    command: ['--jetstream'],
    ready: Wait.forLogMessage(/Server is ready/),
    variables: (address) => ({ ENGRAM_TEST_NATS_URL: `nats://${address}` }),
  }),
  kafka: async (host) => {
    // Clients go where the broker says that it is, so the port outside must be known before it starts.
    const port = await new RandomPortGenerator().generatePort();
    return {
      image: 'apache/kafka:3.9.1',
      port: { container: 9092, host: port },
      environment: kafkaSettings(`${host}:${port}`),
      ready: Wait.forLogMessage(/Kafka Server started/),
      variables: (address) => ({ ENGRAM_TEST_KAFKA_BROKERS: address, ENGRAM_TEST_KAFKA_PLAIN_ONLY: 'true' }),
    };
  },
  s3: async () => ({
    image: 'minio/minio:RELEASE.2025-09-07T16-13-09Z',
    port: 9000,
    command: ['server', '/data'],
    environment: { MINIO_ROOT_USER: 'engram-test', MINIO_ROOT_PASSWORD: PASSWORD },
    ready: Wait.forHttp('/minio/health/ready', 9000),
    variables: (address) => ({
      ENGRAM_TEST_S3_URL: `http://${address}`,
      ENGRAM_TEST_S3_ACCESS_KEY: 'engram-test',
      ENGRAM_TEST_S3_SECRET_KEY: PASSWORD,
      ENGRAM_TEST_S3_REGION: 'us-east-1',
    }),
  }),
};

/** One started server, or why there is none. */
type ContainerOutcome =
  | { readonly variables: Readonly<Record<string, string>>; stop(): Promise<void> }
  | { readonly failure: string };

/** Where containers publish their ports, or null when no container runtime answers. */
export async function findContainerHost(): Promise<string | null> {
  const client = getContainerRuntimeClient().then(
    ({ info }) => info.containerRuntime.host,
    () => null,
  );
  return Promise.race([client, sleep(RUNTIME_MS, null, { ref: false })]);
}

/** Starts a server from its image, which is pulled when it is not there. Never throws. */
export async function startContainer(name: ContainerName, host: string): Promise<ContainerOutcome> {
  const plan = await PLANS[name](host);
  const image = process.env[`ENGRAM_TEST_IMAGE_${name.toUpperCase()}`] || plan.image;
  let started: StartedTestContainer | undefined;
  try {
    const container = new GenericContainer(image)
      .withExposedPorts(plan.port)
      .withEnvironment({ ...plan.environment })
      .withWaitStrategy(plan.ready)
      .withStartupTimeout(START_MS);
    const running = await (plan.command === undefined ? container : container.withCommand([...plan.command])).start();
    started = running;
    const address = `${running.getHost()}:${running.getFirstMappedPort()}`;
    await plan.prepare?.(address);
    return { variables: plan.variables(address), stop: () => running.stop().then(() => undefined) };
  } catch (error) {
    await started?.stop();
    return { failure: `a container of ${image} did not start: ${firstLine(error)}` };
  }
}

function directMongodbUrl(address: string): string {
  // The member knows itself by its address inside the container; a client that asks for members would go there.
  return `mongodb://${address}/?directConnection=true`;
}

async function initiateReplicaSet(address: string): Promise<void> {
  const client = new MongoClient(directMongodbUrl(address));
  try {
    const admin = client.db('admin');
    await admin.command({ replSetInitiate: { _id: 'rs0', members: [{ _id: 0, host: 'localhost:27017' }] } });
    const until = performance.now() + START_MS;
    while ((await admin.command({ hello: 1 }))['isWritablePrimary'] !== true) {
      if (performance.now() > until) throw new Error('the replica set elects no primary');
      await sleep(100);
    }
  } finally {
    await client.close();
  }
}

/** One broker that is its own controller; it speaks to itself over a listener that stays inside. */
function kafkaSettings(advertised: string): Readonly<Record<string, string>> {
  return {
    KAFKA_NODE_ID: '1',
    KAFKA_PROCESS_ROLES: 'broker,controller',
    KAFKA_CONTROLLER_QUORUM_VOTERS: '1@localhost:9093',
    KAFKA_CONTROLLER_LISTENER_NAMES: 'CONTROLLER',
    KAFKA_INTER_BROKER_LISTENER_NAME: 'INSIDE',
    KAFKA_LISTENERS: 'OUTSIDE://:9092,CONTROLLER://localhost:9093,INSIDE://localhost:9094',
    KAFKA_ADVERTISED_LISTENERS: `OUTSIDE://${advertised},INSIDE://localhost:9094`,
    KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: 'OUTSIDE:PLAINTEXT,CONTROLLER:PLAINTEXT,INSIDE:PLAINTEXT',
    KAFKA_NUM_PARTITIONS: '3',
    KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: '1',
    KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: '1',
    KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: '1',
    KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS: '0',
    KAFKA_HEAP_OPTS: '-Xms256m -Xmx512m',
  };
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).trim().split('\n', 1)[0] ?? '';
}
