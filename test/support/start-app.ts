import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../../services/common/platform/config/configuration.ts';
import { loadConfig } from '../../services/common/platform/config/load-config.ts';
import { createLogger, createSilentLogger, type Logger } from '../../services/common/platform/observability/logger.ts';
import { startEngram } from '../../services/main.ts';
import { quickPasswords } from './quick-passwords.ts';
import { startSharedSearchThread } from './search-threads.ts';
import { sharedTextWorkers } from './text-workers.ts';

/** The whole service in this process on a free port and a data directory of its own. */
export interface StartedApp {
  readonly baseUrl: string;
  readonly config: Config;
  readonly dataDir: string;
  /** Stops it and removes the data directory, unless another one shall go on with it. */
  stop(options?: { readonly keepData: boolean }): Promise<void>;
}

/**
 * `variables` are those of the environment; without any the service is open and needs no model. `log` takes the
 * lines that it logs.
 */
export async function startApp(
  variables: Readonly<Record<string, string>> = {},
  options: { readonly dataDir?: string; readonly logger?: Logger; readonly log?: string[] } = {},
): Promise<StartedApp> {
  const { log } = options;
  const noted =
    log && createLogger({ level: 'debug', name: 'test', destination: { write: (line) => void log.push(line) } });
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'engram-app-')));
  try {
    const { config } = loadConfig({ ENGRAM_DATA_DIR: dataDir, HTTP_API_PORT: '0', ...variables });
    const engram = await startEngram({
      config,
      logger: options.logger ?? noted ?? createSilentLogger(),
      passwords: quickPasswords(),
      startSearchThread: startSharedSearchThread,
      ...sharedTextWorkers(variables),
    });
    return {
      baseUrl: engram.url,
      config,
      dataDir,
      async stop({ keepData } = { keepData: false }) {
        await engram.stop();
        if (!keepData) await rm(dataDir, { recursive: true, force: true });
      },
    };
  } catch (error) {
    await rm(dataDir, { recursive: true, force: true });
    throw error;
  }
}
