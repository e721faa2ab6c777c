import { expect } from 'chai';
import type { DatasetScope } from '../../../services/common/kernel/scope.ts';
import type { CypherQuery, CypherRows, GraphStore } from '../../../services/common/storage/ports/graph-store.ts';
import type { Provenance } from '../../../services/common/storage/ports/index-entry.ts';
import { datasetLabel } from '../../../services/common/storage/rules/stored-scope.ts';
import { createScopes, edge, item, node } from '../../support/dataset-rows.ts';
import { rejection } from '../../support/refusal-of.ts';

const everything: CypherQuery['committed'] = async (origins) => origins;
const only =
  (...kept: readonly string[]): CypherQuery['committed'] =>
  async (origins: readonly Provenance[]) =>
    origins.filter((origin) => kept.includes(`${origin.item}/${origin.generation}`));

/** `close` may remove what the suite wrote; `scopeOf` gives the scope as the server knows it. */
interface CypherStore {
  readonly graph: Pick<GraphStore, 'cypher' | 'upsert' | 'remove' | 'drop'>;
  scopeOf?(scope: DatasetScope): DatasetScope;
  close(): Promise<void>;
}

/** The same ids and relations in three datasets of a store, so that only the dataset tells the rows apart. */
export function cypherWorld<Store extends CypherStore>(open: () => Promise<Store>) {
  const scopes = createScopes();
  const mine = scopes('mine');
  const sibling = scopes('sibling');
  const stranger = scopes('mine', 'other-tenant');
  let store: Store;
  const ask = (scope: DatasetScope, text: string, more: Partial<CypherQuery> = {}): Promise<CypherRows> =>
    store.graph.cypher(scope, { text, committed: everything, timeoutMs: 40_000, ...more });
  const values = async (scope: DatasetScope, text: string, more: Partial<CypherQuery> = {}) =>
    (await ask(scope, text, more)).rows;

  const write = (scope: DatasetScope, secret: string) =>
    store.graph.upsert(scope, {
      nodes: [
        node('ada', { name: `Ada ${secret}`, properties: { description: secret } }),
        node('oslo', { name: `Oslo ${secret}`, type: 'City' }),
        node('hub', { name: `hub ${secret}` }),
      ],
      edges: [
        edge('ada', 'oslo', { relation: 'lives_in', properties: { text: secret } }),
        edge('hub', 'ada', { relation: 'knows' }),
        edge('oslo', 'hub', { relation: 'part of' }),
      ],
    });

  before(async () => {
    store = await open();
    await write(mine, 'mine');
    for (const scope of [sibling, stranger]) {
      await write(scope, 'SECRET');
      await ask(scope, 'MATCH (n) RETURN n');
    }
  });
  after(() => store.close());
  return {
    scopes,
    mine,
    stranger,
    ask,
    values,
    get store() {
      return store;
    },
  };
}

/** Queries in Cypher are answered alike by every graph store. */
export function cypherConformance(name: string, open: () => Promise<CypherStore>): void {
  describe(`Cypher: ${name}`, () => {
    const world = cypherWorld(open);
    const { scopes, mine, stranger, ask, values } = world;

    describe('answers', () => {
      it('rows by column, with nodes and relationships as their properties', async () => {
        const found = await ask(mine, 'MATCH (a:Entity)-[r:lives_in]->(b:City) RETURN a, r, b.name, type(r) AS t');
        expect(found.columns).to.deep.equal(['a', 'r', 'b.name', 't']);
        expect(found.isCut).to.equal(false);
        const [ada, lives, ...rest] = found.rows[0] ?? [];
        expect(ada).to.deep.equal({ id: 'ada', name: 'Ada mine', type: 'Entity', description: 'mine', mentions: 1 });
        expect(lives).to.deep.equal({
          relationship_name: 'lives_in',
          source_node_id: 'ada',
          target_node_id: 'oslo',
          weight: 1,
          text: 'mine',
        });
        expect(rest).to.deep.equal(['Oslo mine', 'lives_in']);
      });

      it('what people ask: counts, paths, subqueries, projections, unions', async () => {
        const expectations: readonly (readonly [string, unknown])[] = [
          ['MATCH (n) RETURN count(n) AS c', [[3]]],
          ['MATCH (n:__Node__) RETURN count(*)', [[3]]],
          ['MATCH ()-[r]->() RETURN type(r) AS t, count(*) AS c ORDER BY t', [['knows', 1], ['lives_in', 1], ['part of', 1]]],
          ['MATCH ()-[r]->() RETURN count(r)', [[3]]],
          ["MATCH (a {id: 'ada'})--(b) RETURN b.id ORDER BY b.id DESC", [['oslo'], ['hub']]],
          ["MATCH (a {id: 'hub'})-[*2]->(b) RETURN b.name", [['Oslo mine']]],
          ["MATCH (a {id: 'ada'}), (b {id: 'hub'}), p = shortestPath((a)-[*..5]->(b)) RETURN length(p), [x IN nodes(p) | x.id]", [[2, ['ada', 'oslo', 'hub']]]],
          ["MATCH p = (:City)-[:`part of`]->(b) RETURN [n IN nodes(p) | n.id], type(relationships(p)[0])", [[['oslo', 'hub'], 'part of']]],
          ["MATCH (n) WHERE EXISTS { (n)-[:lives_in]->(:City) } RETURN n.id", [['ada']]],
          ["MATCH (n) WHERE (n)-[:lives_in]->() RETURN n.id", [['ada']]],
          ["MATCH (n) WHERE NOT (n)<-[:knows]-() AND COUNT { (n)-->() } = 1 RETURN n.id ORDER BY n.id", [['hub'], ['oslo']]],
          ["MATCH (n:City) RETURN n {.name, kind: n.type, has: 'x'}", [[{ name: 'Oslo mine', kind: 'City', has: 'x' }]]],
          ['MATCH (n:City) RETURN labels(n), size(keys(n))', [[['City'], 4]]],
          ["MATCH (n {id: 'ada'}) RETURN [(n)-[r]->(m) | m.id] AS l, size([(n)--(m) | m])", [[['oslo'], 2]]],
          ["MATCH (n:City) RETURN n.id AS x UNION MATCH (n {id: 'ada'}) RETURN n.id AS x", [['oslo'], ['ada']]],
          ["MATCH (n) WITH n ORDER BY n.id LIMIT 2 WHERE n.id STARTS WITH 'a' RETURN collect(n.id) AS l", [[['ada']]]],
          ["OPTIONAL MATCH (n:Nothing) RETURN n, n IS NULL AS empty, CASE WHEN n IS NULL THEN 1 ELSE 2 END AS c", [[null, true, 1]]],
          ["UNWIND range(1, 3) AS x RETURN sum(x) + 1 AS s, toUpper('a') AS u, 5 / 2 AS d, -2 ^ 2 AS p", [[7, 'A', 2, 4]]],
          ["MATCH (n) WHERE n.name =~ '(?i)ADA.*' AND any(x IN ['a', 'b'] WHERE n.id CONTAINS x) RETURN n.id", [['ada']]],
          ["MATCH (n) WHERE n.id IN ['ada', 'hub'] AND n.name <> 'x' AND 0 < n.mentions <= 1 RETURN count(DISTINCT n.type)", [[1]]],
          ["MATCH (n:Entity|City) WHERE n:City OR n.id = 'ada' RETURN n.id ORDER BY n.id", [['ada'], ['oslo']]],
          ["MATCH (n) RETURN n.type AS t, count(*) ORDER BY count(*) DESC, t", [['Entity', 2], ['City', 1]]],
          ["RETURN date('2020-01-02') AS d, {a: [1, null]} AS m", [['2020-01-02', { a: [1, null] }]]],
          ["MATCH (n) WHERE n.name = 'it''s' RETURN n", null],
        ]; // biome-ignore format: a table
        for (const [query, rows] of expectations) {
          if (rows === null) expect((await rejection(ask(mine, query))).name, query).to.equal('CypherSearchError');
          else expect(await values(mine, query), query).to.deep.equal(rows);
        }
      });

      it('a path as its nodes and relations in turn', async () => {
        const [row] = await values(mine, "MATCH p = ({id: 'hub'})-->()-->() RETURN p");
        const path = row?.[0] as readonly unknown[];
        expect(path.map((part) => (typeof part === 'string' ? part : (part as { id: string }).id))).to.deep.equal([
          'hub', 'knows', 'ada', 'lives_in', 'oslo',
        ]); // biome-ignore format: a path
      });

      it('no more rows than asked for, and says so', async () => {
        const found = await ask(mine, 'MATCH (a), (b) RETURN a.id', { maxRows: 4 });
        expect([found.rows.length, found.isCut]).to.deep.equal([4, true]);
        const union = await ask(mine, 'MATCH (a) RETURN a.id AS x UNION ALL MATCH (a) RETURN a.id AS x', {
          maxRows: 3,
        });
        expect([union.rows.length, union.isCut]).to.deep.equal([3, true]);
        expect((await ask(mine, 'MATCH (a) RETURN a', { maxRows: 3 })).isCut).to.equal(false);
      });

      it('why a query cannot be run, in words that tell nothing of how it is kept', async () => {
        const reasons: readonly (readonly [string, string])[] = [
          ['MATCH (n) RETURN x', ': Variable `x` not defined'],
          ['RETURN 1 - [1]', ': Type mismatch: expected Float or Integer but was List<Integer>'],
          ['UNWIND [0] AS x RETURN 1 / x', ': / by zero'],
          ["MATCH (n) RETURN substring('a', -n.mentions)", ': Cannot handle negative start index nor negative length'],
          ['RETURN 1 AS x UNION RETURN 2 AS y', ': All sub queries in an UNION must have the same return column names'],
        ];
        for (const [query, reason] of reasons) {
          const error = await rejection(ask(mine, query));
          expect([error.name, error.message], query).to.deep.equal([
            'CypherSearchError',
            `The graph store could not run this query${reason}.`,
          ]);
        }
      });

      it('nothing of a dataset that is empty, without making one', async () => {
        expect((await ask(scopes('empty'), 'MATCH (n) RETURN n')).rows).to.deep.equal([]);
      });
    });

    describe('shows committed evidence only', () => {
      it('as it is at each question', async () => {
        const scope = scopes();
        const statements = (generation: number, name: string) => ({
          nodes: [node('a', { generation, name }), node(`only-${generation}`, { generation })],
          edges: [edge('a', `only-${generation}`, { generation })],
        });
        await world.store.graph.upsert(scope, statements(1, 'old'));
        await world.store.graph.upsert(scope, statements(2, 'new'));
        const names = async (committed: CypherQuery['committed']) =>
          (
            await values(scope, 'MATCH (n) OPTIONAL MATCH (n)-[r]->() RETURN n.name, count(r) ORDER BY n.name', {
              committed,
            })
          )
            .map(([name, count]) => `${name}:${count}`)
            .join(' ');
        expect(await names(only())).to.equal('');
        expect(await names(only('item/1'))).to.equal('name of only-1:0 old:1');
        expect(await names(only('item/2'))).to.equal('name of only-2:0 new:1');
        expect(await names(everything)).to.equal('name of only-1:0 name of only-2:0 new:2');
        await world.store.graph.upsert(scope, {
          nodes: [node('a', { generation: 2, name: 'newer', mentions: 5 })],
          edges: [],
        });
        expect(await names(only('item/2'))).to.equal('name of only-2:0 newer:1');
        expect(await names(only())).to.equal('');
      });

      it('and forgets at once what is removed or dropped', async () => {
        const scope = scopes();
        await world.store.graph.upsert(scope, {
          nodes: [node('a', { item: item('one') }), node('a', { item: item('two') }), node('b', { item: item('one') })],
          edges: [edge('a', 'b', { item: item('one') })],
        });
        expect(await values(scope, 'MATCH (n) RETURN n.id, n.mentions ORDER BY n.id')).to.deep.equal([['a', 2], ['b', 1]]); // biome-ignore format: pairs
        await world.store.graph.remove(scope, { item: item('one') });
        expect(await values(scope, 'MATCH (n) RETURN n.id, n.mentions')).to.deep.equal([['a', 1]]);
        await world.store.graph.drop(scope);
        expect(await values(scope, 'MATCH (n) RETURN n')).to.deep.equal([]);
      });

      it('with an edge as soon as both its nodes are there, whoever states them', async () => {
        const scope = scopes();
        await world.store.graph.upsert(scope, {
          nodes: [node('a', { item: item('one') }), node('b', { item: item('two') })],
          edges: [edge('a', 'b', { item: item('one') })],
        });
        const edges = (committed: CypherQuery['committed']) =>
          values(scope, 'MATCH ()-[r]->() RETURN count(r)', { committed });
        expect(await edges(only('one/1'))).to.deep.equal([[0]]);
        expect(await edges(only('one/1', 'two/1'))).to.deep.equal([[1]]);
        expect(await edges(only('one/1'))).to.deep.equal([[0]]);
        expect(await edges(everything)).to.deep.equal([[1]]);
      });

      it('with one edge for all that state it, be they two or many', async () => {
        for (const items of [2, 40, 1100]) {
          const scope = scopes();
          const origins = Array.from({ length: items }, (_, index) => ({ item: item(`item-${index}`) }));
          await world.store.graph.upsert(scope, {
            nodes: origins.flatMap((origin) => [node('a', origin), node('b', origin)]),
            edges: origins.map((origin) => edge('a', 'b', origin)),
          });
          const found = await values(scope, 'MATCH (a)-[r]->(b) RETURN a.id, r.weight, b.id');
          expect(found, `${items} items`).to.deep.equal([['a', Math.min(items, 64), 'b']]);
        }
      });

      it('without keywords and internal edges', async () => {
        const scope = scopes();
        await world.store.graph.upsert(scope, {
          nodes: [node('a'), node('b'), node('k', { properties: { isKeyword: true } })],
          edges: [edge('a', 'k'), edge('a', 'b', { relation: 'next' }), edge('a', 'b')],
        });
        expect(await values(scope, 'MATCH (n) RETURN n.id ORDER BY n.id')).to.deep.equal([['a'], ['b']]);
        expect(await values(scope, 'MATCH ()-[r]->() RETURN type(r)')).to.deep.equal([['knows']]);
      });

      it('to many who ask at once while others write', async () => {
        const scope = scopes();
        await world.store.graph.upsert(scope, { nodes: [node('a')], edges: [] });
        const writes = [2, 3, 4].map((generation) =>
          world.store.graph.upsert(scope, { nodes: [node('a', { generation })], edges: [] }),
        );
        const counts = await Promise.all(Array.from({ length: 8 }, () => values(scope, 'MATCH (n) RETURN count(n)')));
        await Promise.all(writes);
        expect(counts).to.deep.equal(counts.map(() => [[1]]));
        expect(await values(scope, 'MATCH (n) RETURN n.mentions')).to.deep.equal([[4]]);
      });
    });

    describe('keeps a query in its dataset', () => {
      it('whatever it tries', async () => {
        const label = datasetLabel(world.store.scopeOf?.(stranger) ?? stranger);
        const anyKey = '4:00000000-0000-0000-0000-000000000000:1';
        const attacks = [
          'MATCH (n) RETURN n',
          'MATCH (n), (m) RETURN n, m',
          'MATCH (n:__Node__) RETURN n',
          'MATCH (n:EngramNode) RETURN n',
          'MATCH (n:EngramEdge|EngramNode) RETURN n',
          'MATCH (n:!Nothing) RETURN n',
          'MATCH (n:%) RETURN n',
          `MATCH (n:${label}) RETURN n`,
          `MATCH (n:${label}|Entity) RETURN n`,
          `MATCH (n:(Entity|${label})|!Nothing) RETURN n`,
          'MATCH (n:Entity) WHERE n:City OR true RETURN n',
          "MATCH (n {name: 'Ada SECRET'}) RETURN n",
          "MATCH (n {description: 'SECRET'}) RETURN n",
          'MATCH ()-[r]-() RETURN r',
          'MATCH ()-[r]->() RETURN startNode(r), endNode(r)',
          'MATCH ()-[r:lives_in]->() RETURN properties(r)',
          'MATCH ()-[r {text: "SECRET"}]-() RETURN r',
          'MATCH ()-[r*1..6]-() RETURN r LIMIT 50',
          'MATCH p = ()-[*0..4]-() RETURN p, nodes(p), relationships(p) LIMIT 50',
          'MATCH p = shortestPath((a)-[*..10]-(b)) WHERE a <> b RETURN p',
          'MATCH p = allShortestPaths((a {id: "ada"})-[*]-(b {id: "oslo"})) RETURN nodes(p)',
          'MATCH (a) RETURN shortestPath((a)-[*..3]-({id: "oslo"}))',
          'MATCH (a) RETURN [(b)-->(c) | b.name]',
          'MATCH (a) RETURN [p = (b)-[*1..2]-(c) | nodes(p)]',
          'MATCH (a) WHERE EXISTS { MATCH (b {description: "SECRET"}) } RETURN "SECRET"',
          'RETURN CASE WHEN EXISTS { (b {description: "SECRET"}) } THEN "SECRET" ELSE 1 END',
          'RETURN CASE WHEN COUNT { (b) WHERE b.description = "SECRET" } > 0 THEN "SECRET" ELSE 1 END',
          'RETURN CASE WHEN COUNT { (n) } > 3 THEN "SECRET" ELSE 1 END',
          'MATCH (n) WITH count(n) AS c RETURN CASE WHEN c > 3 THEN "SECRET" ELSE c END',
          'MATCH ()-[r]->() WITH count(r) AS c RETURN CASE WHEN c > 3 THEN "SECRET" ELSE c END',
          'MATCH (n) WHERE COUNT { (n)--() } > 2 RETURN "SECRET"',
          'MATCH (a) WHERE (a)-->({description: "SECRET"}) RETURN "SECRET"',
          'RETURN CASE WHEN exists(({description: "SECRET"})-->()) THEN "SECRET" ELSE 1 END',
          'MATCH (a) OPTIONAL MATCH (b) WHERE b.description = "SECRET" RETURN b',
          'MATCH (a) WITH a MATCH (b {id: a.id}) RETURN b',
          'MATCH (a) RETURN a UNION MATCH (a) RETURN a',
          'MATCH (a) RETURN a UNION ALL MATCH (a:__Node__) RETURN a',
          'MATCH (a) RETURN a {.*}',
          'MATCH (a) RETURN a {.*, more: [(a)--(b) | b {.*}]}',
          'MATCH (a) RETURN properties(a)',
          'MATCH (a) WHERE id(a) >= 0 RETURN a',
          `MATCH (a) WHERE elementId(a) <> "${anyKey}" RETURN a`,
          'MATCH (a) MATCH (b) WHERE id(b) = id(a) + 1 RETURN b',
          'MATCH (a) RETURN a._ref, elementId(a)',
          'MATCH (a)-[r]-(b) WITH * MATCH (c)-[r2]-(d) RETURN *',
          'MATCH (n) WITH collect(n) AS l UNWIND l AS m MATCH (m)-[*..3]-(x) RETURN x',
          'MATCH (n) WHERE any(x IN [(m) -- (o) | m.name] WHERE x CONTAINS "SECRET") RETURN "SECRET"',
          'CALL db.labels() YIELD label RETURN label',
          'CALL { MATCH (n) RETURN n } RETURN n',
          'CALL apoc.cypher.run("MATCH (n) RETURN n", {}) YIELD value RETURN value',
          'CALL db.index.fulltext.queryNodes("x", "SECRET") YIELD node RETURN node',
          'RETURN COLLECT { MATCH (n) RETURN n.name }',
          'USE neo4j MATCH (n) RETURN n',
          'USE system SHOW USERS',
          'LOAD CSV FROM "file:///etc/passwd" AS row RETURN row',
          'MATCH (n) RETURN n; MATCH (n) RETURN n',
          'MATCH (n) /* \\u002a\\u002f MATCH (m) */ RETURN n',
          "MATCH (n {id: 'x\\u0027}) MATCH (m) RETURN m //'}) RETURN n",
          "MATCH (n {id: 'x\\\\u0027}) MATCH (m) RETURN m //'}) RETURN n",
          'MATCH (n:`X\\u0060) MATCH (m) RETURN m //`) RETURN n',
          'MATCH (n:`X``) MATCH (m) RETURN m //`) RETURN n',
          "MATCH (n {id: '`}) MATCH (m) RETURN m //'}) RETURN n",
          'MATCH (n) RETURN n.id AS `x`` MATCH (m) RETURN m //`',
          'MATCH (n)\u2028RETURN n',
          'MATCH (`D_x`:`__Node__`) RETURN `D_x`',
          'MATCH (n:Entity&!City|__Node__) RETURN n',
          'MATCH ((a)-[r]-(b)){1,5} RETURN a, b',
          'MATCH (a)(()-[r]-()){1,5}(b) RETURN b',
          'MATCH (a)-[r]-{1,5}(b) RETURN b',
          'MATCH ANY SHORTEST (a)-[r]-+(b) RETURN b',
          'MATCH (n) WHERE n:$("__Node__") RETURN n',
          'MATCH (n:$(["__Node__"])) RETURN n',
          'MATCH (n IS __Node__) RETURN n',
          'MATCH REPEATABLE ELEMENTS (a)-[r]-{1,5}(b) RETURN b',
          'EXPLAIN MATCH (n) RETURN n',
          'PROFILE MATCH (n) RETURN n',
          'SHOW TRANSACTIONS',
        ]; // biome-ignore format: one each
        let answered = 0;
        for (const query of attacks) {
          for (const scope of [mine, scopes('blank')]) {
            const outcome = await ask(scope, query).catch((error: Error) => error);
            if (outcome instanceof Error)
              expect(outcome.name, `${query}: ${outcome.message}`).to.equal('CypherSearchError');
            else {
              answered += 1;
              expect(JSON.stringify(outcome.rows), query).not.to.contain('SECRET');
            }
          }
        }
        // Most are legal Cypher and must have been run, not just refused.
        expect(answered).to.be.greaterThan(80);
      });
    });
  });
}
