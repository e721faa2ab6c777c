import { setImmediate as nextTurn } from 'node:timers/promises';
import engram from '../package.json' with { type: 'json' };
import type { Foundation } from './app/assemble.ts';
import { endWithCluster, reportToCluster } from './app/cluster/service-report.ts';
import { collections } from './app/collections.ts';
import { shareDescriptors } from './app/descriptors.ts';
import {
  namingOptions,
  readStartArguments,
  START_HELP,
  type StartArguments,
  StartArgumentsError,
} from './app/start-arguments.ts';
import { openStores, type StoreParts, type Stores } from './app/stores.ts';
import type { Tracing } from './app/tracing.ts';
import { SERVICE_NAMES } from './common/domain/service-paths.ts';
import { isEngramError } from './common/kernel/errors.ts';
import type { Config } from './common/platform/config/configuration.ts';
import { ConfigurationError, type LoadedConfig, loadProcessConfig } from './common/platform/config/load-config.ts';
import { createLifecycle, type Lifecycle } from './common/platform/lifecycle/lifecycle.ts';
import { standardLogOutput } from './common/platform/observability/log-output.ts';
import { createLogger, type Logger } from './common/platform/observability/logger.ts';
import { createMetrics } from './common/platform/observability/metrics.ts';

interface Engram {
  /** `http://127.0.0.1:8000` */
  readonly url: string;
  /** Stops taking requests, ends what runs, closes the stores. False when something had to be cut off. */
  stop(): Promise<boolean>;
}

/** The whole service in this process; any number of them may run beside each other on their own data directories. */
export async function startEngram(options: StartOptions): Promise<Engram> {
  const { url, lifecycle } = await start(options);
  return { url, stop: () => lifecycle.stop() };
}

interface StartOptions extends Pick<Foundation, 'config' | 'logger' | 'textWorkers' | 'passwords'> {
  readonly startSearchThread?: StoreParts['startSearchThread'];
}

async function start(options: StartOptions): Promise<{ readonly url: string; readonly lifecycle: Lifecycle }> {
  const { config, logger, startSearchThread } = options;
  const descriptors = shareDescriptors(config);
  const lifecycle = createLifecycle({ logger, stopTimeoutMs: config.drainTimeoutMs + 4000 });
  const tracing = config.tracingEnabled ? (await import('./app/tracing.ts')).openTracing(createMetrics()) : null;
  const metrics = tracing?.metrics ?? createMetrics();
  // Loading modules is most of the start: the storage thread starts beside it.
  const [stores, assemble] = await Promise.all([
    openAll(config, () => openStores({ config, collections, logger, metrics, descriptors, startSearchThread }), logger),
    // A turn later: by then the thread is started, while loading would keep this one busy to its end.
    nextTurn()
      .then(() => import('./app/assemble.ts'))
      .then(({ loadAssembly }) => loadAssembly(config)),
  ]);
  lifecycle.add({ name: 'stores', stop: () => stores.close() });
  try {
    const foundation = { ...options, metrics, stores, descriptors };
    const address = await assemble(tracing === null ? foundation : traced(foundation, tracing), lifecycle);
    await lifecycle.start();
    return { url: address(), lifecycle };
  } catch (error) {
    await lifecycle.stop();
    await stores.close();
    throw error;
  }
}

function traced({ stores, ...foundation }: Foundation, tracing: Tracing): Foundation {
  return { ...foundation, tracing, stores: { ...stores, bus: tracing.bus(stores.bus) } };
}

/** Servers of a cluster may come up after this process; files are there or not. */
async function openAll(config: Config, open: () => Promise<Stores>, logger: Logger): Promise<Stores> {
  if (!Object.values(config.stores).includes('cluster')) return open();
  const { awaitStores } = await import('./app/await-stores.ts');
  return awaitStores(open, { port: config.port, host: config.host, logger });
}

/**
 * `npm start`, and `npm run migrate` with that word. A failure ends in one readable message and exit 1. `shellOfNpm` is the
 * process id of the parent when that is npm's shell: the server ends with it.
 */
export async function run(args: readonly string[], shellOfNpm: number | null): Promise<void> {
  let given: StartArguments;
  let loaded: LoadedConfig;
  try {
    // npm starts its scripts in the folder of the package, wherever it was called.
    given = readStartArguments(args, shellOfNpm === null ? process.cwd() : (process.env['INIT_CWD'] ?? process.cwd()));
  } catch (error) {
    if (error instanceof StartArgumentsError) return failStart(error.message);
    throw error;
  }
  if (given.isHelp) {
    process.stdout.write(START_HELP);
    return;
  }
  Object.assign(process.env, given.variables);
  if (given.command === 'cluster') process.env['ENGRAM_STORES'] ??= 'cluster';
  try {
    loaded = loadProcessConfig();
  } catch (error) {
    if (error instanceof ConfigurationError) return failStart(namingOptions(error.message, given));
    throw error;
  }
  const { config, warnings } = loaded;
  const logger = await openLog(config);
  const handled = endOnSignals();
  if (shellOfNpm !== null) endWithParent(shellOfNpm);
  endWithCluster();
  for (const warning of warnings) logger.warn('config.warning', { warning });
  try {
    if (given.command === 'migrate') return await migrate(config, logger);
    if (given.command === 'cluster') return await cluster(config, logger, { handled, replicas: given.replicas });
    await serve(config, logger, handled);
  } catch (error) {
    await failStart(startMessage(error, config));
  }
}

/** Lines for people on a terminal, JSON for everything that reads the log. */
async function openLog(config: Config): Promise<Logger> {
  const name = nameOf(config);
  const options = { level: config.logLevel, name };
  if (!process.stdout.isTTY) return createLogger(options);
  const { prettyFactory } = await import('pino-pretty');
  const format = prettyFactory({
    colorize: process.stdout.hasColors(),
    ignore: name === ENTIRE ? 'name' : '',
    messageKey: 'event',
    singleLine: true,
    translateTime: 'SYS:HH:MM:ss',
  });
  return createLogger({ ...options, format });
}

/** The last line of a start on a terminal. */
function announce(url: string): void {
  // Listening on every address is no address that a browser opens.
  const address = url.replace(/\/\/(0\.0\.0\.0|\[::\]):/, '//127.0.0.1:');
  if (process.stdout.isTTY) standardLogOutput().write(`\nEngram is ready: ${address}\n\n`);
}

/**
 * Until the start is done nothing need be ended in order, but the first process of a container ignores signals that it does
 * not handle. The answer ends that.
 */
function endOnSignals(): () => void {
  const end = () => process.exit(SIGNALLED);
  const signals = ['SIGTERM', 'SIGINT'] as const;
  for (const signal of signals) process.on(signal, end);
  return () => {
    for (const signal of signals) process.off(signal, end);
  };
}

/** Exit status that shells report for a process ended by SIGTERM. */
const SIGNALLED = 143;

async function serve(config: Config, logger: Logger, signalsHandled: () => void): Promise<void> {
  const { url, lifecycle } = await start({ config, logger });
  lifecycle.handleSignals(process);
  signalsHandled();
  await reportToCluster({ url });
  logger.info('engram.started', {
    version: engram.version,
    url,
    dataDir: config.dataDir,
    authentication: config.posture.required ? 'required' : 'off',
    signUp: config.signUp,
  });
  // In a cluster the first process says it, once all are there.
  if (process.send === undefined) announce(url);
}

/** `npm run cluster [-- --replicas 2]` */
async function cluster(
  config: Config,
  logger: Logger,
  { handled, replicas }: { readonly handled: () => void; readonly replicas: number },
): Promise<void> {
  const { addCluster } = await import('./app/cluster/run-cluster.ts');
  const lifecycle = createLifecycle({ logger, stopTimeoutMs: 6 * (config.drainTimeoutMs + 5_000) });
  const onFailure = (message: string) => {
    fail(message);
    void lifecycle.stop().then(() => process.exit());
  };
  const address = await addCluster({ config, variables: process.env, replicas, logger, onFailure }, lifecycle);
  lifecycle.handleSignals(process);
  handled();
  await lifecycle.start();
  logger.info('cluster.started', { url: address(), replicas });
  announce(address());
}

async function migrate(config: Config, logger: Logger): Promise<void> {
  const { migrateStores } = await import('./app/migrate.ts');
  const datasetFiles = await migrateStores(config, logger);
  logger.info('engram.migrated', { dataDir: config.dataDir, datasetFiles });
}

/** In the combined log of a cluster the process must be told from the others. */
function nameOf({ services }: Config): string {
  return services.length === SERVICE_NAMES.length ? ENTIRE : `${ENTIRE}-${services.join('-')}`;
}

/** Name of a process with all services. */
const ENTIRE = 'engram';

function startMessage(error: unknown, config: Config): string {
  if (error instanceof ConfigurationError || isEngramError(error)) return error.message;
  const code = (error as { code?: unknown } | null)?.code;
  if (code === 'EADDRINUSE') {
    return `Port ${config.port} on ${config.host} is in use. Stop what uses it, or set HTTP_API_PORT to another port.`;
  }
  if (code === 'EACCES')
    return `Port ${config.port} on ${config.host} may not be used by this user. Set HTTP_API_PORT to another port.`;
  if (code === 'EADDRNOTAVAIL') return `${config.host} is not an address of this machine. Set HTTP_API_HOST to one.`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

async function failStart(message: string): Promise<void> {
  await reportToCluster({ failure: message });
  fail(message);
}

function fail(message: string): void {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
}

// `node --watch services/main.ts`: the sources as they are, for the development.
if (import.meta.main) await run(process.argv.slice(2), null);

const INTERVAL_MS = 500;

/**
 * Sends SIGTERM to this process once its parent has ended. npm sends a signal to its shell alone, which dies of it without
 * passing it on.
 */
function endWithParent(parent: number): void {
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    stopWatching();
    process.kill(process.pid, 'SIGTERM');
  }, INTERVAL_MS).unref();
  const stopWatching = () => clearInterval(timer);
  // A signal to the whole group ends the shell too: that must not count as the second one, which ends at once.
  process.once('SIGTERM', stopWatching);
  process.once('SIGINT', stopWatching);
}
