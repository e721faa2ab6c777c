import { expect } from 'chai';
import { evaluate, type Series } from './evaluate.ts';
import { parseQuery, secondsOf } from './parse.ts';

const series = (metric: string, labels: Record<string, string>, values: readonly (number | null)[]): Series => ({
  metric,
  labels,
  values,
});
const valuesOf = (query: string, all: readonly Series[], minute: number) =>
  evaluate(parseQuery(query), all, minute).map(({ value }) => value);

describe('PromQL parser', () => {
  it('refuses invalid PromQL', () => {
    for (const query of ['', 'x >', 'x{a="b"', 'x{a~"b"}', 'x[]', 'sum(x)) > 1', 'nosuch(x)', 'sum by a (x)']) {
      expect(() => parseQuery(query), query).to.throw('syntax error at');
    }
  });

  it('refuses arguments of the wrong type', () => {
    for (const [query, problem] of [
      ['rate(x)', 'rate takes range'],
      ['sum(x[5m])', 'sum takes vector'],
      ['topk(x)', 'topk takes number and vector'],
      ['histogram_quantile(x, 0.5)', 'histogram_quantile takes number and vector'],
      ['rate(sum(x)[5m])', 'only series have ranges'],
      ['x[5m] > 1', 'a range has no operators'],
    ] as const) {
      expect(() => parseQuery(query), query).to.throw(problem);
    }
  });

  it('refuses features that it does not evaluate', () => {
    for (const query of [
      ...['irate(x[5m])', 'avg(x)', 'sum without (a) (x)', 'x offset 5m', 'x[1h:5m]', '-x', 'x == bool 1', '"x"'],
      ...['a / on (b) c', '{__name__="x"}', 'x{"a"="b"}', "x{a='b'}", 'x @ 5'],
    ]) {
      expect(() => parseQuery(query), query).to.throw(/not used here so far|without a metric/);
    }
  });

  it('applies the operator precedence of Prometheus', () => {
    const by = [series('a', { b: 'c' }, [12]), series('b', {}, [3])];
    expect(valuesOf('sum(a) / sum(b) / 2 > 1', by, 0)).to.deep.equal([2]);
    expect(valuesOf('sum(a) / (sum(b) / 2) > 1', by, 0)).to.deep.equal([8]);
  });

  it('parses durations', () => {
    expect(['90s', '15m', '1h30m', '1d', '500ms', '30'].map(secondsOf)).to.deep.equal([90, 900, 5400, 86_400, 0.5, 30]);
  });
});

describe('PromQL evaluator', () => {
  it('handles counter resets', () => {
    const restarted = [series('x_total', {}, [0, 60, 120, 0, 60])];
    expect(valuesOf('increase(x_total[4m])', restarted, 4)).to.deep.equal([180]);
    expect(valuesOf('rate(x_total[4m])', restarted, 4)).to.deep.equal([0.75]);
  });

  it('keeps a sample for five minutes', () => {
    const gone = [series('x', {}, [1, null, null, null, null, null])];
    expect(valuesOf('x', gone, 4)).to.deep.equal([1]);
    expect(valuesOf('x', gone, 5)).to.deep.equal([]);
  });

  it('interpolates quantiles in buckets', () => {
    const buckets = [
      series('h_bucket', { le: '1' }, [50]),
      series('h_bucket', { le: '2' }, [100]),
      series('h_bucket', { le: '+Inf' }, [100]),
    ];
    expect(valuesOf('histogram_quantile(0.75, h_bucket)', buckets, 0)).to.deep.equal([1.5]);
  });

  it('matches operands by labels, and selectors by whole values', () => {
    const both = [series('a', { job: 'one' }, [6]), series('a', { job: 'two' }, [8]), series('b', { job: 'one' }, [3])];
    expect(valuesOf('a / b', both, 0)).to.deep.equal([2]);
    expect(valuesOf('sum by (job) (a{job=~"on"})', both, 0)).to.deep.equal([]);
    expect(valuesOf('sum(a{job!="one"})', both, 0)).to.deep.equal([8]);
    expect(valuesOf('sum by (nowhere) (a)', both, 0)).to.deep.equal([14]);
  });

  it('refuses functions that no rule uses', () => {
    for (const query of ['topk(1, x)', 'x + x', 'x or x', '1 > x']) {
      expect(() => valuesOf(query, [series('x', {}, [1])], 0), query).to.throw('not evaluated here so far');
    }
  });
});
