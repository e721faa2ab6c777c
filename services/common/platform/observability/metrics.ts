import type { Gauge as GaugeType, Registry as RegistryType } from 'prom-client';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { BudgetMetrics } from '../../ports/budgets.ts';
import type { ModelKind, TokenUsage } from '../../ports/models.ts';
import { addProcessMetrics } from './process-metrics.ts';

/** Everything the service counts. Each instance has its own registry, so two instances in one process do not mix. */
export interface Metrics extends BudgetMetrics {
  /** `route` is the template, never the path: `/api/v1/datasets/:datasetId`. */
  httpRequest(request: { method: string; route: string; status: number; durationMs: number }): void;
  /** Adds 1 or −1 to the requests in flight. */
  httpInFlight(change: 1 | -1): void;
  /** Open WebSockets. */
  socketsOpen(change: 1 | -1): void;
  /** Read at every scrape: job kind → jobs that wait. */
  watchQueue(depth: () => Promise<Readonly<Record<string, number>>>): void;
  /** Domain events that a broker acknowledged. */
  eventsRelayed(type: string, count: number): void;
  /** Read at every scrape. */
  watchRelay(lag: () => Promise<RelayLag>): void;
  /** A run entered a state (the wire's word, for example `DATASET_PROCESSING_COMPLETED`). */
  runState(pipeline: string, status: string): void;
  modelTokens(call: { model: string; purpose: string; inputTokens: number; outputTokens: number }): void;
  /** `usage` where the answer has it. */
  modelCall(call: {
    model: string;
    kind: ModelKind;
    purpose: string;
    outcome: 'ok' | 'error';
    durationMs: number;
    usage?: TokenUsage;
  }): void;
  /** Records the time from the request that woke a tenant until it serves. */
  tenantWoken(durationMs: number): void;
  /** One call of a port's method. */
  store(call: { port: string; method: string; outcome: 'ok' | 'error'; durationMs: number }): void;
  readonly contentType: string;
  render(): Promise<string>;
  /** Ends the event loop probe. */
  close(): void;
}

/** Events that wait in the log for a relay. */
interface RelayLag {
  /** Counted by offsets, which have gaps: at most so many. */
  readonly events: number;
  /** Age of the oldest one. */
  readonly seconds: number;
}

/** Buckets from half a millisecond to half a minute. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const REQUEST = ['method', 'route', 'status'] as const;
const CALL = ['model', 'purpose'] as const;
const PORT_CALL = ['port', 'method', 'outcome'] as const;

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const counter = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Counter({ name: `engram_${name}`, help, labelNames, registers });
  const gauge = (name: string, help: string) => new Gauge({ name: `engram_${name}`, help, registers });
  const seconds = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Histogram({ name: `engram_${name}`, help, labelNames, buckets: SECONDS, registers });
  const requests = counter('http_requests_total', 'HTTP requests', ...REQUEST);
  const request = seconds('http_request_duration_seconds', 'Time until the answer was written', ...REQUEST);
  const inFlight = gauge('http_requests_in_flight', 'Requests being served');
  const sockets = gauge('websockets_open', 'Open WebSockets');
  const runs = counter('run_states_total', 'States that runs have entered', 'pipeline', 'status');
  const tokens = counter('model_tokens_total', 'Tokens sent to and received from models', ...CALL, 'direction');
  const calls = seconds('model_call_duration_seconds', 'Time of model calls, retries included', ...CALL, 'outcome');
  const relayed = counter('events_relayed_total', 'Domain events that the broker acknowledged', 'type');
  const wake = seconds('tenant_wake_seconds', 'Time from the request that woke a hibernated tenant until it serves');
  const stores = seconds('store_duration_seconds', 'Time of calls to stores and other ports', ...PORT_CALL);
  // Labels by kind of limit: tenants and keys are too many for labels.
  const charged = counter(
    'budget_charged_total',
    'What was counted for budgets: tokens, bytes, items, datasets, limited requests, runs',
    'limit',
  );
  const passed = counter(
    'budget_passed_total',
    'Requests beyond a limit, refused (exceeded) or let through (warned)',
    'limit',
    'outcome',
  );
  return {
    httpRequest({ method, route, status, durationMs }) {
      const labels = { method, route, status };
      requests.inc(labels);
      request.observe(labels, durationMs / 1000);
    },
    httpInFlight: (change) => inFlight.inc(change),
    socketsOpen: (change) => sockets.inc(change),
    watchQueue: (depth) => watchDepth(registers, depth),
    runState: (pipeline, status) => runs.inc({ pipeline, status }),
    modelTokens({ model, purpose, inputTokens, outputTokens }) {
      tokens.inc({ model, purpose, direction: 'input' }, inputTokens);
      tokens.inc({ model, purpose, direction: 'output' }, outputTokens);
    },
    modelCall: ({ model, purpose, outcome, durationMs }) =>
      calls.observe({ model, purpose, outcome }, durationMs / 1000),
    eventsRelayed: (type, count) => relayed.inc({ type }, count),
    watchRelay: (lag) => watchLag(registers, lag),
    tenantWoken: (durationMs) => wake.observe(durationMs / 1000),
    store: ({ port, method, outcome, durationMs }) => stores.observe({ port, method, outcome }, durationMs / 1000),
    budgetCharged: (limit, amount) => charged.inc({ limit }, amount),
    budgetPassed: (limit, outcome) => passed.inc({ limit, outcome }),
    contentType: registry.contentType,
    render: () => registry.metrics(),
    close: addProcessMetrics(registers),
  };
}

function watchDepth(registers: RegistryType[], depth: () => Promise<Readonly<Record<string, number>>>): void {
  const gauge = new Gauge({
    name: 'engram_queue_depth',
    help: 'Jobs that wait for a worker',
    labelNames: ['kind'] as const,
    registers,
    async collect() {
      // A store that is down must not take the scrape down with it: the series is missing then.
      const counts = await depth().catch(() => ({}));
      gauge.reset();
      for (const [kind, count] of Object.entries(counts)) gauge.set({ kind }, count);
    },
  });
}

/** Registers the gauges of a relay, which read its lag once for each scrape. */
function watchLag(registers: RegistryType[], lag: () => Promise<RelayLag>): void {
  let reading: Promise<RelayLag | null> | null = null;
  // A store that is down must not take the scrape down with it: the series are missing then.
  const read = () => {
    reading ??= lag()
      .catch(() => null)
      .finally(() => {
        reading = null;
      });
    return reading;
  };
  const gauge = (name: string, help: string, value: (current: RelayLag) => number) => {
    const metric: GaugeType = new Gauge({
      name,
      help,
      registers,
      async collect() {
        const current = await read();
        if (current === null) metric.remove();
        else metric.set(value(current));
      },
    });
  };
  gauge('engram_event_relay_lag_events', 'Domain events that wait to be relayed, at most', ({ events }) => events);
  gauge('engram_event_relay_lag_seconds', 'Age of the oldest of them', ({ seconds }) => seconds);
}
