import type { Expression, Matcher } from './parse.ts';

export type Labels = Readonly<Record<string, string>>;

/** A series with a value every minute, from minute 0; null where none was scraped. */
export interface Series {
  readonly metric: string;
  readonly labels: Labels;
  readonly values: readonly (number | null)[];
}

export interface Sample {
  readonly labels: Labels;
  readonly value: number;
}

const STEP_SECONDS = 60;
/** How long a value holds when no new one came, as Prometheus has it. */
const LOOKBACK_STEPS = 5;

/** The vector that the expression is at a minute; a number is a vector without labels. */
export function evaluate(expression: Expression, series: readonly Series[], minute: number): readonly Sample[] {
  switch (expression.kind) {
    case 'number':
      return [{ labels: {}, value: expression.value }];
    case 'selector':
      return instantVector(selected(series, expression), minute);
    case 'call':
      return callOf(expression, series, minute);
    case 'aggregation':
      return aggregated(expression, evaluate(expression.of, series, minute));
    case 'binary':
      return binary(expression, evaluate(expression.left, series, minute), evaluate(expression.right, series, minute));
  }
}

type Selector = Extract<Expression, { kind: 'selector' }>;

function selected(series: readonly Series[], { metric, matchers }: Selector): readonly Series[] {
  return series.filter(
    (one) => one.metric === metric && matchers.every((matcher) => matches(matcher, one.labels[matcher.label] ?? '')),
  );
}

/** Regular expressions match whole values. */
export function matches({ operator, value }: Pick<Matcher, 'operator' | 'value'>, actual: string): boolean {
  const isRegular = operator === '=~' || operator === '!~';
  const holds = isRegular ? new RegExp(`^(?:${value})$`).test(actual) : actual === value;
  return operator.startsWith('!') ? !holds : holds;
}

function instantVector(series: readonly Series[], minute: number): readonly Sample[] {
  return series.flatMap(({ labels, values }) => {
    const recent = values.slice(Math.max(0, minute - LOOKBACK_STEPS + 1), minute + 1);
    const value = recent.findLast((one) => one !== null);
    return value === undefined || value === null ? [] : [{ labels, value }];
  });
}

function callOf(
  call: Extract<Expression, { kind: 'call' }>,
  series: readonly Series[],
  minute: number,
): readonly Sample[] {
  const [first, second] = call.arguments;
  if (call.name === 'histogram_quantile' && first?.kind === 'number' && second !== undefined) {
    return quantiles(first.value, evaluate(second, series, minute));
  }
  if (first?.kind !== 'selector' || first.rangeSeconds === null) throw new Error(`${call.name} of no range`);
  const { rangeSeconds } = first;
  const steps = Math.round(rangeSeconds / STEP_SECONDS);
  return selected(series, first).flatMap(({ labels, values }) => {
    const window = values.slice(Math.max(0, minute - steps), minute + 1).filter((one) => one !== null);
    const value = overTime(call.name, window, rangeSeconds);
    return value === null ? [] : [{ labels, value }];
  });
}

function overTime(name: string, window: readonly number[], rangeSeconds: number): number | null {
  if (name === 'min_over_time' || name === 'max_over_time') {
    return window.length === 0 ? null : Math[name === 'min_over_time' ? 'min' : 'max'](...window);
  }
  if (window.length < 2) return null;
  // A counter that falls began again at zero.
  const growth = window.slice(1).reduce((sum, value, index) => {
    const before = window[index] ?? 0;
    return sum + (value >= before ? value - before : value);
  }, 0);
  const perSecond = growth / ((window.length - 1) * STEP_SECONDS);
  return name === 'rate' ? perSecond : perSecond * rangeSeconds;
}

function quantiles(quantile: number, buckets: readonly Sample[]): readonly Sample[] {
  return [...grouped(buckets, (labels) => without(labels, 'le')).values()].flatMap(({ labels, samples }) => {
    const sorted = samples
      .map(({ labels: { le = '' }, value }) => ({
        bound: le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le),
        value,
      }))
      .toSorted((one, other) => one.bound - other.bound);
    const total = sorted.at(-1)?.value ?? 0;
    const rank = quantile * total;
    const at = sorted.findIndex(({ value }) => value >= rank);
    const [lower, upper] = [sorted[at - 1] ?? { bound: 0, value: 0 }, sorted[at]];
    if (total === 0 || upper === undefined) return [];
    if (upper.bound === Number.POSITIVE_INFINITY) return [{ labels, value: lower.bound }];
    const share = (rank - lower.value) / (upper.value - lower.value);
    return [{ labels, value: lower.bound + (upper.bound - lower.bound) * share }];
  });
}

function aggregated(
  { name, by, parameter }: Extract<Expression, { kind: 'aggregation' }>,
  vector: readonly Sample[],
): readonly Sample[] {
  const groups = grouped(vector, (labels) => Object.fromEntries(by.map((label) => [label, labels[label] ?? ''])));
  return [...groups.values()].flatMap(({ labels, samples }) => {
    const values = samples.map(({ value }) => value);
    const sum = values.reduce((one, other) => one + other, 0);
    if (name === 'topk') {
      const most = parameter?.kind === 'number' ? parameter.value : 0;
      return samples.toSorted((one, other) => other.value - one.value).slice(0, most);
    }
    const value = {
      sum,
      avg: sum / values.length,
      count: values.length,
      max: Math.max(...values),
      min: Math.min(...values),
    };
    return [{ labels, value: value[name as keyof typeof value] }];
  });
}

const COMPARISONS: Readonly<Record<string, (left: number, right: number) => boolean>> = {
  '>': (left, right) => left > right,
  '<': (left, right) => left < right,
  '>=': (left, right) => left >= right,
  '<=': (left, right) => left <= right,
  '==': (left, right) => left === right,
  '!=': (left, right) => left !== right,
};
const ARITHMETIC: Readonly<Record<string, (left: number, right: number) => number>> = {
  '+': (left, right) => left + right,
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  '/': (left, right) => left / right,
  '%': (left, right) => left % right,
};

/** Comparisons let through what they hold for. Sides match by all their labels; a number matches everything. */
function binary(
  { operator, right: rightExpression }: Extract<Expression, { kind: 'binary' }>,
  left: readonly Sample[],
  right: readonly Sample[],
): readonly Sample[] {
  const matchOf = (labels: Labels): Sample | undefined =>
    rightExpression.kind === 'number' ? right[0] : right.find((one) => keyOf(one.labels) === keyOf(labels));
  if (operator === 'or')
    return [...left, ...right.filter(({ labels }) => !left.some((one) => keyOf(one.labels) === keyOf(labels)))];
  if (operator === 'and') return left.filter(({ labels }) => matchOf(labels) !== undefined);
  if (operator === 'unless') return left.filter(({ labels }) => matchOf(labels) === undefined);
  return left.flatMap((sample) => {
    const other = matchOf(sample.labels);
    if (other === undefined) return [];
    const holds = COMPARISONS[operator];
    if (holds !== undefined) return holds(sample.value, other.value) ? [sample] : [];
    return [{ labels: sample.labels, value: ARITHMETIC[operator]?.(sample.value, other.value) ?? Number.NaN }];
  });
}

interface Group {
  readonly labels: Labels;
  readonly samples: Sample[];
}

function grouped(vector: readonly Sample[], labelsOf: (labels: Labels) => Labels): ReadonlyMap<string, Group> {
  const groups = new Map<string, Group>();
  for (const sample of vector) {
    const labels = labelsOf(sample.labels);
    const key = keyOf(labels);
    const group = groups.get(key) ?? { labels, samples: [] };
    group.samples.push(sample);
    groups.set(key, group);
  }
  return groups;
}

export function keyOf(labels: Labels): string {
  return JSON.stringify(Object.entries(labels).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

function without(labels: Labels, name: string): Labels {
  const { [name]: _left, ...others } = labels;
  return others;
}
