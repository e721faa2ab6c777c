import { readFileSync } from 'node:fs';
import { expect } from 'chai';

/** Milliseconds of processor time of this process so far: unlike the clock's, they do not grow with what else runs here. */
export function cpuTimeMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** The same of the calling thread alone. */
export function threadCpuTimeMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/**
 * Milliseconds of processor time of this thread between two turns of the event loop, at most; of a long turn those of a usual
 * machine, as this one is slower at some moments than at others.
 */
export async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = threadCpuTimeMs();
  const timer = setInterval(() => {
    const now = threadCpuTimeMs();
    longest = Math.max(longest, now - last);
    last = now;
  }, 1);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  return longest < SHORT_TURN_MS ? longest : longest / slowness();
}

/** That work took less than `limitMs` of processor time, or as much longer as this machine is slower than a usual one, now. */
export function expectQuick(tookMs: number, limitMs: number, label?: string): void {
  if (tookMs >= limitMs) expect(tookMs, label).to.be.below(limitMs * slowness());
}

/** A turn of the event loop of this length keeps nobody waiting. */
export const SHORT_TURN_MS = 100;

/** That the least of the longest turns is short: what the work itself does it does each time, the collector now and then. */
export function expectShortTurns(...longest: readonly number[]): void {
  const label = `ms of work between two turns of the event loop, of ${longest}`;
  expect(Math.min(...longest), label).to.be.below(SHORT_TURN_MS);
}

/** How many times as long as 25 ms this machine takes, at present, to parse a list of 300,000 names; at least 1. */
function slowness(): number {
  const text = JSON.stringify(Array.from({ length: 300_000 }, (_, index) => `name ${index}`));
  const times = Array.from({ length: 5 }, () => {
    const start = threadCpuTimeMs();
    JSON.parse(text);
    return threadCpuTimeMs() - start;
  });
  return Math.max(1, (times.toSorted((one, other) => one - other)[2] ?? 0) / 25);
}

/** Milliseconds of processor time of another process, in steps of ten milliseconds. */
export function processCpuTimeMs(pid: number): number {
  // Fields 14 and 15, in hundredths of a second; the name in parentheses before them may hold spaces.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
