import { inspect, isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import neo4j from 'neo4j-driver';
import type { DatasetScope } from '../../../services/common/kernel/scope.ts';
import type { DatasetIndexes } from '../../../services/common/storage/ports/dataset-indexes.ts';
import type { CypherQuery } from '../../../services/common/storage/ports/graph-store.ts';
import { datasetLabel } from '../../../services/common/storage/rules/stored-scope.ts';
import { COMPARED_QUERIES, comparedGraph } from '../../conformance/cypher/compared-queries.ts';
import { cypherConformance, cypherWorld } from '../../conformance/cypher/cypher-store.ts';
import { createScopes, edge, item, node, openTemporaryIndexes } from '../../support/dataset-rows.ts';
import { rejection } from '../../support/refusal-of.ts';
import { withBackend } from '../backend.ts';
import { connectionTo, openTestGraphStore, type TestGraphStore } from './test-graph-store.ts';

const everything: CypherQuery['committed'] = async (origins) => origins;
withBackend('neo4j', (address) => {
  cypherConformance('Neo4j', () => openTestGraphStore(address));

  it('Cypher answers alike on Neo4j and on SQLite', async () => {
    const server = await openTestGraphStore(address);
    const embedded = await openTemporaryIndexes();
    try {
      const scope = createScopes()();
      const answerOf = async ({ graph }: Pick<TestGraphStore, 'graph'> | DatasetIndexes, text: string) => {
        const found = await graph
          .cypher(scope, { text, committed: everything, timeoutMs: 40_000 })
          .catch((error) => error);
        if (found instanceof Error) return found.name;
        const rows = found.rows.map((row: unknown) => JSON.stringify(comparable(row)));
        return { columns: found.columns, rows: /ORDER BY/.test(text) ? rows : rows.sort() };
      };
      for (const { graph } of [server, embedded]) await graph.upsert(scope, comparedGraph());
      const differences: string[] = [];
      for (const query of COMPARED_QUERIES) {
        const [expected, found] = [await answerOf(server, query), await answerOf(embedded, query)];
        if (!isDeepStrictEqual(found, expected))
          differences.push(`${query}\nNeo4j  ${inspect(expected)}\nSQLite ${inspect(found)}`);
      }
      expect(differences.join('\n\n')).to.equal('');
    } finally {
      await embedded.close();
      await server.close();
    }
  });

  describe('Cypher on Neo4j', () => {
    const world = cypherWorld(() => openTestGraphStore(address));
    const { scopes, mine, ask, values } = world;

    it('keeps nothing in its view of what was removed or dropped', async () => {
      const scope = scopes();
      await world.store.graph.upsert(scope, {
        nodes: [node('a', { item: item('one') }), node('a', { item: item('two') }), node('b', { item: item('one') })],
        edges: [edge('a', 'b', { item: item('one') })],
      });
      await ask(scope, 'MATCH (n) RETURN n');
      // Asked of the server, since a query brings the graph up to date by itself.
      await world.store.graph.remove(scope, { item: item('one') });
      expect(await inView(scope)).to.deep.equal([1, 0]);
      await world.store.graph.drop(scope);
      expect(await inView(scope)).to.deep.equal([0, 0]);
    });

    describe('keeps a query in its dataset', () => {
      it('where a query without the guard does not stay', async () => {
        const rows = await raw("MATCH (n:__Node__) WHERE n.description = 'SECRET' RETURN count(n) AS c");
        expect(rows[0]?.['c']).to.be.at.least(2);
      });

      it('even when a client names types and properties after what guards it', async () => {
        const attacker = scopes('attacker');
        const victim = datasetLabel(world.store.scopeOf(mine));
        await world.store.graph.upsert(attacker, {
          nodes: [
            node('evil', {
              type: victim,
              name: 'EVIL',
              properties: { _ref: 'x', [victim]: 1, id: 'other', name: 'fake' },
            }),
            node('evil2', { type: '__Node__', name: 'EVIL' }),
            node('evil3', { type: 'EngramNode', name: 'EVIL' }),
            node('evil4', { type: 'A`:`B', name: 'EVIL' }),
          ],
          edges: [
            edge('evil', 'evil2', { relation: 'x`]-() DETACH DELETE', properties: { _ref: 'y', source_node_id: 'z' } }),
          ],
        });
        expect(await values(attacker, 'MATCH (n) RETURN n.id, n.name ORDER BY n.id')).to.deep.equal(
          ['evil', 'evil2', 'evil3', 'evil4'].map((id) => [id, 'EVIL']),
        );
        expect(
          await values(attacker, 'MATCH ()-[r]->() RETURN type(r), r.relationship_name, r.source_node_id'),
        ).to.deep.equal([['related_to', 'x`]-() DETACH DELETE', 'evil']]);
        expect(JSON.stringify(await values(mine, 'MATCH (n) RETURN n'))).not.to.contain('EVIL');
        const counts = await raw('MATCH (n:EngramNode) WHERE n.name = "EVIL" RETURN count(n) AS c, count(n.key) AS k');
        expect(counts[0]).to.deep.equal({ c: 4, k: 4 });
      });
    });

    it('ends a query that takes too long, and the server stays free', async () => {
      const scope = scopes();
      await world.store.graph.upsert(scope, {
        nodes: Array.from({ length: 60 }, (_, index) => node(`n${index}`)),
        edges: [],
      });
      await ask(scope, 'MATCH (n) RETURN count(n)');
      const slow = 'MATCH (a), (b), (c), (d), (e) WHERE a.name < b.name AND c.name < d.name RETURN count(e)';
      const started = Date.now();
      const error = await rejection(ask(scope, slow, { timeoutMs: 1500 }));
      expect(error.name).to.equal('DeadlineExceededError');
      expect(Date.now() - started).to.be.lessThan(30_000);
      const controller = new AbortController();
      setTimeout(() => controller.abort(), 500);
      const query = { text: slow, committed: everything };
      expect((await rejection(world.store.graph.cypher(scope, query, controller.signal))).name).to.equal('AbortError');
      for (let attempt = 0; ; attempt++) {
        const running = await raw(
          'SHOW TRANSACTIONS YIELD currentQuery WHERE currentQuery CONTAINS $part RETURN currentQuery',
          { part: '`d`.`name`' },
        );
        if (running.length === 0) break;
        expect(attempt, 'queries left on the server').to.be.lessThan(50);
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    });

    it('refuses a query that would fill the memory of the server, which goes on', async () => {
      const scope = scopes();
      await world.store.graph.upsert(scope, {
        nodes: Array.from({ length: 60 }, (_, index) => node(`n${index}`)),
        edges: [],
      });
      const greedy =
        'MATCH (a), (b), (c), (d), (e) RETURN size(collect([a.name + b.name, c.name + d.name + e.name])) AS s';
      const error = await rejection(ask(scope, greedy, { timeoutMs: 30_000 }));
      expect(error.name).to.be.oneOf(['CypherSearchError', 'DeadlineExceededError']);
      expect(await values(scope, 'MATCH (n) RETURN count(n)')).to.deep.equal([[60]]);
    });

    /** Past the store. */
    async function raw(statement: string, parameters = {}): Promise<readonly Record<string, unknown>[]> {
      const { url, user, password } = connectionTo(address);
      const driver = neo4j.driver(url, neo4j.auth.basic(user, password), { disableLosslessIntegers: true });
      try {
        const { records } = await driver.executeQuery(statement, parameters);
        return records.map((record) => record.toObject());
      } finally {
        await driver.close();
      }
    }

    async function inView(scope: DatasetScope): Promise<readonly unknown[]> {
      const label = datasetLabel(world.store.scopeOf(scope));
      const rows = await raw(
        `OPTIONAL MATCH (n:${label}) OPTIONAL MATCH (n)-[r]->() RETURN count(DISTINCT n) AS n, count(r) AS r`,
      );
      return [rows[0]?.['n'], rows[0]?.['r']];
    }
  });
});

/** Stores may give properties in any order, and add numbers in any. */
function comparable(value: unknown): unknown {
  if (typeof value === 'number') return Number(value.toPrecision(12));
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort()
      .map(([key, entry]) => [key, comparable(entry)]),
  );
}
