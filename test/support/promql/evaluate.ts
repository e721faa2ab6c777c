import type { Expression, Matcher } from './parse.ts';

export type Labels = Readonly<Record<string, string>>;

/** A series with a value every minute, from minute 0; null where none was scraped. */
export interface Series {
  readonly metric: string;
  readonly labels: Labels;
  readonly values: readonly (number | null)[];
}

interface Sample {
  readonly labels: Labels;
  readonly value: number;
}

const STEP_SECONDS = 60;
/** Lookback of Prometheus: a sample is used for this long. */
const LOOKBACK_STEPS = 5;

/** Evaluates an expression at a minute; a number is a vector without labels. Throws for features that no rule uses. */
export function evaluate(expression: Expression, series: readonly Series[], minute: number): readonly Sample[] {
  switch (expression.kind) {
    case 'number':
      return [{ labels: {}, value: expression.value }];
    case 'selector':
      return instantVector(selected(series, expression), minute);
    case 'call':
      return callOf(expression, series, minute);
    case 'aggregation':
      return aggregated(expression, evaluate(last(expression.arguments), series, minute));
    case 'binary':
      return binary(expression, evaluate(expression.left, series, minute), evaluate(expression.right, series, minute));
  }
}

function last<T>(all: readonly T[]): T {
  const one = all.at(-1);
  if (one === undefined) throw new Error('no argument');
  return one;
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
  const [first] = call.arguments;
  const of = last(call.arguments);
  if (call.name === 'histogram_quantile' && first?.kind === 'number') {
    return quantiles(first.value, evaluate(of, series, minute));
  }
  const overTime = OVER_TIME[call.name];
  if (overTime === undefined || of.kind !== 'selector' || of.rangeSeconds === null) throw unknown(call.name);
  const { rangeSeconds } = of;
  const steps = Math.round(rangeSeconds / STEP_SECONDS);
  return selected(series, of).flatMap(({ labels, values }) => {
    const window = values.slice(Math.max(0, minute - steps), minute + 1).filter((one) => one !== null);
    const value = overTime(window, rangeSeconds);
    return value === null ? [] : [{ labels, value }];
  });
}

const unknown = (name: string): Error => new Error(`${name} is not evaluated here so far`);

/** Null for too few samples. */
type OverTime = (window: readonly number[], rangeSeconds: number) => number | null;

const OVER_TIME: Readonly<Record<string, OverTime>> = {
  min_over_time: (window) => (window.length === 0 ? null : Math.min(...window)),
  rate: perSecond,
  increase(window, rangeSeconds) {
    const rate = perSecond(window);
    return rate === null ? null : rate * rangeSeconds;
  },
};

/** A falling counter was reset to zero. */
function perSecond(window: readonly number[]): number | null {
  if (window.length < 2) return null;
  const growth = window.slice(1).reduce((sum, value, index) => {
    const before = window[index] ?? 0;
    return sum + (value >= before ? value - before : value);
  }, 0);
  return growth / ((window.length - 1) * STEP_SECONDS);
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
  { name, by }: Extract<Expression, { kind: 'aggregation' }>,
  vector: readonly Sample[],
): readonly Sample[] {
  const aggregate = AGGREGATES[name];
  if (aggregate === undefined) throw unknown(name);
  const groups = grouped(vector, (labels) =>
    Object.fromEntries(by.flatMap((label) => (labels[label] === undefined ? [] : [[label, labels[label]]]))),
  );
  return [...groups.values()].map(({ labels, samples }) => ({
    labels,
    value: aggregate(samples.map(({ value }) => value)),
  }));
}

const AGGREGATES: Readonly<Record<string, (values: readonly number[]) => number>> = {
  sum: (values) => values.reduce((one, other) => one + other, 0),
  max: (values) => Math.max(...values),
};

/** A comparison filters the left side. */
const OPERATORS: Readonly<Record<string, (left: number, right: number) => number | null>> = {
  '/': (left, right) => left / right,
  '>': (left, right) => (left > right ? left : null),
  '<': (left, right) => (left < right ? left : null),
  '==': (left, right) => (left === right ? left : null),
};

/** Operands match by all their labels; a number on the right matches everything. */
function binary(
  { operator, left: { kind }, right: { kind: rightKind } }: Extract<Expression, { kind: 'binary' }>,
  left: readonly Sample[],
  right: readonly Sample[],
): readonly Sample[] {
  const operate = OPERATORS[operator];
  if (operate === undefined || kind === 'number') throw unknown(`${kind} ${operator}`);
  return left.flatMap(({ labels, value }) => {
    const other = rightKind === 'number' ? right[0] : right.find((one) => keyOf(one.labels) === keyOf(labels));
    const result = other === undefined ? null : operate(value, other.value);
    return result === null ? [] : [{ labels, value: result }];
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
