import { availableParallelism, totalmem } from 'node:os';
import type { Config } from '../common/platform/config/configuration.ts';

export interface WorkerLimits {
  /** Processes that read documents at the same time; one more works on texts. */
  readonly documentWorkers: number;
  /** Memory of one worker process. */
  readonly memoryBytes: number;
}

export interface Machine {
  readonly memoryBytes: number;
  readonly processors: number;
}

const MIB = 1024 * 1024;
/** Less would not do for documents as they are: a reader of PDF and its libraries hold 120 MiB. */
const LEAST_BYTES = 256 * MIB;
const MOST_BYTES = 1024 * MIB;

/** Shares half of the memory among the worker processes, so that all of them together never crowd out the server. */
export function workerLimits(
  { documentWorkers, workerMemoryBytes }: Pick<Config, 'documentWorkers' | 'workerMemoryBytes'>,
  machine: Machine = thisMachine(),
): WorkerLimits {
  const share = machine.memoryBytes / 2;
  const fitting = Math.floor(share / (workerMemoryBytes ?? LEAST_BYTES)) - 1;
  const workers = Math.max(1, Math.min(documentWorkers, machine.processors, fitting));
  const memoryBytes = workerMemoryBytes ?? Math.min(MOST_BYTES, Math.max(LEAST_BYTES, share / (workers + 1)));
  return { documentWorkers: workers, memoryBytes: Math.floor(memoryBytes) };
}

/** The limit of its container, where there is one. */
function thisMachine(): Machine {
  const limit = process.constrainedMemory();
  const memoryBytes = limit > 0 ? Math.min(limit, totalmem()) : totalmem();
  return { memoryBytes, processors: availableParallelism() };
}
