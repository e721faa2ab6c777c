import { readFileSync } from 'node:fs';
import { SERVICE_NAMES } from '../../services/common/domain/service-paths.ts';
import { type EngramProcess, makeDataDir, startProcess } from '../support/engram-process.ts';
import { freePorts } from '../support/free-ports.ts';
import { until } from '../support/until.ts';
import { takeOwnNames } from './own-names.ts';

/** The six services as processes on real servers, behind the path router: `npm run cluster`. */
export interface ClusterProcess extends EngramProcess {
  readonly environment: Readonly<Record<string, string>>;
  /** Processes of the service that run now. */
  pidsOf(service: string): readonly number[];
  /** Addresses of the service's replicas that started, without the router. */
  urlsOf(service: string): readonly string[];
  /** Stops it and removes what it keeps here and on the servers. */
  stop(): Promise<number | null>;
}

const READY_TIMEOUT_MS = 120_000;

/** Names of its own on every server, so that tests share these. */
export async function startCluster(
  environment: Readonly<Record<string, string>> = {},
  { replicas = 1 }: { readonly replicas?: number } = {},
): Promise<ClusterProcess> {
  const names = takeOwnNames();
  const data = makeDataDir();
  const places = SERVICE_NAMES.length * replicas;
  const variables = {
    ...names.environment,
    HTTP_API_PORT: String(await freePorts(1)),
    HTTP_API_HOST: '127.0.0.1',
    ENABLE_AUTO_MIGRATIONS: 'true',
    ...environment,
  };
  const started = await startProcess({
    dataDir: data.path,
    command: 'cluster',
    commandArguments: ['--replicas', String(replicas)],
    environment: variables,
  });
  await untilReady(places, started);
  return {
    ...started,
    environment: variables,
    pidsOf: (service) => childrenOf(started.pid).filter((pid) => servicesOf(pid) === service),
    urlsOf: (service) => startedServices(started).flatMap(({ name, url }) => (name.endsWith(service) ? [url] : [])),
    async stop() {
      const code = await started.stop();
      data.remove();
      await names.remove();
      return code;
    },
  };
}

/** The router answers as soon as `auth` does; the other services may still be preparing their stores. */
async function untilReady(places: number, cluster: EngramProcess): Promise<void> {
  const services = () => startedServices(cluster);
  await until('all services are started', () => services().length >= places, {
    everyMs: 50,
    limitMs: READY_TIMEOUT_MS,
  });
  for (const { url } of services()) {
    await until(
      `${url} is ready: ${cluster.output()}`,
      () =>
        fetch(`${url}/readyz`).then(
          (response) => response.ok,
          () => false,
        ),
      { everyMs: 50, limitMs: READY_TIMEOUT_MS },
    );
  }
}

/** By the log lines with which they say that they listen. */
function startedServices(cluster: EngramProcess): readonly { readonly name: string; readonly url: string }[] {
  const lines = cluster.output().matchAll(/"name":"([^"]+)"[^\n]*"url":"(http:[^"]+)"[^\n]*"event":"engram\.started"/g);
  return [...lines].map(([, name = '', url = '']) => ({ name, url }));
}

function childrenOf(parent: number): readonly number[] {
  return readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
}

/** Empty for one that is ending. */
function servicesOf(pid: number): string {
  try {
    const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    return variables.find((one) => one.startsWith('ENGRAM_SERVICES='))?.slice('ENGRAM_SERVICES='.length) ?? '';
  } catch {
    return '';
  }
}
