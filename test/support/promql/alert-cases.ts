import type { Labels, Series } from './evaluate.ts';

/** Series under which an alert must fire, and under which it must not. A value every minute. */
interface AlertCase {
  readonly alert: string;
  readonly fires: readonly Series[];
  readonly quiet: readonly Series[];
  /** Labels of the alert that fires. */
  readonly labels: Labels;
}

const MINUTES = 100;

function series(metric: string, labels: Labels, value: (minute: number) => number | null): Series {
  return {
    metric,
    labels: { ...TARGET, ...labels },
    values: Array.from({ length: MINUTES }, (_, minute) => value(minute)),
  };
}

/** Labels that the monitors add to every series. */
const TARGET = { namespace: 'memory', service: 'search', pod: 'rel-engram-search-1' };

/** Growth per minute. */
const counter = (metric: string, labels: Labels, perMinute: number) =>
  series(metric, labels, (minute) => minute * perMinute);
const gauge = (metric: string, labels: Labels, value: number) => series(metric, labels, () => value);

const requests = (status: string, perMinute: number) =>
  counter('engram_http_requests_total', { method: 'GET', route: '/api/v1/datasets', status }, perMinute);
const searches = (fast: number, slow: number) => [
  ...['0.5', '1', '2.5'].map((le) => searchBucket(le, fast)),
  ...['10', '30', '+Inf'].map((le) => searchBucket(le, fast + slow)),
];
const searchBucket = (le: string, perMinute: number) =>
  counter(
    'engram_http_request_duration_seconds_bucket',
    { method: 'POST', route: '/api/v1/search', status: '200', le },
    perMinute,
  );
const calls = (outcome: string, perMinute: number) =>
  counter('engram_store_duration_seconds_count', { port: 'documents', method: 'get', outcome }, perMinute);
const runs = (status: string, perMinute: number) =>
  counter(
    'engram_run_states_total',
    { pipeline: 'cognify_pipeline', status: `DATASET_PROCESSING_${status}` },
    perMinute,
  );
const modelCalls = (outcome: string, perMinute: number) =>
  counter('engram_model_call_duration_seconds_count', { model: 'm', purpose: 'extraction', outcome }, perMinute);
const isolationChecks = (result: string, perMinute: number) =>
  counter('engram_operator_isolation_checks_total', { result }, perMinute);
const condition = (type: string, status: string) =>
  gauge('engram_operator_resource_condition', { kind: 'Tenant', ns: 'memory', name: 'acme', type, status }, 1);

export const ALERT_CASES: readonly AlertCase[] = [
  {
    alert: 'EngramRequestsFail',
    fires: [requests('200', 90), requests('503', 10)],
    quiet: [requests('200', 98), requests('500', 2), requests('404', 50)],
    labels: { namespace: 'memory', service: 'search' },
  },
  { alert: 'EngramRequestsAreSlow', fires: searches(80, 20), quiet: searches(99, 1), labels: { service: 'search' } },
  {
    alert: 'EngramStoreFails',
    fires: [calls('ok', 90), calls('error', 10)],
    quiet: [calls('ok', 98), calls('error', 2)],
    labels: { port: 'documents' },
  },
  {
    alert: 'EngramEventLoopIsBlocked',
    fires: [gauge('nodejs_eventloop_lag_p99_seconds', {}, 0.9)],
    quiet: [gauge('nodejs_eventloop_lag_p99_seconds', {}, 0.03)],
    labels: { pod: 'rel-engram-search-1' },
  },
  {
    alert: 'EngramJobsWait',
    fires: [gauge('engram_queue_depth', { kind: 'cognify' }, 80)],
    // A burst that is worked off.
    quiet: [series('engram_queue_depth', { kind: 'cognify' }, (minute) => (minute % 10 === 0 ? 0 : 500))],
    labels: { kind: 'cognify' },
  },
  {
    alert: 'EngramRunsFail',
    fires: [runs('STARTED', 10), runs('COMPLETED', 5), runs('ERRORED', 5)],
    quiet: [runs('STARTED', 10), runs('COMPLETED', 9), runs('ERRORED', 1)],
    labels: { pipeline: 'cognify_pipeline' },
  },
  {
    alert: 'EngramModelFails',
    fires: [modelCalls('ok', 6), modelCalls('error', 4)],
    quiet: [modelCalls('ok', 9), modelCalls('error', 1)],
    labels: { model: 'm' },
  },
  {
    alert: 'EngramEventsAreNotRelayed',
    fires: [gauge('engram_event_relay_lag_seconds', {}, 900)],
    quiet: [gauge('engram_event_relay_lag_seconds', {}, 2)],
    labels: { namespace: 'memory' },
  },
  {
    alert: 'EngramBudgetIsExhausted',
    fires: [counter('engram_budget_passed_total', { limit: 'requestsPerMinute', outcome: 'exceeded' }, 20)],
    quiet: [
      counter('engram_budget_passed_total', { limit: 'requestsPerMinute', outcome: 'exceeded' }, 1),
      counter('engram_budget_passed_total', { limit: 'requestsPerMinute', outcome: 'warned' }, 100),
    ],
    labels: { limit: 'requestsPerMinute' },
  },
  {
    alert: 'EngramOperatorHasNoLeader',
    fires: [gauge('engram_operator_leader', {}, 0), gauge('engram_operator_leader', { pod: 'other' }, 0)],
    quiet: [gauge('engram_operator_leader', {}, 0), gauge('engram_operator_leader', { pod: 'other' }, 1)],
    labels: { namespace: 'memory' },
  },
  {
    alert: 'EngramResourceIsNotReady',
    fires: [condition('Ready', 'False')],
    quiet: [condition('Ready', 'True'), condition('Stalled', 'False')],
    labels: { kind: 'Tenant', ns: 'memory', name: 'acme' },
  },
  {
    alert: 'EngramErasureIsStuck',
    fires: [condition('ErasureComplete', 'False')],
    quiet: [condition('ErasureComplete', 'True'), condition('Ready', 'False')],
    labels: { name: 'acme' },
  },
  {
    alert: 'EngramTenantsLeak',
    fires: [condition('IsolationVerified', 'False')],
    quiet: [condition('IsolationVerified', 'Unknown'), condition('Ready', 'False')],
    labels: { kind: 'Tenant', ns: 'memory', name: 'acme' },
  },
  {
    alert: 'EngramIsolationIsUnproven',
    fires: [isolationChecks('failed', 1), isolationChecks('verified', 0)],
    // A short outage.
    quiet: [isolationChecks('failed', 1), isolationChecks('verified', 1)],
    labels: { namespace: 'memory' },
  },
  {
    alert: 'EngramReconcilesFail',
    fires: [counter('engram_operator_reconcile_errors_total', { kind: 'Tenant', reason: 'Unreachable' }, 12)],
    quiet: [counter('engram_operator_reconcile_errors_total', { kind: 'Tenant', reason: 'Unreachable' }, 2)],
    labels: { kind: 'Tenant', reason: 'Unreachable' },
  },
  {
    alert: 'EngramWatchIsSilent',
    fires: [gauge('engram_operator_watch_last_event_age_seconds', { kind: 'Tenant' }, 2000)],
    quiet: [gauge('engram_operator_watch_last_event_age_seconds', { kind: 'Tenant' }, 300)],
    labels: { kind: 'Tenant' },
  },
];
