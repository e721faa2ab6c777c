import { readFileSync } from 'node:fs';

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

/** Milliseconds of processor time of this thread between two turns of the event loop, at most. */
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
  return longest;
}

/** Greatest turn in ms that counts as short: 100, or four times what parsing a list of 300,000 names takes on a slower machine. */
export function shortTurnMs(): number {
  const text = JSON.stringify(Array.from({ length: 300_000 }, (_, index) => `name ${index}`));
  const times = Array.from({ length: 5 }, () => {
    const start = threadCpuTimeMs();
    JSON.parse(text);
    return threadCpuTimeMs() - start;
  });
  return Math.max(100, 4 * Math.min(...times));
}

/** Milliseconds of processor time of another process, in steps of ten milliseconds. */
export function processCpuTimeMs(pid: number): number {
  // Fields 14 and 15, in hundredths of a second; the name in parentheses before them may hold spaces.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
