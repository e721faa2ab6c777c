import { expect } from 'chai';
import { linearRandom } from '../../services/common/kernel/random.ts';
import type { DatasetIndexes } from '../../services/common/storage/ports/dataset-indexes.ts';
import type { EdgeEvidence, GraphStore, NodeEvidence } from '../../services/common/storage/ports/graph-store.ts';
import { createScopes, edge, HOSTILE_IDS, item, node } from '../support/dataset-rows.ts';
import { rejection } from '../support/refusal-of.ts';

/** What every `GraphStore` must do. */
export function graphStoreConformance(name: string, open: () => Promise<DatasetIndexes>): void {
  describe(`GraphStore: ${name}`, () => {
    const scopes = createScopes();
    let indexes: DatasetIndexes;
    let graph: GraphStore;
    before(async () => {
      indexes = await open();
      graph = indexes.graph;
    });
    after(() => indexes.close());

    const names = (edges: readonly EdgeEvidence[]) => edges.map((row) => `${row.source}-${row.relation}-${row.target}`);

    it('gives back nodes and edges as they were stated', async () => {
      const scope = scopes();
      const ada = node('ada', {
        type: 'Person',
        mentions: 3,
        nodeSets: ['n1', 'n2'],
        properties: { description: 'first', aliases: ['countess'], deep: { list: [1, null] } },
      });
      const wrote = edge('ada', 'notes', {
        relation: 'wrote',
        weight: 2.5,
        properties: { chunkId: 'c', text: 'Ada wrote.' },
      });
      await graph.upsert(scope, { nodes: [ada, node('other')], edges: [wrote] });
      expect(await graph.nodes(scope, ['ada', 'unknown', 'ada'])).to.deep.equal([ada]);
      for (const id of ['ada', 'notes']) expect(await graph.neighbours(scope, [id], {})).to.deep.equal([wrote]);
      expect(await graph.neighbours(scope, ['unknown'], {})).to.deep.equal([]);
      expect(await graph.nodes(scope, [])).to.deep.equal([]);
    });

    it('keeps the evidence of every item and generation, most mentions first, at most so many a node', async () => {
      const scope = scopes();
      const rows = [1, 5, 3, 4].map((mentions, index) => node('x', { mentions, item: item(`item-${index}`) }));
      await graph.upsert(scope, { nodes: [...rows, node('x', { generation: 2, mentions: 2 })], edges: [] });
      const found = await graph.nodes(scope, ['x']);
      expect(found.map((row) => row.mentions)).to.deep.equal([5, 4, 3, 2, 1]);
      expect((await graph.nodes(scope, ['x'], { perNode: 2 })).map((row) => row.mentions)).to.deep.equal([5, 4]);
    });

    it('scans the rows of one generation of an item, page by page', async () => {
      const scope = scopes();
      const own = Array.from({ length: 25 }, (_, at) => node(`own-${at}`));
      const edges = Array.from({ length: 25 }, (_, at) => edge(`own-${at}`, 'hub'));
      const others = [node('own-1', { item: item('other') }), node('own-2', { generation: 2 })];
      const otherEdges = [edge('own-1', 'hub', { item: item('other') }), edge('own-2', 'hub', { generation: 2 })];
      await graph.upsert(scope, { nodes: [...own, ...others], edges: [...edges, ...otherEdges] });
      const provenance = { item: item('item'), generation: 1 };
      const all = async <Row>(
        scan: (after: string | null) => Promise<{ items: readonly Row[]; next: string | null }>,
      ) => {
        const rows: Row[] = [];
        for (let after: string | null = null; ; ) {
          const page = await scan(after);
          rows.push(...page.items);
          after = page.next;
          if (after === null) return rows;
        }
      };
      const nodes = await all((after) => graph.scanNodes(scope, { after, limit: 10, provenance }));
      expect(nodes.map(({ id }) => id).sort()).to.deep.equal(own.map(({ id }) => id).sort());
      expect(nodes.every((row) => row.item === 'item' && row.generation === 1)).to.equal(true);
      const found = await all((after) => graph.scanEdges(scope, { after, limit: 10, provenance }));
      expect(names(found).sort()).to.deep.equal(names(edges).sort());
    });

    it('replaces evidence with the same key, also inside one call and with other node sets', async () => {
      const scope = scopes();
      await graph.upsert(scope, { nodes: [node('a', { nodeSets: ['old'] })], edges: [edge('a', 'b')] });
      await graph.upsert(scope, {
        nodes: [node('a'), node('a', { mentions: 9, nodeSets: ['new'], name: 'renamed' })],
        edges: [edge('a', 'b', { weight: 2 }), edge('a', 'b', { weight: 7 })],
      });
      expect(await graph.nodes(scope, ['a'])).to.deep.equal([
        node('a', { mentions: 9, nodeSets: ['new'], name: 'renamed' }),
      ]);
      expect((await graph.neighbours(scope, ['b'], {})).map((row) => row.weight)).to.deep.equal([7]);
      expect(await graph.count(scope)).to.deep.equal({ nodes: 1, edges: 1, nodeRows: 1, edgeRows: 1 });
    });

    it('writes nodes and edges of a call together or not at all', async () => {
      const scope = scopes();
      const broken = {
        toJSON: () => {
          throw new Error('no JSON');
        },
      } as unknown as EdgeEvidence['properties'];
      await rejection(
        graph.upsert(scope, { nodes: [node('a')], edges: [edge('a', 'b'), edge('b', 'c', { properties: broken })] }),
      );
      const infinite = edge('a', 'b', { weight: null as unknown as number });
      await graph.upsert(scope, { nodes: [node('a')], edges: [infinite] }).catch(() => undefined);
      const { nodeRows, edgeRows } = await graph.count(scope);
      expect([nodeRows, edgeRows]).to.satisfy(([nodes, edges]: [number, number]) => nodes === edges);
    });

    it('gives the heaviest edges at either end, at most so many a node', async () => {
      const scope = scopes();
      await graph.upsert(scope, {
        nodes: [],
        edges: [
          ...Array.from({ length: 200 }, (_, index) => edge('hub', `leaf-${index}`, { weight: index + 1 })),
          edge('in', 'hub', { weight: 1000 }),
          edge('hub', 'hub', { weight: 500 }),
          edge('far', 'away', { weight: 5000 }),
        ],
      });
      const found = await graph.neighbours(scope, ['hub', 'hub'], { limitPerNode: 4 });
      expect(found.map((row) => row.weight)).to.deep.equal([1000, 500, 200, 199]);
      expect(await graph.neighbours(scope, ['hub'], {})).to.have.length(64);
      const both = await graph.neighbours(scope, ['hub', 'leaf-0'], { limitPerNode: 1 });
      expect(names(both)).to.deep.equal(['in-knows-hub', 'hub-knows-leaf-0']);
    });

    it('gives paths over a target as two calls give the edges of their ends, where it can', async () => {
      const scope = scopes();
      const of = (relation: string, weight: number) => ({
        relation,
        weight,
        properties: { text: `${relation} ${weight}` },
      });
      const many = Array.from({ length: 40 }, (_, at) =>
        edge(`page-${at % 8}`, `name-${at % 5}`, of('contains', 1 + at)),
      );
      await graph.upsert(scope, { nodes: [], edges: [...many, edge('page-1', 'name-9', of('cites', 99))] });
      const ids = ['page-1', 'page-2', 'page-2', 'nowhere'];
      const query = { relation: 'contains', leaving: 3, arriving: 4 };
      const found = await graph.pathsOver?.(scope, ids, query);
      const relations = ['contains'];
      const leaving = await graph.neighbours(scope, ids, { relations, direction: 'out', limitPerNode: 3 });
      const targets = leaving.map(({ target }) => target);
      const options = { relations, direction: 'in', limitPerNode: 4, withProperties: false } as const;
      const arriving = await graph.neighbours(scope, targets, options);
      expect([leaving.length, arriving.length]).to.deep.equal([6, 4 * new Set(targets).size]);
      if (found !== undefined) expect(found).to.deep.equal({ leaving, arriving });
      if (found !== undefined)
        expect(await graph.pathsOver?.(scope, [], query)).to.deep.equal({ leaving: [], arriving: [] });
    });

    it('leaves evidence out that the scope withholds from its reader, before it counts', async () => {
      const scope = scopes();
      const secret = Array.from({ length: 100 }, (_, at) => item(`secret-${at}`));
      await graph.upsert(scope, {
        nodes: [...secret.map((one) => node('x', { item: one, mentions: 9 })), node('x', { item: item('one') })],
        edges: [
          ...secret.map((one, at) => edge('hub', `leaf-${at}`, { item: one, weight: 100 + at })),
          edge('hub', 'x', { item: item('one'), weight: 2 }),
          edge('y', 'hub', { item: item('one'), weight: 1 }),
        ],
      });
      const reader = { ...scope, withheld: new Set(secret) };
      expect((await graph.nodes(reader, ['x'], { perNode: 1 })).map((row) => row.item)).to.deep.equal(['one']);
      const near = async (ids: readonly string[], options = {}) => names(await graph.neighbours(reader, ids, options));
      expect(await near(['hub'])).to.deep.equal(['hub-knows-x', 'y-knows-hub']);
      expect(await near(['hub', 'x', 'y'], { limitPerNode: 1 })).to.deep.equal(['hub-knows-x', 'y-knows-hub']);
      expect(await near(['hub'], { limitPerNode: 1, direction: 'out' })).to.deep.equal(['hub-knows-x']);
    });

    it('leaves out and keeps relations before it counts', async () => {
      const scope = scopes();
      const edges = [
        ...Array.from({ length: 90 }, (_, index) => edge('x', `t${index}`, { relation: 'is_a', weight: 50 })),
        edge('x', 'y', { relation: 'wrote' }),
        edge('z', 'x', { relation: 'met' }),
      ];
      await graph.upsert(scope, { nodes: [], edges });
      const found = async (options: object) =>
        names(await graph.neighbours(scope, ['x'], { limitPerNode: 2, ...options })).sort();
      expect(await found({ excludeRelations: ['is_a'] })).to.deep.equal(['x-wrote-y', 'z-met-x']);
      expect(await found({ relations: ['met', 'unknown'] })).to.deep.equal(['z-met-x']);
      expect(await found({ relations: ['met', 'wrote'], excludeRelations: ['met'] })).to.deep.equal(['x-wrote-y']);
      expect(await found({ relations: [] })).to.deep.equal([]);
      expect(await found({ direction: 'in' })).to.deep.equal(['z-met-x']);
      expect(await found({ direction: 'out', excludeRelations: ['is_a'] })).to.deep.equal(['x-wrote-y']);
    });

    it('leaves properties out on request, and nothing else', async () => {
      const scope = scopes();
      const edges = [edge('a', 'b', { weight: 3, properties: { text: 'a knows b' } })];
      await graph.upsert(scope, { nodes: [], edges });
      const bare = edges.map((row) => ({ ...row, properties: {} }));
      expect(await graph.neighbours(scope, ['a', 'b'], { withProperties: false })).to.deep.equal(bare);
      expect(await graph.neighbours(scope, ['a', 'b'], {})).to.deep.equal(edges);
    });

    it('gives an edge once when both its ends are asked for, and shows what was written since', async () => {
      const scope = scopes();
      await graph.upsert(scope, { nodes: [], edges: [edge('a', 'b'), edge('c', 'b')] });
      const ask = async (options: object) => names(await graph.neighbours(scope, ['a', 'b', 'c'], options)).sort();
      for (const options of [{}, { direction: 'in' }, { direction: 'out' }]) {
        expect(await ask(options)).to.deep.equal(['a-knows-b', 'c-knows-b']);
      }
      await graph.upsert(scope, { nodes: [], edges: [edge('d', 'b', { item: item('later') })] });
      for (const options of [{}, { direction: 'in' }]) expect(await ask(options)).to.include('d-knows-b');
      await graph.remove(scope, { item: item('later') });
      for (const options of [{}, { direction: 'in' }]) expect(await ask(options)).not.to.include('d-knows-b');
    });

    it('finds exactly the edges of a plain search in a random graph with hubs', async () => {
      const scope = scopes();
      const random = linearRandom(9);
      const pick = (count: number) => `n${Math.floor(random() * count)}`;
      const edges = Array.from({ length: 4000 }, (_, index) =>
        edge(pick(1500), pick(index % 4 === 0 ? 3 : 1500), { relation: `r${index % 7}`, weight: 1 + (index % 11) }),
      );
      await graph.upsert(scope, { nodes: [], edges });
      const seeds = Array.from({ length: 20 }, () => pick(1500));
      const found = new Map<string, EdgeEvidence>();
      for (const hops of [1, 2, 3]) {
        const reached = new Set([...seeds, ...[...found.values()].flatMap(({ source, target }) => [source, target])]);
        const options = { excludeRelations: ['r3'], limitPerNode: 5000 };
        const near = await graph.neighbours(scope, [...reached], options);
        for (const [at, name] of names(near).entries()) found.set(name, near[at] as EdgeEvidence);
        expect([...found.keys()].sort()).to.deep.equal([...plainSearch(edges, seeds, hops)].sort());
      }
    });

    it('pages through all evidence once, in a stable order, while others write', async () => {
      const scope = scopes();
      const ids = Array.from({ length: 57 }, (_, index) => `n${index}`);
      const nodes = ids.flatMap((id) => [node(id), node(id, { generation: 2, type: 'Place' })]);
      const edges = ids.map((id, index) => edge(id, 'n0', { relation: index % 3 === 0 ? 'met' : 'knows' }));
      await graph.upsert(scope, { nodes, edges });
      const seenNodes: NodeEvidence[] = [];
      for (let after: string | null = null; ; ) {
        const page: Awaited<ReturnType<typeof graph.scanNodes>> = await graph.scanNodes(scope, { after, limit: 10 });
        seenNodes.push(...page.items);
        await graph.upsert(scope, { nodes: seenNodes.slice(0, 3), edges: [] });
        if (page.next === null) break;
        expect(page.items).to.have.length(10);
        after = page.next;
      }
      const keys = (rows: readonly NodeEvidence[]) => rows.map((row) => `${row.id} ${row.generation}`).sort();
      expect(keys(seenNodes)).to.deep.equal(keys(nodes));
      const seenEdges: EdgeEvidence[] = [];
      for (let after: string | null = null; ; ) {
        const page: Awaited<ReturnType<typeof graph.scanEdges>> = await graph.scanEdges(scope, { after, limit: 19 });
        seenEdges.push(...page.items);
        if (page.next === null) break;
        after = page.next;
      }
      expect(names(seenEdges).sort()).to.deep.equal(names(edges).sort());
      expect(await graph.scanNodes(scope, { limit: 10_000, types: ['Place', 'None'] })).to.deep.include({ next: null });
      expect((await graph.scanNodes(scope, { limit: 10_000, types: ['Place'] })).items).to.have.length(57);
      expect((await graph.scanEdges(scope, { limit: 10_000, types: ['met'] })).items).to.have.length(19);
    });

    it('removes by item, by generation and those before a generation, and returns how many rows were removed', async () => {
      const scope = scopes();
      const rows = [1, 2, 3].map((generation) => ({ generation }));
      await graph.upsert(scope, {
        nodes: [...rows.map((row) => node('a', row)), node('b', { item: item('other') })],
        edges: [...rows.map((row) => edge('a', 'b', row)), edge('b', 'c', { item: item('other') })],
      });
      expect(await graph.count(scope)).to.deep.equal({ nodes: 2, edges: 2, nodeRows: 4, edgeRows: 4 });
      expect(await graph.remove(scope, { item: item('item'), beforeGeneration: 2 })).to.equal(2);
      expect(await graph.remove(scope, { item: item('item'), generation: 2 })).to.equal(2);
      expect((await graph.nodes(scope, ['a'])).map((row) => row.generation)).to.deep.equal([3]);
      expect(await graph.count(scope, { item: 'item' })).to.deep.equal({
        nodes: 1,
        edges: 1,
        nodeRows: 1,
        edgeRows: 1,
      });
      expect(await graph.remove(scope, { item: item('item') })).to.equal(2);
      expect(await graph.remove(scope, { item: item('item') })).to.equal(0);
      expect(names(await graph.neighbours(scope, ['a', 'b'], {}))).to.deep.equal(['b-knows-c']);
    });

    it('keeps ids with slashes, blanks and any letters apart', async () => {
      const scope = scopes();
      const nodes = HOSTILE_IDS.map((id) => node(id, { item: item(id), type: id, name: id, nodeSets: [id] }));
      const edges = HOSTILE_IDS.map((id) =>
        edge(id, `to ${id}`, { relation: id, item: item(id), properties: { [id]: id } }),
      );
      await graph.upsert(scope, { nodes, edges });
      for (const [index, id] of HOSTILE_IDS.entries()) {
        expect(await graph.nodes(scope, [id])).to.deep.equal([nodes[index]]);
        expect(await graph.neighbours(scope, [`to ${id}`], { relations: [id] })).to.deep.equal([edges[index]]);
        expect((await graph.scanNodes(scope, { limit: 10, types: [id] })).items).to.deep.equal([nodes[index]]);
      }
      for (const id of HOSTILE_IDS) expect(await graph.remove(scope, { item: item(id) })).to.equal(2);
    });

    it('never reaches another tenant or dataset, by any method', async () => {
      const mine = scopes('shared', 'mine');
      await graph.upsert(mine, { nodes: [node('a')], edges: [edge('a', 'b')] });
      for (const other of [scopes('shared', 'theirs'), scopes('private', 'mine')]) {
        expect(await graph.nodes(other, ['a'])).to.deep.equal([]);
        expect(await graph.neighbours(other, ['a'], {})).to.deep.equal([]);
        expect(await graph.scanNodes(other, { limit: 5 })).to.deep.equal({ items: [], next: null });
        expect(await graph.scanEdges(other, { limit: 5 })).to.deep.equal({ items: [], next: null });
        expect(await graph.count(other)).to.deep.equal({ nodes: 0, edges: 0, nodeRows: 0, edgeRows: 0 });
        expect(await graph.remove(other, { item: item('item') })).to.equal(0);
        await graph.drop(other);
        await graph.upsert(other, { nodes: [node('a')], edges: [] });
      }
      expect(await graph.count(mine)).to.deep.equal({ nodes: 1, edges: 1, nodeRows: 1, edgeRows: 1 });
      await graph.drop(mine);
      await graph.drop(mine);
      expect(await graph.nodes(mine, ['a'])).to.deep.equal([]);
      expect(await graph.nodes(scopes('private', 'mine'), ['a'])).to.have.length(1);
    });

    it('shows whole calls only while others write', async () => {
      const scope = scopes();
      const write = (generation: number) =>
        graph.upsert(scope, {
          nodes: Array.from({ length: 10 }, (_, index) => node(`n${index}`, { generation })),
          edges: Array.from({ length: 10 }, (_, index) => edge(`n${index}`, 'n0', { generation })),
        });
      const writes = [1, 2, 3, 4, 5, 6, 7, 8].map(write);
      const counts = await Promise.all(Array.from({ length: 10 }, () => graph.count(scope)));
      await Promise.all(writes);
      for (const { nodeRows, edgeRows } of counts) {
        expect(nodeRows).to.equal(edgeRows);
        expect(nodeRows % 10).to.equal(0);
      }
      expect((await graph.count(scope)).nodeRows).to.equal(80);
    });

    it('stops at an abort', async () => {
      expect((await rejection(graph.neighbours(scopes(), ['a'], {}, AbortSignal.abort()))).name).to.equal('AbortError');
    });
  });
}

function plainSearch(edges: readonly EdgeEvidence[], seeds: readonly string[], hops: number): ReadonlySet<string> {
  const found = new Set<string>();
  let reached = new Set(seeds);
  for (let hop = 0; hop < hops; hop++) {
    const next = new Set(reached);
    for (const { source, relation, target } of edges) {
      if (relation === 'r3' || !(reached.has(source) || reached.has(target))) continue;
      found.add(`${source}-${relation}-${target}`);
      next.add(source).add(target);
    }
    reached = next;
  }
  return found;
}
