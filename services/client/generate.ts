/**
 * Generates `generated/api.ts`, the types of the HTTP API, from the OpenAPI document of a server that it starts; with
 * `--check` reports whether the file is stale, by exit code 1.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadConfig } from '../common/platform/config/load-config.ts';
import { createLogger } from '../common/platform/observability/logger.ts';
import { startEngram } from '../main.ts';
import { apiTypes, type OpenApi } from './api-types.ts';

const TARGET = fileURLToPath(new URL('./generated/api.ts', import.meta.url));

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

const types = await apiTypes(await servedDocument());
if (process.argv.includes('--check')) {
  if (readFileSync(TARGET, 'utf8') !== types) {
    process.stderr.write('services/client/generated/api.ts is stale: npm run generate\n');
    process.exitCode = 1;
  }
} else {
  mkdirSync(new URL('./generated/', import.meta.url), { recursive: true });
  writeFileSync(TARGET, types);
}
