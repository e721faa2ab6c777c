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
export interface RelayLag {
  /** Counted by offsets, which have gaps: at most so many. */
  readonly events: number;
  /** Age of the oldest one. */
  readonly seconds: number;
}

/** Buckets from half a millisecond to half a minute. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const http = httpMetrics(registers);
  const work = workMetrics(registers);
  const relay = relayMetrics(registers);
  const stores = storeMetrics(registers);
  const closeProcess = addProcessMetrics(registers);
  return {
    ...http,
    ...work,
    ...relay,
    ...stores,
    ...budgetMetrics(registers),
    ...tenantMetrics(registers),
    contentType: registry.contentType,
    render: () => registry.metrics(),
    close: closeProcess,
  };
}

function tenantMetrics(registers: RegistryType[]): Pick<Metrics, 'tenantWoken'> {
  const wake = new Histogram({
    name: 'engram_tenant_wake_seconds',
    help: 'Time from the request that woke a hibernated tenant until it serves',
    labelNames: [] as const,
    buckets: SECONDS,
    registers,
  });
  return { tenantWoken: (durationMs) => wake.observe({}, durationMs / 1000) };
}

function httpMetrics(registers: RegistryType[]): Pick<Metrics, 'httpRequest' | 'httpInFlight' | 'socketsOpen'> {
  const labelNames = ['method', 'route', 'status'] as const;
  const total = new Counter({ name: 'engram_http_requests_total', help: 'HTTP requests', labelNames, registers });
  const duration = new Histogram({
    name: 'engram_http_request_duration_seconds',
    help: 'Time until the answer was written',
    labelNames,
    buckets: SECONDS,
    registers,
  });
  const inFlight = new Gauge({ name: 'engram_http_requests_in_flight', help: 'Requests being served', registers });
  const sockets = new Gauge({ name: 'engram_websockets_open', help: 'Open WebSockets', registers });
  return {
    httpRequest({ method, route, status, durationMs }) {
      const labels = { method, route, status };
      total.inc(labels);
      duration.observe(labels, durationMs / 1000);
    },
    httpInFlight: (change) => inFlight.inc(change),
    socketsOpen: (change) => sockets.inc(change),
  };
}

function workMetrics(
  registers: RegistryType[],
): Pick<Metrics, 'watchQueue' | 'runState' | 'modelTokens' | 'modelCall'> {
  const runs = new Counter({
    name: 'engram_run_states_total',
    help: 'States that runs have entered',
    labelNames: ['pipeline', 'status'] as const,
    registers,
  });
  const tokens = new Counter({
    name: 'engram_model_tokens_total',
    help: 'Tokens sent to and received from models',
    labelNames: ['model', 'purpose', 'direction'] as const,
    registers,
  });
  const calls = new Histogram({
    name: 'engram_model_call_duration_seconds',
    help: 'Time of model calls, retries included',
    labelNames: ['model', 'purpose', 'outcome'] as const,
    buckets: SECONDS,
    registers,
  });
  return {
    watchQueue(depth) {
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
    },
    runState: (pipeline, status) => runs.inc({ pipeline, status }),
    modelTokens({ model, purpose, inputTokens, outputTokens }) {
      tokens.inc({ model, purpose, direction: 'input' }, inputTokens);
      tokens.inc({ model, purpose, direction: 'output' }, outputTokens);
    },
    modelCall: ({ model, purpose, outcome, durationMs }) =>
      calls.observe({ model, purpose, outcome }, durationMs / 1000),
  };
}

function relayMetrics(registers: RegistryType[]): Pick<Metrics, 'eventsRelayed' | 'watchRelay'> {
  const total = new Counter({
    name: 'engram_events_relayed_total',
    help: 'Domain events that the broker acknowledged',
    labelNames: ['type'] as const,
    registers,
  });
  return {
    eventsRelayed: (type, count) => total.inc({ type }, count),
    watchRelay(lag) {
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
    },
  };
}

function storeMetrics(registers: RegistryType[]): Pick<Metrics, 'store'> {
  const duration = new Histogram({
    name: 'engram_store_duration_seconds',
    help: 'Time of calls to stores and other ports',
    labelNames: ['port', 'method', 'outcome'] as const,
    buckets: SECONDS,
    registers,
  });
  return {
    store: ({ port, method, outcome, durationMs }) => duration.observe({ port, method, outcome }, durationMs / 1000),
  };
}

/** Labels by kind of limit: tenants and keys are too many for labels. */
function budgetMetrics(registers: RegistryType[]): BudgetMetrics {
  const charged = new Counter({
    name: 'engram_budget_charged_total',
    help: 'What was counted for budgets: tokens, bytes, items, datasets, limited requests, runs',
    labelNames: ['limit'] as const,
    registers,
  });
  const passed = new Counter({
    name: 'engram_budget_passed_total',
    help: 'Requests beyond a limit, refused (exceeded) or let through (warned)',
    labelNames: ['limit', 'outcome'] as const,
    registers,
  });
  return {
    budgetCharged: (limit, amount) => charged.inc({ limit }, amount),
    budgetPassed: (limit, outcome) => passed.inc({ limit, outcome }),
  };
}
