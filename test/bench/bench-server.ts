import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { slices } from '../../services/common/kernel/slices.ts';
import { loadConfig } from '../../services/common/platform/config/load-config.ts';
import { createLogger } from '../../services/common/platform/observability/logger.ts';
import { startEngram } from '../../services/main.ts';

const UPLOAD_BATCH = 100;

export interface BenchFile {
  readonly name: string;
  readonly content: string;
}

/** Starts a server on embedded stores, without a model, in this process; its data is removed with it. */
export interface BenchServer extends AsyncDisposable {
  post(route: string, body: object): Promise<unknown>;
  get(route: string): Promise<unknown>;
  upload(dataset: string, files: readonly BenchFile[]): Promise<void>;
}

export async function startBenchServer(): Promise<BenchServer> {
  const directory = await mkdtemp(path.join(tmpdir(), 'engram-bench-'));
  const { config } = loadConfig({ ENGRAM_DATA_DIR: directory, HTTP_API_PORT: '0' });
  const engram = await startEngram({ config, logger: createLogger({ level: 'warn', name: 'bench' }) });
  const ask = async (route: string, init: RequestInit): Promise<unknown> => {
    const response = await fetch(`${engram.url}/api/v1${route}`, init);
    if (!response.ok) throw new Error(`${route} answered ${response.status}: ${await response.text()}`);
    return response.json();
  };
  return {
    get: (route) => ask(route, {}),
    post: (route, body) =>
      ask(route, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    async upload(dataset, files) {
      for (const batch of slices(files, UPLOAD_BATCH)) {
        const form = new FormData();
        form.set('datasetName', dataset);
        for (const { name, content } of batch) form.append('data', new Blob([content], { type: 'text/plain' }), name);
        await ask('/add', { method: 'POST', body: form });
      }
    },
    async [Symbol.asyncDispose]() {
      await engram.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Returns a title as a file name, without slashes. */
export function fileNameOf(title: string): string {
  return `${title.replaceAll('/', ' ')}.txt`;
}
