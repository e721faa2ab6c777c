import type { Config } from './common/config/configuration.ts';
import { ConfigurationError, type LoadedConfig, loadProcessConfig } from './common/config/load-config.ts';
import { isEngramError } from './common/domain/errors.ts';
import { createLifecycle, type Lifecycle } from './common/lifecycle/lifecycle.ts';
import { createLogger, type Logger } from './common/observability/logger.ts';
import { createMetrics } from './common/observability/metrics.ts';
import { collections } from './composition/collections.ts';
import { openStores } from './composition/stores.ts';

export interface Engram {
  /** `http://127.0.0.1:8000` */
  readonly url: string;
  /** Stops taking requests, ends what runs, closes the stores. False when something had to be cut off. */
  stop(): Promise<boolean>;
}

/** The whole service in this process; any number of them may run beside each other on their own data directories. */
export async function startEngram({
  config,
  logger,
}: {
  readonly config: Config;
  readonly logger: Logger;
}): Promise<Engram> {
  const { url, lifecycle } = await start(config, logger);
  return { url, stop: () => lifecycle.stop() };
}

async function start(config: Config, logger: Logger): Promise<{ readonly url: string; readonly lifecycle: Lifecycle }> {
  const lifecycle = createLifecycle({ logger, stopTimeoutMs: config.drainTimeoutMs + 4000 });
  const metrics = createMetrics();
  // Loading modules is most of the start: the storage thread starts beside it.
  const [stores, assemble] = await Promise.all([
    openStores({ config, collections, logger, metrics }),
    import('./composition/assemble.ts').then(({ loadAssembly }) => loadAssembly(config)),
  ]);
  lifecycle.add({ name: 'stores', stop: () => stores.close() });
  try {
    const address = await assemble({ config, logger, metrics, stores }, lifecycle);
    await lifecycle.start();
    return { url: address(), lifecycle };
  } catch (error) {
    await lifecycle.stop();
    await stores.close();
    throw error;
  }
}

/** `npm start`, and `npm run migrate` with that word. A failure ends in one readable message and exit 1. */
export async function run(command: string | undefined): Promise<void> {
  let loaded: LoadedConfig;
  try {
    loaded = loadProcessConfig();
  } catch (error) {
    if (error instanceof ConfigurationError) return fail(error.message);
    throw error;
  }
  const { config, warnings } = loaded;
  const logger = createLogger({ level: config.logLevel, name: 'engram' });
  for (const warning of warnings) logger.warn('config.warning', { warning });
  try {
    if (command === 'migrate') return await migrate(config, logger);
    if (command !== undefined) return fail(`There is no command "${command}": leave it out, or use "migrate".`);
    await serve(config, logger);
  } catch (error) {
    fail(startMessage(error, config));
  }
}

async function serve(config: Config, logger: Logger): Promise<void> {
  const { url, lifecycle } = await start(config, logger);
  lifecycle.handleSignals(process);
  logger.info('engram.started', {
    url,
    dataDir: config.dataDir,
    authentication: config.posture.required ? 'required' : 'off',
    model: config.languageModel === null ? 'rules' : (config.languageModel.model ?? config.languageModel.provider),
  });
}

async function migrate(config: Config, logger: Logger): Promise<void> {
  const { migrateStores } = await import('./composition/migrate.ts');
  const datasetFiles = await migrateStores(config);
  logger.info('engram.migrated', { dataDir: config.dataDir, datasetFiles });
}

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

function fail(message: string): void {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
}
