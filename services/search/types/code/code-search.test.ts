import { expect } from 'chai';
import type { EngramError } from '../../../common/kernel/errors.ts';
import type { JsonObject } from '../../../common/kernel/json.ts';
import { buildCodeGraph, type StoredEdge, type StoredNode } from './code-graph.ts';
import { answerFrom, compactJson } from './code-search.ts';

/** `a.ts imports b.ts`, one statement a line; names with a capital are classes, those in lower case functions. */
function graphOf(lines: string) {
  const nodes = new Map<string, StoredNode>();
  const edges = lines.split('\n').flatMap((line): StoredEdge[] => {
    const [source = '', relation = '', target = '', text = ''] = line.trim().split(/\s+/u);
    if (target === '') return [];
    const type = relation === 'imports' ? 'imports' : 'defines';
    for (const [id, isModule] of [
      [source, /\.(?:ts|py)$/u.test(source)],
      [target, type === 'imports'],
    ] as const) {
      const kind = isModule ? 'Module' : /^[A-Z]\w*$/u.test(id) ? 'Class' : 'Function';
      if (!nodes.has(id)) nodes.set(id, { id, name: id, type: kind, nodeSets: ['shop'] });
    }
    return [{ source, target, type, text }];
  });
  return buildCodeGraph(nodes, edges);
}

const GRAPH = graphOf(`
  main.ts imports cart.ts './cart.ts'
  main.ts imports koa 'koa'
  cart.ts imports price.ts './price.ts'
  cart.ts imports log './log'
  log.ts defines write
  main.ts defines start
  cart.ts defines Cart
  Cart defines Cart.add
  price.ts defines priceOf
  price.ts defines Cart.price
  Grape defines wine
  util.py defines helper
  tool.py imports pkg.util from
`);

interface Fact {
  readonly name: string;
  readonly relations?: unknown;
}

/** The keys that the tests read of the results. */
interface Answer extends Record<'facts' | 'nodes' | 'path' | 'modules' | 'dependencies', readonly Fact[]> {
  readonly operation: string;
  readonly total: number;
  readonly focus: Fact;
  readonly stats: JsonObject;
  readonly answer: string;
  readonly citations: readonly { readonly text: string }[];
  readonly by_depth: Readonly<Record<string, readonly Fact[]>>;
  readonly total_dependents: number;
  readonly summary: string;
  readonly forward_dependencies: readonly Fact[];
  readonly found: boolean;
  readonly diagram: string;
  readonly flows: readonly { readonly entry: Fact }[];
  readonly hubs: readonly Fact[];
  readonly insights: readonly unknown[];
  readonly repositories: readonly unknown[];
  readonly kinds: JsonObject;
}

function ask(codeQuery: JsonObject | null, words = '') {
  return answerFrom(GRAPH, codeQuery, words) as unknown as Answer;
}

function names(facts: readonly { readonly name: string }[]) {
  return facts.map(({ name }) => name);
}

function refusal(codeQuery: JsonObject | null, words = '') {
  try {
    ask(codeQuery, words);
    return null;
  } catch (error) {
    const { wireName, status, message, extra } = error as EngramError;
    return { wireName, status, message, ...extra };
  }
}

describe('the search of code', () => {
  it('takes files for modules, packages for dependencies and what files define for symbols', () => {
    const { facts, total } = ask({ operation: 'query_facts', relation: 'import' });
    expect(total).to.equal(3);
    expect(facts[0]).to.deep.include({ kind: 'module', type: 'CodeModule', file: 'cart.ts', repo: 'shop' });
    expect(facts[0]?.relations).to.deep.equal([
      { type: 'imports', target_id: 'log.ts', target: 'log.ts' },
      { type: 'imports', target_id: 'price.ts', target: 'price.ts' },
    ]);
    expect(names(ask({ operation: 'query_facts', kind: 'dependency' }).facts)).to.deep.equal(['koa']);
    expect(ask({ operation: 'query_facts', names: ['cart.add'] }).facts[0]).to.deep.include({
      kind: 'symbol',
      symbol_kind: 'method',
      file: 'cart.ts',
    });
    expect(ask({ operation: 'query_facts', name: 'wine' }).total, 'defined by no file').to.equal(0);
  });

  it('pages through facts, and takes the words of the query only without options', () => {
    expect(ask({ operation: 'query_facts', offset: 1, limit: 1, kind: 'module' })).to.deep.include({
      total: 6,
      offset: 1,
      limit: 1,
      has_more: true,
    });
    expect(names(ask({ operation: 'query_facts' }, 'PRICE').facts)).to.deep.equal([
      'price.ts',
      'Cart.price',
      'priceOf',
    ]);
    expect(ask({ operation: 'query_facts', limit: 0 }, 'PRICE').total).to.equal(GRAPH.nodes.size);
  });

  it('explores what the query names, and answers a question from the graph', () => {
    const { operation, focus, nodes, stats } = ask(null, 'cart.ts');
    expect([operation, focus.name]).to.deep.equal(['explore', 'cart.ts']);
    expect(names(nodes)).to.have.members(['cart.ts', 'main.ts', 'price.ts', 'log.ts', 'Cart']);
    expect(stats).to.deep.include({ max_depth_reached: 1, truncated: false });
    const { operation: asked, answer, citations } = ask(null, 'Which modules import price.ts?');
    expect(asked).to.equal('ask');
    expect(answer).to.include('price.ts (module): imported by cart.ts; defines Cart.price, priceOf.');
    expect(citations.map(({ text }) => text)).to.include('cart.ts imports price.ts');
  });

  it('finds who depends on a symbol or a module, by distance', () => {
    const { by_depth, total_dependents, summary } = ask({ operation: 'impact_analysis', name: 'priceOf' });
    expect(Object.entries(by_depth).map(([depth, facts]) => [depth, names(facts)])).to.deep.equal([
      ['1', ['price.ts']],
      ['2', ['cart.ts']],
      ['3', ['main.ts']],
    ]);
    expect(total_dependents).to.equal(3);
    expect(summary).to.equal('3 depend on priceOf: 1 directly, 2 through others, in 3 files.');
    const forward = ask({ operation: 'impact_analysis', target: 'cart.ts', include_dependencies: true });
    expect(names(forward.forward_dependencies)).to.include.members(['price.ts', 'log.ts', 'Cart']);
  });

  it('walks in a direction, through what is not asked for, and stops at the limit', () => {
    const symbols = ask({ operation: 'traverse', start: 'main.ts', node_types: 'symbol', max_depth: 2 });
    expect(names(symbols.nodes)).to.deep.equal(['start', 'Cart']);
    const cut = ask({ operation: 'traverse', start: 'main.ts', max_nodes: 2 });
    expect(cut.nodes).to.have.length(2);
    expect(cut.stats.truncated).to.equal(true);
    expect(names(ask({ operation: 'traverse', start: 'koa', direction: 'reverse' }).nodes)).to.deep.equal([
      'koa',
      'main.ts',
    ]);
  });

  it('finds the shortest way, and says when there is none', () => {
    const { found, path, diagram } = ask({ operation: 'find_path', source: 'main', target: 'Cart.add', diagram: true });
    expect([found, names(path)]).to.deep.equal([true, ['main.ts', 'cart.ts', 'Cart', 'Cart.add']]);
    expect(diagram).to.match(/^graph LR\n {2}n0\["main\.ts"\]/u);
    expect(ask({ operation: 'find_path', from: 'koa', to: 'main.ts' })).to.deep.include({ found: false, path: [] });
  });

  it('resolves a name exactly, then as a short name, then as a part, and refuses what stays open', () => {
    expect(ask({ name: 'CART' }).focus.name).to.equal('Cart');
    expect(ask({ name: 'add' }).focus.name).to.equal('Cart.add');
    expect(ask({ name: 'elpe' }).focus.name).to.equal('helper');
    const common = { wireName: 'CodeSearchValidationError', status: 422 };
    expect(refusal({ name: 'cart.' })).to.deep.include({ ...common, code: 'ambiguous', param: 'name' });
    expect(refusal({ name: 'cart.' })?.message).to.include('cart.ts (module, cart.ts), Cart.add (symbol, cart.ts)');
    const message = "CODE could not resolve explore seed name 'x.y'.";
    expect(refusal({ name: 'x.y' })).to.deep.equal({ ...common, message, code: 'not_found', param: 'name' });
  });

  it('refuses wrong options by their names', () => {
    const cases: readonly (readonly [JsonObject, string, string])[] = [
      [{ operation: 'constructor' }, 'unknown_operation', 'operation'],
      [{ name: 'Cart', max_depth: '2' }, 'invalid_argument', 'max_depth'],
      [{ operation: 'query_facts', offset: -1 }, 'invalid_argument', 'offset'],
      [{ operation: 'traverse', start: 'Cart', direction: 'up' }, 'invalid_argument', 'direction'],
      [{ operation: 'find_path', source: 'Cart' }, 'invalid_argument', 'target'],
      [{ name: 'Cart', diagram: 'png' }, 'invalid_argument', 'diagram'],
      [{}, 'invalid_argument', 'name'],
    ];
    for (const [query, code, param] of cases) {
      expect(refusal(query), JSON.stringify(query)).to.deep.include({ status: 422, code, param });
    }
  });

  it('surveys the whole: entry points, hubs, modules, and no findings that nobody stored', () => {
    expect(ask({ operation: 'flows' }).flows.map(({ entry }) => entry.name)).to.deep.equal([...['main.ts', 'tool.py']]);
    expect(ask({ operation: 'hubs', limit: 1 }).hubs).to.have.length(1);
    const { modules, dependencies, diagram } = ask({ operation: 'architecture' });
    expect(modules.find(({ name }) => name === 'cart.ts')).to.deep.include({
      imports: 2,
      imported_by: 1,
    });
    expect(names(dependencies)).to.deep.equal(['koa']);
    expect(diagram).to.include('-->|imports|');
    expect(ask({ operation: 'insights' }).insights).to.deep.equal([]);
    expect(ask({ operation: 'delta' }).repositories).to.deep.equal([]);
    expect(ask({ operation: 'capabilities' }).kinds).to.deep.equal({ module: 6, symbol: 7, dependency: 1 });
    expect(compactJson({ b: [{ d: 1, c: 2 }], a: null })).to.equal('{"a":null,"b":[{"c":2,"d":1}]}');
  });
});
