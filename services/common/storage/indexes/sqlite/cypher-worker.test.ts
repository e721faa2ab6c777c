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

  it('says that a graph is being prepared when others keep it waiting', async () => {
    const slow = rejection(indexes.graph.cypher(scope, { text: SLOW, committed, timeoutMs: 1500 }));
    await new Promise((resolve) => setTimeout(resolve, 200));
    const error = await rejection(indexes.graph.cypher(scope, { text: 'RETURN 1', committed, timeoutMs: 100 }));
    expect(error.name).to.equal('ServiceUnavailableError');
    await slow;
  });

  it('refuses a query before it asks what is committed', async () => {
    const query = { text: 'DROP', committed: () => Promise.reject(new Error('asked')) };
    expect((await rejection(indexes.graph.cypher(scope, query))).name).to.equal('CypherSearchError');
  });
});
