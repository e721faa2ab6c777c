import { expect } from 'chai';
import { evaluate, type Series } from './evaluate.ts';
import { parseQuery } from './parse.ts';

const series = (metric: string, labels: Record<string, string>, values: readonly (number | null)[]): Series => ({
  metric,
  labels,
  values,
});
const valuesOf = (query: string, all: readonly Series[], minute: number) =>
  evaluate(parseQuery(query), all, minute).map(({ value }) => value);

describe('the reader of queries', () => {
  it('refuses what is none', () => {
    for (const [query, problem] of [
      ['rate(x)', 'rate takes range'],
      ['sum(x[5m])) > 1', 'expected the end'],
      ['x{a="b"', 'expected ","'],
      ['x{a~"b"}', 'not understood'],
      ['irate(x[5m])', 'no function irate'],
      ['topk(x)', 'another number of arguments'],
      ['x[5]', 'expected a duration'],
      ['x >', 'expected an expression'],
    ] as const) {
      expect(() => parseQuery(query), query).to.throw(problem);
    }
  });

  it('binds as Prometheus does', () => {
    expect(valuesOf('1 + 2 * 3 > 6', [], 0)).to.deep.equal([7]);
    expect(valuesOf('(1 + 2) * 3 > 9', [], 0)).to.deep.equal([]);
  });
});

describe('the evaluator of queries', () => {
  it('counts a counter on after it began again at zero', () => {
    const restarted = [series('x_total', {}, [0, 60, 120, 0, 60])];
    expect(valuesOf('increase(x_total[4m])', restarted, 4)).to.deep.equal([180]);
    expect(valuesOf('rate(x_total[4m])', restarted, 4)).to.deep.equal([0.75]);
  });

  it('holds a value for five minutes when no other comes', () => {
    const gone = [series('x', {}, [1, null, null, null, null, null])];
    expect(valuesOf('x', gone, 4)).to.deep.equal([1]);
    expect(valuesOf('x', gone, 5)).to.deep.equal([]);
  });

  it('finds quantiles inside of buckets', () => {
    const buckets = [
      series('h_bucket', { le: '1' }, [50]),
      series('h_bucket', { le: '2' }, [100]),
      series('h_bucket', { le: '+Inf' }, [100]),
    ];
    expect(valuesOf('histogram_quantile(0.75, h_bucket)', buckets, 0)).to.deep.equal([1.5]);
  });

  it('matches both sides by their labels, and selects by whole values', () => {
    const both = [series('a', { job: 'one' }, [6]), series('a', { job: 'two' }, [8]), series('b', { job: 'one' }, [3])];
    expect(valuesOf('a / b', both, 0)).to.deep.equal([2]);
    expect(valuesOf('sum by (job) (a{job=~"on"})', both, 0)).to.deep.equal([]);
    expect(valuesOf('count(a{job!="one"})', both, 0)).to.deep.equal([1]);
    expect(valuesOf('a unless b', both, 0)).to.deep.equal([8]);
  });
});
