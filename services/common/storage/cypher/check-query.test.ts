import { expect } from 'chai';
import { checkQuery } from './check-query.ts';
import { parseQuery } from './parse-query.ts';

const problem = (query: string): string | null => {
  try {
    checkQuery(parseQuery(query));
    return null;
  } catch (error) {
    return (error as Error).message;
  }
};

describe('checkQuery', () => {
  it('says what is wrong with variables and aggregates, before anything is run', () => {
    const expectations: readonly (readonly [string, RegExp])[] = [
      ['MATCH (n) RETURN m', /Variable `m` not defined/],
      ['MATCH (n) WITH n.x AS x RETURN n', /Variable `n` not defined/],
      ['MATCH (n) RETURN [x IN [1] | y]', /Variable `y` not defined/],
      ['MATCH (n) WHERE (n)-->(m) RETURN n', /Variable `m` not defined/],
      ['UNWIND [1] AS x UNWIND [2] AS x RETURN x', /`x` already declared/],
      ['MATCH (n)-[n]-() RETURN n', /conflicting type Node/],
      ['WITH 1 AS n MATCH (n) RETURN n', /conflicting type Value/],
      ['MATCH (n) WHERE count(n) > 1 RETURN n', /aggregating function/],
      ['RETURN count(count(1))', /inside of aggregate functions/],
      ['MATCH (n) RETURN n.x + count(*)', /implicit grouping/],
      ['MATCH (n) RETURN DISTINCT n.x ORDER BY n.y', /Variable `n` not defined/],
      ['MATCH (n) RETURN n AS a, 1 AS a', /same name/],
      ['MATCH (n) RETURN (n)-->()', /existence of a pattern/],
      ['RETURN *', /no variables in scope/],
      ['RETURN 1 AS a UNION RETURN 2 AS b', /same return column names/],
    ];
    for (const [query, reason] of expectations) expect(problem(query), query).to.match(reason);
  });

  it('passes what only looks wrong', () => {
    for (const query of [
      'MATCH (n) RETURN n.x AS x, n.x + count(*)',
      'MATCH (n) RETURN n.t AS t, count(*) ORDER BY count(*) DESC, n.t',
      'MATCH (n) WITH n.x AS x WHERE n.y = 1 RETURN x',
      'MATCH (n) WHERE EXISTS { (n)-->(m) WHERE m.x > n.x } RETURN [(n)--(o) | o.x]',
      'MATCH (a)-->(b), (b)-->(a) WITH * RETURN a, b',
      'RETURN 2 AS b, 1 AS a UNION RETURN 3 AS a, 4 AS b',
    ]) {
      expect(problem(query), query).to.equal(null);
    }
  });
});
