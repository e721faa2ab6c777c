/** Real servers for the suites of this folder: at the addresses in `ENGRAM_TEST_…`, which README.md explains. */

/** Variables that tell where a backend is; the first one decides whether there is one. */
const VARIABLES = {
  mongodb: ['ENGRAM_TEST_MONGODB_URL'],
  nats: ['ENGRAM_TEST_NATS_URL'],
  s3: ['ENGRAM_TEST_S3_URL', 'ENGRAM_TEST_S3_ACCESS_KEY', 'ENGRAM_TEST_S3_SECRET_KEY', 'ENGRAM_TEST_S3_REGION'],
  kafka: ['ENGRAM_TEST_KAFKA_BROKERS', 'ENGRAM_TEST_KAFKA_PLAIN_ONLY'],
  neo4j: ['ENGRAM_TEST_NEO4J_URL', 'ENGRAM_TEST_NEO4J_USER', 'ENGRAM_TEST_NEO4J_PASSWORD'],
  elasticsearch: ['ENGRAM_TEST_ELASTICSEARCH_URL'],
  openai: ['ENGRAM_TEST_OPENAI_BASE_URL'],
  chaos: ['ENGRAM_TEST_CHAOS_URL'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

type BackendName = keyof typeof VARIABLES;
/** The backends that `start-containers.ts` starts where they have no address. */
export const CONTAINERS = ['mongodb', 'elasticsearch', 'neo4j', 'nats', 'kafka', 's3'] as const satisfies BackendName[];
export type ContainerName = (typeof CONTAINERS)[number];
/** Variable → value, by the names above. */
export type BackendAddress<Name extends BackendName> = Readonly<Record<(typeof VARIABLES)[Name][number], string>>;

const absences = new Map<BackendName, string>();

/** Tells in the names of skipped and failed suites why a backend could not be started. */
export function explainAbsence(name: BackendName, reason: string): void {
  absences.set(name, reason);
}

export function hasAddress(name: BackendName): boolean {
  return addressOf(name) !== null;
}

/**
 * A suite that needs a server. Without one its tests are skipped under a name that says what is missing, or
 * fail where `ENGRAM_TEST_REQUIRE_BACKENDS` is set: CI has started them.
 */
export function withBackend<Name extends BackendName>(
  name: Name,
  suite: (address: BackendAddress<Name>) => void,
): void {
  const address = addressOf(name);
  if (address !== null) {
    suite(address);
    return;
  }
  const absence = absences.get(name);
  const reason = `${VARIABLES[name][0]} is not set${absence === undefined ? '' : ` and ${absence}`}`;
  const title = `${name}: not tested, ${reason}`;
  if (process.env['ENGRAM_TEST_REQUIRE_BACKENDS'] === undefined) it.skip(title);
  else
    it(title, () => {
      throw new Error(`${reason}, but ENGRAM_TEST_REQUIRE_BACKENDS is`);
    });
}

/** The same for a suite that needs several. */
export function withBackends(names: readonly BackendName[], suite: () => void): void {
  const [first, ...others] = names;
  if (first === undefined) suite();
  else withBackend(first, () => withBackends(others, suite));
}

/** Tests of the login of Kafka, or through a proxy before it: not where the broker has only a plain listener. */
export function withKafkaListeners(suite: () => void): void {
  const plainOnly = 'ENGRAM_TEST_KAFKA_PLAIN_ONLY' satisfies (typeof VARIABLES.kafka)[number];
  if (!process.env[plainOnly]) suite();
  else it.skip(`kafka: login and proxy not tested, ${plainOnly} is set`);
}

function addressOf<Name extends BackendName>(name: Name): BackendAddress<Name> | null {
  const entries = VARIABLES[name].map((variable) => [variable, process.env[variable] ?? ''] as const);
  return entries[0]?.[1] ? (Object.fromEntries(entries) as BackendAddress<Name>) : null;
}
