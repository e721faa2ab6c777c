import { expect } from 'chai';
import { personalisedPageRank, type WeightedEdge } from './ppr.ts';

const edge = (source: string, target: string, weight = 1): WeightedEdge => ({ source, target, weight });

/** Power iteration on the same undirected graph: the value that forward push approaches from below. */
function exact(edges: readonly WeightedEdge[], seed: string, damping: number): Map<string, number> {
  const nodes = [...new Set(edges.flatMap(({ source, target }) => [source, target]))];
  const weight = (a: string, b: string) =>
    edges.reduce(
      (sum, e) => sum + ((e.source === a && e.target === b) || (e.source === b && e.target === a) ? e.weight : 0),
      0,
    );
  const degree = new Map(nodes.map((a) => [a, nodes.reduce((sum, b) => sum + weight(a, b), 0)]));
  let rank = new Map(nodes.map((node) => [node, node === seed ? 1 : 0]));
  for (let step = 0; step < 100; step++) {
    rank = new Map(
      nodes.map((node) => [
        node,
        (node === seed ? 1 - damping : 0) +
          damping *
            nodes.reduce(
              (sum, from) => sum + ((rank.get(from) ?? 0) * weight(from, node)) / (degree.get(from) ?? 1),
              0,
            ),
      ]),
    );
  }
  return rank;
}

describe('personalised PageRank by forward push', () => {
  const graph = [
    edge('p1', 'ada', 2),
    edge('p2', 'ada'),
    edge('p2', 'babbage'),
    edge('p3', 'babbage'),
    edge('p4', 'turing'),
  ];

  it('approaches the power iteration', () => {
    const expected = exact(graph, 'ada', 0.5);
    const found = personalisedPageRank(graph, new Map([['ada', 3]]), { epsilon: 1e-9 });
    for (const [node, value] of expected) expect(found.get(node) ?? 0).to.be.closeTo(value, 1e-6);
  });

  it('ranks passages by their distance to the seeds, and never reaches another component', () => {
    const found = personalisedPageRank(graph, new Map([['ada', 1]]));
    expect(found.get('p1')).to.be.greaterThan(found.get('p2') ?? 0);
    expect(found.get('p2')).to.be.greaterThan(found.get('p3') ?? 0);
    expect(found.has('p4')).to.equal(false);
  });

  it('loses only the mass that epsilon leaves unpushed', () => {
    const total = [
      ...personalisedPageRank(
        graph,
        new Map([
          ['p1', 1],
          ['p4', 1],
        ]),
        { epsilon: 1e-8 },
      ).values(),
    ];
    expect(total.reduce((sum, value) => sum + value, 0)).to.be.closeTo(1, 1e-5);
  });

  it('keeps the mass of a seed without edges, and returns nothing without seeds', () => {
    expect(personalisedPageRank([], new Map([['alone', 2]])).get('alone')).to.equal(1);
    expect(personalisedPageRank(graph, new Map()).size).to.equal(0);
  });
});
