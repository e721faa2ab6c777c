import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Counter as CounterType, Gauge as GaugeType, Registry as RegistryType } from 'prom-client';
import { Counter, Gauge } from 'prom-client';
import { droppedLogLines } from './log-output.ts';

/** The usual process figures under their usual names, read at the scrape. Answers what ends the event loop probe. */
export function addProcessMetrics(registers: RegistryType[]): () => void {
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  const gauge = (name: string, help: string, read: () => number) => {
    const metric: GaugeType = new Gauge({ name, help, registers, collect: () => metric.set(read()) });
  };
  gauge('process_resident_memory_bytes', 'Resident memory', () => process.memoryUsage.rss());
  gauge('nodejs_heap_size_used_bytes', 'Heap in use', () => process.memoryUsage().heapUsed);
  gauge('nodejs_external_memory_bytes', 'Memory of buffers', () => process.memoryUsage().external);
  gauge('process_cpu_seconds_total', 'User and system CPU time', () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  gauge('process_uptime_seconds', 'Time since the process started', () => process.uptime());
  gauge('nodejs_eventloop_lag_p99_seconds', 'Event loop delay since the last scrape', () => {
    const lag = delay.percentile(99) / 1e9;
    delay.reset();
    return lag;
  });
  const droppedLines: CounterType = new Counter({
    name: 'engram_log_lines_dropped_total',
    help: 'Log lines lost because standard output took no more',
    registers,
    collect() {
      droppedLines.reset();
      droppedLines.inc(droppedLogLines());
    },
  });
  return () => delay.disable();
}
