import { readdirSync, readFileSync } from 'node:fs';
import type { Config } from '../common/platform/config/configuration.ts';
import { ConfigurationError } from '../common/platform/config/load-config.ts';
import type { HealthCheck } from '../common/platform/http/health-probe.ts';

/** How the file descriptors of the process are shared out. */
export type Descriptors = ReturnType<typeof shareDescriptors>;

/** Fewest descriptors with which the server can start all of its threads. */
const LEAST = 96;
/** Threads and their event loops, databases, standard streams: measured 58 with every thread at work. */
const OWN = 64;
/** A thread has the file and its log, all of them together the shared memory. */
const PER_FILE = 7;
const MOST_FILES = 64;
/** Blobs, modules, connections to other servers: this part of what is left. */
const SPARE_SHARE = 1 / 4;
/** Number of free descriptors from which on requests fail at random. */
const LEAST_FREE = 4;

/** `ConfigurationError` when there are too few to serve anybody. */
export function shareDescriptors({ maxOpenFiles }: Pick<Config, 'maxOpenFiles'>) {
  const processLimit = readProcessLimit();
  const limit = Math.min(maxOpenFiles ?? Number.POSITIVE_INFINITY, processLimit);
  if (limit < LEAST) {
    throw new ConfigurationError([
      `The process may open ${limit} files, and the server needs ${LEAST} at least. Raise the limit (ulimit -n 1024, ` +
        'LimitNOFILE= of systemd, --ulimit nofile=1024 of Docker).',
    ]);
  }
  const free = limit - OWN;
  const openFiles = Math.max(1, Math.min(MOST_FILES, Math.floor(free / 2 / PER_FILE)));
  return {
    /** Dataset files that each thread of the embedded index keeps open. */
    openFiles,
    /** Connections of clients at the same time. */
    maxConnections: Math.floor((free - openFiles * PER_FILE) * (1 - SPARE_SHARE)),
    /** The check, which fails when hardly any descriptor is free. */
    guardedHealth(health: HealthCheck | null) {
      if (health === null) return null;
      return {
        critical: health.critical,
        async check() {
          requireFree(processLimit);
          return health.check();
        },
      };
    },
  };
}

function requireFree(limit: number): void {
  const used = countOpen() ?? limit;
  if (limit - used < LEAST_FREE) throw new Error(`${used} of ${limit} file descriptors are in use`);
}

/** Infinite where the system does not say. */
function readProcessLimit(): number {
  try {
    const [, soft] = /^Max open files\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    const limit = Number(soft);
    return Number.isInteger(limit) ? limit : Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** Null: none is left to count them with. */
function countOpen(): number | null {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EMFILE' ? null : 0;
  }
}
