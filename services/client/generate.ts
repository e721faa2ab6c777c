/**
 * Generates `generated/api.ts`, the types of the HTTP API, from the OpenAPI document of a server that it starts; with
 * `--check` reports whether the file is stale, by exit code 1.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeGenerated } from '../common/kernel/generated-files.ts';
import { loadConfig } from '../common/platform/config/load-config.ts';
import { createLogger } from '../common/platform/observability/logger.ts';
import { startEngram } from '../main.ts';
import { apiTypes, type OpenApi } from './api-types.ts';

/** The document of an open server on an empty data directory: it lists every route. */
async function servedDocument(): Promise<OpenApi> {
  const folder = await mkdtemp(join(tmpdir(), 'engram-openapi-'));
  const { config } = loadConfig({ ENGRAM_DATA_DIR: folder, HTTP_API_PORT: '0', LOG_LEVEL: 'ERROR' });
  const engram = await startEngram({ config, logger: createLogger({ level: 'error', name: 'openapi' }) });
  try {
    return (await (await fetch(`${engram.url}/openapi.json`)).json()) as OpenApi;
  } finally {
    await engram.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

const files = new Map([['services/client/generated/api.ts', await apiTypes(await servedDocument())]]);
process.exitCode = writeGenerated(files, process.argv[2]);
