import { expect } from 'chai';
import { createScopes, node, openTemporaryIndexes, rejection } from '../../../../../test/support/dataset-rows.ts';
import type { DatasetIndexes } from '../../ports/dataset-indexes.ts';
import type { CypherQuery } from '../../ports/graph-store.ts';

const committed: CypherQuery['committed'] = async (origins) => origins;
const SLOW = 'MATCH (a), (b), (c), (d) WHERE a.name < b.name AND c.name < d.name RETURN count(d)';

describe('Cypher on SQLite', () => {
  const scope = createScopes()();
  let indexes: DatasetIndexes;
  before(async () => {
    indexes = await openTemporaryIndexes();
    const nodes = Array.from({ length: 200 }, (_, at) => node(`n${at}`));
    await indexes.graph.upsert(scope, { nodes, edges: [] });
  });
  after(() => indexes.close());

  it('ends a query after its time, while this thread and searches go on', async () => {
    const ended: string[] = [];
    const slow = rejection(indexes.graph.cypher(scope, { text: SLOW, committed, timeoutMs: 3000 }));
    const others = [
      slow.then(() => ended.push('query')),
      indexes.graph.nodes(scope, ['n1']).then(() => ended.push('read')),
    ];
    await new Promise((resolve) => setTimeout(resolve, 5));
    ended.push('timer');
    await Promise.all(others);
    expect(ended.at(-1)).to.equal('query');
    expect((await slow).name).to.equal('DeadlineExceededError');
  });

  it('gives a query up when its caller does, and answers the next', async () => {
    const controller = new AbortController();
    const slow = rejection(
      indexes.graph.cypher(scope, { text: SLOW, committed, timeoutMs: 60_000 }, controller.signal),
    );
    setTimeout(() => controller.abort(), 100);
    expect((await slow).name).to.equal('AbortError');
    const { rows } = await indexes.graph.cypher(scope, { text: 'MATCH (n) RETURN count(n)', committed });
    expect(rows).to.deep.equal([[200]]);
  });

  it('refuses a query that others of its caller keep waiting for longer than its limit', async () => {
    const slow = rejection(indexes.graph.cypher(scope, { text: SLOW, committed, timeoutMs: 1500 }));
    await new Promise((resolve) => setTimeout(resolve, 200));
    const error = await rejection(indexes.graph.cypher(scope, { text: 'RETURN 1', committed, timeoutMs: 100 }));
    expect(error.name).to.equal('ServiceUnavailableError');
    await slow;
  });

  it('runs the query of another caller beside slow ones, and those of one caller one after the other', async () => {
    const slow = ['ada', 'ada', 'bob', 'eve'].map((caller) =>
      rejection(indexes.graph.cypher(scope, { text: SLOW, caller, committed, timeoutMs: 3000 })).then(() => caller),
    );
    await new Promise((resolve) => setTimeout(resolve, 300));
    const began = performance.now();
    const { rows } = await indexes.graph.cypher(scope, { text: 'RETURN 1', caller: 'dan', committed, timeoutMs: 3000 });
    expect(rows).to.deep.equal([[1]]);
    expect(performance.now() - began).to.be.lessThan(2500);
    expect(await Promise.race(slow)).to.be.oneOf(['ada', 'bob', 'eve']);
    expect(await Promise.all(slow)).to.have.length(4);
  }).timeout(20_000);

  it('refuses a query before it asks what is committed', async () => {
    const query = { text: 'DROP', committed: () => Promise.reject(new Error('asked')) };
    expect((await rejection(indexes.graph.cypher(scope, query))).name).to.equal('CypherSearchError');
  });
});
