import { expect } from 'chai';
import { type Budget, createBudget } from './budget.ts';
import { createGraph } from './graph.ts';
import { parseQuery } from './parse-query.ts';
import { asAnswer, runQuery } from './run-query.ts';

/** A chain of nodes, each with a hundred leaves. */
function chain(length: number) {
  const graph = createGraph();
  const properties = (id: string) => () => new Map([['id', id]]);
  const nodes = Array.from({ length }, (_, at) => graph.addNode(['Link'], properties(`n${at}`)));
  nodes.forEach((node, at) => {
    const next = nodes[at + 1];
    if (next) graph.addEdge(node, 'next', next, () => new Map());
    for (let leaf = 0; leaf < 100; leaf++) {
      graph.addEdge(node, 'has', graph.addNode(['Leaf'], properties(`n${at}-${leaf}`)), () => new Map());
    }
  });
  return graph;
}

describe('runQuery', () => {
  const graph = chain(100);

  /** The rows, and how many nodes, relationships and rows were looked at. */
  function run(text: string, maxRows = 1000) {
    let steps = 0;
    const budget: Budget = { ...createBudget(60_000), step: () => void steps++ };
    return { ...asAnswer(runQuery(parseQuery(text), graph, budget, maxRows + 1), maxRows), steps };
  }

  it('looks at no more than a query needs', () => {
    const expectations: readonly (readonly [string, number])[] = [
      // A property is sought, from whichever side of the pattern it stands on.
      ["MATCH (a:Leaf {id: 'n7-3'})<-[:has]-(b) RETURN b.id", 10],
      ["MATCH (b)-[:has]->(a) WHERE a.id = 'n7-3' RETURN b.id", 10],
      ["MATCH (b:Link), (a) WHERE b.id = 'n7' AND a.id = b.id RETURN b.id", 10],
      // A variable that is known already is where the next pattern starts.
      ["MATCH (a {id: 'n5'}) MATCH (b)-[:next]->(a) RETURN b.id", 210],
      // The label with fewer nodes comes first.
      ['MATCH (a:Leaf)<-[:has]-(b:Link) RETURN b.id LIMIT 1', 10],
      ['MATCH (a), (b), (c) RETURN a.id LIMIT 3', 20],
      ['MATCH (a:Link) WHERE EXISTS { (a)-[:has]->() } RETURN a.id', 410],
    ];
    for (const [query, most] of expectations) {
      const { rows, steps } = run(query);
      expect(rows, query).not.to.deep.equal([]);
      expect(steps, query).to.be.at.most(most);
    }
  });

  it('ends as soon as there are more rows than asked for', () => {
    const { rows, isCut, steps } = run('MATCH (a), (b) RETURN a.id', 10);
    expect([rows.length, isCut]).to.deep.equal([10, true]);
    expect(steps).to.be.lessThan(30);
  });

  it('refuses an answer, or rows in between, that do not fit into memory', () => {
    const texts = 'MATCH (a), (b) RETURN collect(a.id) AS l';
    expect(() => run(texts)).to.throw('needs too much memory');
    const doubled = `WITH 'x' AS t UNWIND range(1, 900) AS i ${'WITH i, t + t AS t '.repeat(12)}`;
    expect(run(`${doubled} RETURN size(t) AS s LIMIT 1`).rows).to.deep.equal([[4096]]);
    const wide = `MATCH (a), (b) WITH a.id + 'a long enough text' AS t ${'WITH t + t AS t '.repeat(11)}`;
    expect(() => run(`${wide} RETURN t ORDER BY t LIMIT 1`)).to.throw('needs too much memory');
    const list = `MATCH (a) WITH collect(a.id) AS l ${'WITH l + l AS l '.repeat(12)} RETURN size(l)`;
    expect(() => run(list)).to.throw('The list is too long');
    expect(() => run('UNWIND range(1, 900) AS x WITH collect(x) AS l UNWIND l AS y RETURN l, l AS m, l AS n')).to.throw(
      'The answer is too large',
    );
  });

  it('reads no name of the language it is written in', () => {
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
    for (const name of names) {
      expect(
        run(`MATCH (a {id: 'n1'}) RETURN a.\`${name}\`, {x: 1}.\`${name}\`, {x: 1}['${name}']`).rows,
      ).to.deep.equal([[null, null, null]]);
      expect(run(`WITH 1 AS \`${name}\` RETURN \`${name}\` AS x`).rows).to.deep.equal([[1]]);
    }
    const [[map] = []] = run('RETURN {`__proto__`: 1} AS m').rows;
    expect(JSON.stringify(map)).to.equal('{"__proto__":1}');
  });
});
