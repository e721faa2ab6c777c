import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { Registry } from 'prom-client';
import { parse } from 'yaml';
import { createRuntimeMetrics } from '../operator/kube-runtime/metrics.ts';
import { METRICS_PREFIX } from '../operator/operator-options.ts';
import { createIsolationChecks } from '../operator/tenant/isolation-checks.ts';
import { createMetrics } from '../services/common/platform/observability/metrics.ts';
import { addProcessMetrics } from '../services/common/platform/observability/process-metrics.ts';
import { ALERT_CASES } from '../test/support/promql/alert-cases.ts';
import { evaluate, keyOf, matches, type Series } from '../test/support/promql/evaluate.ts';
import { type Exposition, readExposition } from '../test/support/promql/exposition.ts';
import { aggregationsOf, parseQuery, secondsOf, selectorsOf } from '../test/support/promql/parse.ts';
import { startApp } from '../test/support/start-app.ts';

const FILES = fileURLToPath(new URL('./engram/files', import.meta.url));

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: { readonly summary: string; readonly description: string };
}
const { groups } = parse(readFileSync(`${FILES}/rules/engram.yaml`, 'utf8')) as {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];
};
const rules = groups.flatMap((group) => group.rules);

interface Dashboard {
  readonly uid: string;
  readonly panels: readonly {
    readonly title: string;
    readonly gridPos: { readonly x: number; readonly y: number; readonly w: number };
    readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
  }[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: string }[] };
}
const dashboards = readdirSync(`${FILES}/dashboards`).map((file) => ({
  file,
  dashboard: JSON.parse(readFileSync(`${FILES}/dashboards/${file}`, 'utf8')) as Dashboard,
}));

interface Scaled {
  readonly autoscaling?: { readonly triggers?: readonly { readonly metadata: { readonly query: string } }[] };
}
const { services: scaled } = parse(readFileSync(`${FILES}/../ci/ha-values.yaml`, 'utf8')) as {
  readonly services: Readonly<Record<string, Scaled>>;
};
const triggers = Object.values(scaled).flatMap(({ autoscaling }) => autoscaling?.triggers ?? []);

/** Added by the monitors and by Prometheus itself. */
const TARGET_LABELS = ['namespace', 'pod', 'service', 'job', 'instance'];

describe('alert rules and dashboards', () => {
  let exposed: Exposition;

  before(async () => {
    exposed = readExposition(await servedMetrics(), await otherMetrics(), await operatorMetrics());
  });

  const queries = () => [
    ...rules.map(({ alert, expr }) => ({ where: alert, query: expr })),
    ...triggers.map(({ metadata }) => ({ where: 'ha-values.yaml', query: metadata.query })),
    ...dashboards.flatMap(({ file, dashboard }) =>
      dashboard.panels.flatMap(({ title, targets }) =>
        targets.map(({ expr }) => ({ where: `${file}: ${title}`, query: withVariables(expr) })),
      ),
    ),
  ];

  it('use only exposed metrics, labels and values', () => {
    const problems: string[] = [];
    for (const { where, query } of queries()) {
      for (const { metric, matchers } of selectorsOf(parseQuery(query))) {
        const labels = exposed.get(metric);
        if (labels === undefined) problems.push(`${where}: nobody exposes ${metric}`);
        for (const { label, ...matcher } of matchers) {
          const values = labels?.get(label);
          if (values === undefined && !TARGET_LABELS.includes(label))
            problems.push(`${where}: ${metric} has no ${label}`);
          if (values !== undefined && ![...values].some((value) => matches(matcher, value))) {
            problems.push(`${where}: ${label} of ${metric} is never ${matcher.value}, but ${[...values].join(', ')}`);
          }
        }
      }
    }
    expect(problems).to.deep.equal([]);
  });

  it('group by existing labels', () => {
    const problems: string[] = [];
    for (const { where, query } of queries()) {
      for (const aggregation of aggregationsOf(parseQuery(query))) {
        const labels = selectorsOf(aggregation).flatMap(({ metric }) => [...(exposed.get(metric)?.keys() ?? [])]);
        const known = [...labels, ...TARGET_LABELS];
        problems.push(
          ...aggregation.by.filter((label) => !known.includes(label)).map((label) => `${where}: by ${label}`),
        );
      }
    }
    expect(problems).to.deep.equal([]);
  });

  it('use an existing metric in the scaling example', () => {
    expect(
      triggers.flatMap(({ metadata }) => selectorsOf(parseQuery(metadata.query)).map(({ metric }) => metric)),
    ).to.include('engram_queue_depth');
  });

  it('have a case for every alert', () => {
    expect(rules.map(({ alert }) => alert)).to.deep.equal(ALERT_CASES.map(({ alert }) => alert));
  });

  for (const { alert, fires, quiet, labels } of ALERT_CASES) {
    it(`${alert} fires after its time, not before and not without reason`, () => {
      const rule = rules.find((one) => one.alert === alert);
      if (rule === undefined) throw new Error(`no rule ${alert}`);
      const minutes = secondsOf(rule.for) / 60;
      const first = firstMinute(rule, fires);
      expect(first, 'never true').to.not.equal(null);
      expect(firing(rule, fires, (first ?? 0) + minutes - 1)).to.deep.equal([]);
      const [alarm] = firing(rule, fires, (first ?? 0) + minutes);
      expect(alarm).to.include(labels);
      expect(firing(rule, quiet, 99)).to.deep.equal([]);
      for (const text of Object.values(rule.annotations)) {
        for (const [, label = ''] of text.matchAll(/\$labels\.(\w+)/g)) expect(alarm, text).to.have.property(label);
      }
    });
  }

  it('have a severity and valid templates', () => {
    for (const { labels, annotations } of rules) {
      expect(['critical', 'warning']).to.include(labels['severity']);
      for (const [, inner = ''] of `${annotations.summary}${annotations.description}`.matchAll(/\{\{(.*?)\}\}/g)) {
        expect(inner.trim()).to.match(/^\$(labels\.\w+|value( \| humanize(Duration|Percentage)?)?)$/);
      }
    }
  });

  it('have legends with existing labels, and panels that do not overlap', () => {
    for (const { file, dashboard } of dashboards) {
      const places = dashboard.panels.map(({ gridPos }) => `${gridPos.x}/${gridPos.y}`);
      expect(new Set(places).size, file).to.equal(places.length);
      for (const { title, targets } of dashboard.panels) {
        for (const { expr, legendFormat } of targets) {
          const by = aggregationsOf(parseQuery(withVariables(expr))).flatMap((one) => one.by);
          for (const [, label = ''] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) expect(by, title).to.include(label);
        }
      }
      for (const { name, query } of dashboard.templating.list.filter(({ name }) => name !== 'datasource')) {
        const metric = /^label_values\((\w+), (\w+)\)$/.exec(query)?.[1] ?? query;
        expect(exposed.has(metric), `${file} $${name}`).to.equal(true);
      }
    }
  });
});

/** Substitutes variables as Grafana does; "All" matches everything. */
function withVariables(query: string): string {
  return query.replaceAll('$__rate_interval', '5m').replaceAll(/\$(namespace|service)/g, '.*');
}

function firstMinute({ expr }: Rule, series: readonly Series[]): number | null {
  const expression = parseQuery(expr);
  for (let minute = 0; minute < 100; minute += 1) {
    if (evaluate(expression, series, minute).length > 0) return minute;
  }
  return null;
}

/** Labels for which the expression has been true for the whole time of the rule. */
function firing(rule: Rule, series: readonly Series[], minute: number): readonly object[] {
  const expression = parseQuery(rule.expr);
  const since = minute - secondsOf(rule.for) / 60;
  return evaluate(expression, series, minute)
    .map(({ labels }) => labels)
    .filter((labels) => {
      for (let at = Math.max(0, since); at < minute; at += 1) {
        if (!evaluate(expression, series, at).some((one) => keyOf(one.labels) === keyOf(labels))) return false;
      }
      return since >= 0;
    });
}

/** Metrics of a service that did some work. */
async function servedMetrics(): Promise<string> {
  const app = await startApp();
  const post = (path: string, body: object) =>
    fetch(`${app.baseUrl}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  await post('/api/v1/add', { data: 'Ada Lovelace wrote a program.', datasetName: 'metrics' });
  await post('/api/v1/cognify', { datasets: ['metrics'] });
  await post('/api/v1/search', { query: 'Ada', searchType: 'CHUNKS', datasets: ['metrics'] });
  await post('/api/v1/recall', { query: 'Ada', datasets: ['metrics'] });
  const text = await (await fetch(`${app.baseUrl}/metrics`)).text();
  await app.stop();
  return text;
}

/** Metrics that appear only with a model, a broker, a budget or a fault. */
async function otherMetrics(): Promise<string> {
  const metrics = createMetrics();
  metrics.httpRequest({ method: 'GET', route: '/health', status: 503, durationMs: 1 });
  metrics.store({ port: 'documents', method: 'get', outcome: 'error', durationMs: 1 });
  metrics.runState('cognify_pipeline', 'DATASET_PROCESSING_ERRORED');
  metrics.modelTokens({ model: 'm', purpose: 'extraction', inputTokens: 1, outputTokens: 1 });
  metrics.modelCall({ model: 'm', kind: 'language', purpose: 'extraction', outcome: 'error', durationMs: 1 });
  metrics.eventsRelayed('item.added', 1);
  metrics.watchRelay(async () => ({ events: 1, seconds: 1 }));
  metrics.watchQueue(async () => ({ cognify: 1 }));
  metrics.budgetPassed('requestsPerMinute', 'exceeded');
  metrics.budgetPassed('requestsPerMinute', 'warned');
  const text = await metrics.render();
  metrics.close();
  return text;
}

/** Metrics of the operator. */
async function operatorMetrics(): Promise<string> {
  const registry = new Registry();
  const close = addProcessMetrics([registry]);
  const metrics = createRuntimeMetrics(registry, METRICS_PREFIX);
  metrics.reconciled('Tenant', 'success', 1);
  metrics.reconcileError('Tenant', 'Unreachable');
  metrics.queueAdded('Tenant');
  metrics.queueRetried('Tenant');
  metrics.watchQueueDepth('Tenant', () => 1);
  metrics.watchRestarted('Tenant', 'idle');
  metrics.watchEventAge('Tenant', () => 1);
  metrics.statusWritten('Tenant');
  const at = { lastTransitionTime: '2026-01-01T00:00:00Z', message: 'x', observedGeneration: 1 };
  metrics.conditions('Tenant', 'memory/acme', [
    { type: 'Ready', status: 'False', reason: 'X', ...at },
    { type: 'ErasureComplete', status: 'False', reason: 'X', ...at },
    { type: 'IsolationVerified', status: 'False', reason: 'X', ...at },
  ]);
  metrics.conditions('Tenant', 'memory/other', [{ type: 'Ready', status: 'True', reason: 'X', ...at }]);
  const clock = { monotonicMs: () => 0 };
  const isolation = createIsolationChecks({
    clock,
    registry,
    prefix: METRICS_PREFIX,
    intervalMs: 1,
    tenants: () => [],
  });
  for (const result of ['verified', 'leaked', 'unproven', 'failed'] as const) isolation.ended('memory/acme', result);
  const text = await registry.metrics();
  close();
  return text;
}
