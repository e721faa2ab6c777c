import type { Gauge as GaugeType, Registry } from 'prom-client';
import { Counter, Gauge, Histogram } from 'prom-client';
import type { Condition } from './conditions.ts';

/** Metrics of the runtime, with the names that operators usually have, under the given prefix. */
export interface RuntimeMetrics {
  /** `result`: success, progressing, stalled, retrying, error, gone. */
  reconciled(kind: string, result: string, durationMs: number): void;
  reconcileError(kind: string, reason: string): void;
  queueAdded(kind: string): void;
  queueRetried(kind: string): void;
  /** Read at every scrape. */
  watchQueueDepth(kind: string, depth: () => number): void;
  /** `cause`: closed, idle, expired, error, resync. */
  watchRestarted(kind: string, cause: string): void;
  /** Read at every scrape. */
  watchEventAge(kind: string, seconds: () => number): void;
  /** Replaces the known conditions of one object; empty when the object is gone. */
  conditions(kind: string, key: string, conditions: readonly Condition[]): void;
  statusWritten(kind: string): void;
  leading(isLeader: boolean): void;
}

/** From a millisecond to two minutes. */
const SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120];

export function createRuntimeMetrics(registry: Registry, prefix: string): RuntimeMetrics {
  const registers = [registry];
  const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
    new Counter({ name: `${prefix}${name}`, help, labelNames, registers });
  const duration = new Histogram({
    name: `${prefix}reconcile_duration_seconds`,
    help: 'Time of one reconcile',
    labelNames: ['kind', 'result'] as const,
    buckets: SECONDS,
    registers,
  });
  const errors = counter('reconcile_errors_total', 'Reconciles that failed', ['kind', 'reason']);
  const adds = counter('workqueue_adds_total', 'Keys added to the queue', ['kind']);
  const retries = counter('workqueue_retries_total', 'Keys that were tried again with back-off', ['kind']);
  const restarts = counter('watch_restarts_total', 'Watches that ended and were started again', ['kind', 'cause']);
  const writes = counter('status_writes_total', 'Writes of a status', ['kind']);
  const leader = new Gauge({ name: `${prefix}leader`, help: '1 in the process that leads', registers });
  leader.set(0);
  const perKind = (name: string, help: string) => gaugePerKind(`${prefix}${name}`, help, registers);
  return {
    reconciled: (kind, result, durationMs) => duration.observe({ kind, result }, durationMs / 1000),
    reconcileError: (kind, reason) => errors.inc({ kind, reason }),
    queueAdded: (kind) => adds.inc({ kind }),
    queueRetried: (kind) => retries.inc({ kind }),
    watchQueueDepth: perKind('workqueue_depth', 'Keys that wait'),
    watchRestarted: (kind, cause) => restarts.inc({ kind, cause }),
    watchEventAge: perKind('watch_last_event_age_seconds', 'Time since a watch was heard from'),
    conditions: conditionGauge(`${prefix}resource_condition`, registers),
    statusWritten: (kind) => writes.inc({ kind }),
    leading: (isLeader) => leader.set(isLeader ? 1 : 0),
  };
}

function gaugePerKind(name: string, help: string, registers: Registry[]): (kind: string, read: () => number) => void {
  /** Several functions when a kind has one watch per namespace; the largest value is exported. */
  const readers = new Map<string, (() => number)[]>();
  const gauge: GaugeType<'kind'> = new Gauge({
    name,
    help,
    labelNames: ['kind'] as const,
    registers,
    collect() {
      for (const [kind, reads] of readers) gauge.set({ kind }, Math.max(...reads.map((read) => read())));
    },
  });
  return (kind, read) => void readers.set(kind, [...(readers.get(kind) ?? []), read]);
}

/** Computed at each scrape, so no series remains when a status or an object goes. */
function conditionGauge(name: string, registers: Registry[]): RuntimeMetrics['conditions'] {
  const known = new Map<string, { kind: string; ns: string; name: string; conditions: readonly Condition[] }>();
  const gauge: GaugeType<'kind' | 'ns' | 'name' | 'type' | 'status'> = new Gauge({
    name,
    help: 'Conditions of resources, 1 for the status that holds',
    labelNames: ['kind', 'ns', 'name', 'type', 'status'] as const,
    registers,
    collect() {
      gauge.reset();
      for (const { kind, ns, name: object, conditions } of known.values()) {
        for (const { type, status } of conditions) gauge.set({ kind, ns, name: object, type, status }, 1);
      }
    },
  });
  return (kind, key, conditions) => {
    const slash = key.indexOf('/');
    const place = `${kind} ${key}`;
    if (conditions.length === 0) known.delete(place);
    else known.set(place, { kind, ns: key.slice(0, Math.max(slash, 0)), name: key.slice(slash + 1), conditions });
  };
}
