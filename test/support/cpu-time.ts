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
