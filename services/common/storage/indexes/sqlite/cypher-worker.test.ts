import { expect } from 'chai';
import { createScopes, node, openTemporaryIndexes } from '../../../../../test/support/dataset-rows.ts';
import { rejection } from '../../../../../test/support/refusal-of.ts';
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

  it('reads on while a query runs, gives it up when its caller does, and answers the next', async () => {
    const controller = new AbortController();
    const query = { text: SLOW, committed, timeoutMs: 60_000 };
    let isOver = false;
    const slow = rejection(indexes.graph.cypher(scope, query, controller.signal)).finally(() => {
      isOver = true;
    });
    expect(await indexes.graph.nodes(scope, ['n1'])).to.have.length(1);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(isOver).to.equal(false);
    controller.abort();
    expect((await slow).name).to.equal('AbortError');
    const { rows } = await indexes.graph.cypher(scope, { text: 'MATCH (n) RETURN count(n)', committed });
    expect(rows).to.deep.equal([[200]]);
  });

  it('refuses a query that others of its caller keep waiting for longer than its limit', async () => {
    const others = new AbortController();
    const slow = rejection(indexes.graph.cypher(scope, { text: SLOW, committed, timeoutMs: 60_000 }, others.signal));
    const error = await rejection(indexes.graph.cypher(scope, { text: 'RETURN 1', committed, timeoutMs: 100 }));
    expect(error.name).to.equal('ServiceUnavailableError');
    others.abort();
    await slow;
  });

  it('runs the query of another caller beside slow ones, and those of one caller one after the other', async () => {
    const controller = new AbortController();
    const ended: string[] = [];
    const ask = (text: string, caller: string, signal?: AbortSignal) =>
      indexes.graph.cypher(scope, { text, caller, committed, timeoutMs: 60_000 }, signal);
    const slow = ['ada', 'bob', 'eve'].map((caller) =>
      rejection(ask(SLOW, caller, controller.signal)).then(() => ended.push(caller)),
    );
    const next = ask('RETURN 2', 'ada').then(() => ended.push('ada’s next'));
    expect((await ask('RETURN 1', 'dan')).rows).to.deep.equal([[1]]);
    expect(ended).to.deep.equal([]);
    controller.abort();
    await Promise.all([...slow, next]);
    expect(ended.at(-1)).to.equal('ada’s next');
  });

  it('ends a query after its time', async () => {
    const slow = await rejection(indexes.graph.cypher(scope, { text: SLOW, committed, timeoutMs: 1500 }));
    expect(slow.name).to.equal('DeadlineExceededError');
  });

  it('refuses a query before it asks what is committed', async () => {
    const query = { text: 'DROP', committed: () => Promise.reject(new Error('asked')) };
    expect((await rejection(indexes.graph.cypher(scope, query))).name).to.equal('CypherSearchError');
  });
});
