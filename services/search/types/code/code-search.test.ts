import { expect } from 'chai';
import { codeGraphOf } from '../../../../test/support/code-graph-of.ts';
import { cpuTimeMs, expectQuick } from '../../../../test/support/cpu-time.ts';
import type { EngramError } from '../../../common/kernel/errors.ts';
import type { JsonObject } from '../../../common/kernel/json.ts';
import { buildCodeGraph, type CodeGraph } from './code-graph.ts';
import { answerFrom, compactJson } from './code-search.ts';

const SHOP: Readonly<Record<string, string>> = {
  'src/main.ts': `import Koa from 'koa';
import { Cart } from './cart/index.ts';
import { write } from './log/index.js';
const app = new Koa();
export function start() {
  const cart = new Cart();
  write(String(cart.add(1)));
}
app.get('/orders', start);
app.post('/orders', (request) => {
  write(request);
});
const answer = await client.get('/elsewhere', start);`,
  'src/cart/index.ts': `import { priceOf as price } from '../price';
export class Cart {
  #sum = 0;
  add(count: number) {
    this.#sum += price(count);
    return this.sum();
  }
  sum() {
    return this.#sum;
  }
}`,
  'src/log/index.ts': 'export function write(text: string) {}',
  'src/price.ts': `/** priceOf says import { x } from './main'. */
export const UNIT = 3;
export function priceOf(count: number): number {
  return UNIT * count;
}`,
  'tools/report.py': `from flask import Flask
from . import shapes
from .shapes import Square
app = Flask(__name__)
@app.route("/report/<day>", methods=["GET", "PUT"])
def report(day):
    return shapes.area(Square(day))`,
  'tools/shapes.py': `class Square:
    def __init__(self, side):
        self.side = check(side)
def check(side):
    return side
def perimeter(shape):
    return 4 * shape.side
def area(shape):
    return shape.side`,
  'go/main.go': 'package main\nfunc main() { helper() }',
  'go/help.go': 'package main\nfunc helper() {}',
  'notes.kt': 'import a.b.C\n\nfun run() {}',
};

interface Fact {
  readonly name: string;
  readonly file?: string;
  readonly line?: number;
  readonly properties?: JsonObject;
  readonly relations?: readonly { readonly target: string }[];
}

/** The keys that the tests read of the results. */
interface Answer extends Record<'facts' | 'nodes' | 'path' | 'hits' | 'hubs', readonly Fact[]> {
  readonly operation: string;
  readonly total: number;
  readonly focus: Fact;
  readonly stats: JsonObject;
  readonly answer: string;
  readonly citations: readonly { readonly cite: string; readonly why: string }[];
  readonly by_depth: Readonly<Record<string, readonly Fact[]>>;
  readonly summary: string;
  readonly neighbors: readonly { readonly relation: string; readonly direction: string; readonly node: Fact }[];
  readonly found: boolean;
  readonly diagram: { readonly format: string; readonly source: string };
  readonly flows: readonly { readonly name: string; readonly summary: string }[];
}

describe('the search of code', () => {
  let graph: CodeGraph;
  before(async () => {
    graph = await codeGraphOf(SHOP);
  });

  function ask(codeQuery: JsonObject | null, words = '') {
    return answerFrom(graph, codeQuery, words) as unknown as Answer;
  }

  function names(facts: readonly { readonly name: string }[]) {
    return facts.map(({ name }) => name);
  }

  function refusal(codeQuery: JsonObject | null, words = '', of = graph) {
    try {
      answerFrom(of, codeQuery, words);
      return null;
    } catch (error) {
      const { wireName, status, message, extra } = error as EngramError;
      return { wireName, status, message, ...extra };
    }
  }

  it('tells files of one name apart, and follows imports by their paths', () => {
    const { facts } = ask({ operation: 'query_facts', kind: 'module', name: 'index' });
    expect(names(facts)).to.deep.equal(['src/cart/index.ts', 'src/log/index.ts']);
    const [main] = ask({ operation: 'query_facts', names: ['src/main.ts'], relation: 'import' }).facts;
    const targets = main?.relations?.map(({ target }) => target);
    expect(targets).to.deep.equal(['src/cart/index.ts', 'src/log/index.ts', 'koa']);
    const { facts: packages } = ask({ operation: 'query_facts', kind: 'dependency' });
    expect(names(packages)).to.deep.equal(['a.b.C', 'flask', 'koa']);
  });

  it('knows where definitions stand, with the members of classes', () => {
    const [add] = ask({ operation: 'query_facts', names: ['cart.add'] }).facts;
    const place = { kind: 'symbol', symbol_kind: 'method', file: 'src/cart/index.ts', line: 4, repo: 'shop' };
    expect(add).to.deep.include(place);
    expect(ask({ name: 'src/price.ts:priceOf' }).focus).to.deep.include({ name: 'priceOf', line: 3 });
    expect(ask(null, 'Where is UNIT defined?').answer).to.equal(
      'UNIT (variable, src/price.ts:2): used by priceOf (src/price.ts:4).',
    );
  });

  it('finds callers and callees through aliases, members, folders and packages', () => {
    const callers = (name: string) =>
      ask({ operation: 'neighbors', name, direction: 'reverse', relation: 'calls' }).neighbors.map(
        ({ node }) => node.name,
      );
    expect(callers('priceOf')).to.deep.equal(['Cart.add']);
    expect(callers('Cart.sum')).to.deep.equal(['Cart.add']);
    expect(callers('Cart.add')).to.deep.equal(['start']);
    expect(callers('write')).to.deep.equal(['POST /orders', 'start']);
    expect(callers('area')).to.deep.equal(['report']);
    expect(callers('Square')).to.deep.equal(['report']);
    expect(callers('check')).to.deep.equal(['Square.__init__']);
    expect(callers('helper')).to.deep.equal(['main']);
  });

  it('finds what a change reaches by uses, and by imports where no use is known', () => {
    const { by_depth, summary } = ask({ operation: 'impact_analysis', name: 'priceOf' });
    expect(Object.values(by_depth).map(names)).to.deep.equal([
      ['Cart.add'],
      ['start'],
      ['/orders', 'src/main.ts', 'answer'],
    ]);
    expect(summary).to.equal('5 depend on priceOf: 1 directly, 4 through others, in 2 files.');
    const { answer } = ask(null, 'What breaks if I change priceOf?');
    expect(answer).to.include('called by Cart.add (src/cart/index.ts:5)').and.include(summary);
    expect(
      ask({ operation: 'impact_analysis', name: 'src/price.ts' }).by_depth['1']?.map(({ name }) => name),
    ).to.deep.equal(['src/cart/index.ts']);
    const unused = ask({ operation: 'impact_analysis', name: 'perimeter' });
    expect(names(unused.by_depth['2'] ?? [])).to.deep.equal(['tools/report.py']);
    expect(unused.summary).to.include('No use of it is known');
  });

  it('knows routes with their methods and handlers, and takes no request of a client for one', () => {
    const { facts } = ask({ operation: 'query_facts', kind: 'route' });
    const shown = facts.map(({ name, line, properties }) => `${properties?.['method']} ${name} ${line}`);
    expect(shown).to.have.members(['GET /orders 9', 'POST /orders 10', 'GET /report/<day> 5', 'PUT /report/<day> 5']);
    const { path } = ask({ operation: 'find_path', source: 'GET /orders', target: 'priceOf' });
    expect(names(path)).to.deep.equal(['/orders', 'start', 'Cart.add', 'priceOf']);
    expect(ask(null, 'Which routes are there?').answer).to.include('PUT /report/<day> (tools/report.py:5)');
    const { flows } = ask({ operation: 'flows', limit: 2 });
    expect(flows[0]?.summary).to.equal('src/main.ts:5 start reaches Cart, Cart.add, write, Cart.sum, priceOf.');
  });

  it('walks in a direction, through what is not asked for, and stops at the limit', () => {
    const symbols = ask({
      operation: 'traverse',
      start: 'src/main.ts',
      node_types: 'symbol',
      relation: 'imports,defines',
    });
    expect(symbols.nodes).to.be.an('array');
    const cut = ask({ operation: 'traverse', start: 'src/main.ts', max_nodes: 2 });
    expect(cut.nodes).to.have.length(2);
    expect(cut.stats['truncated']).to.equal(true);
    const back = ask({ operation: 'traverse', start: 'koa', direction: 'reverse' });
    expect(names(back.nodes)).to.deep.equal(['koa', 'src/main.ts']);
    const none = ask({ operation: 'find_path', from: 'koa', to: 'src/main.ts', diagram: 'dot' });
    expect(none).to.deep.include({ found: false, path: [] });
    expect(ask({ operation: 'explore', name: 'start', diagram: true }).diagram.source).to.match(
      /^flowchart LR\n {2}n0/u,
    );
  });

  it('resolves a name exactly, then as a short name, then as a part, and refuses what stays open', () => {
    expect(ask({ name: 'CART' }).focus.name).to.equal('Cart');
    expect(ask({ name: 'sum' }).focus.name).to.equal('Cart.sum');
    expect(ask({ name: 'elpe' }).focus.name).to.equal('helper');
    const common = { wireName: 'CodeSearchValidationError', status: 422 };
    expect(refusal({ name: 'index' })).to.deep.include({ ...common, code: 'ambiguous', param: 'name' });
    expect(refusal({ name: 'index' })?.message).to.include('Candidates: src/cart/index.ts [src/cart/index.ts, id=');
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

  it('follows headers that all include each other in reasonable time', () => {
    const paths = Array.from({ length: 40 }, (_, at) => `h${at}.h`);
    const files = paths.map((path, at) => ({
      path,
      repo: null,
      facts: {
        language: 'c',
        imports: paths.map((other) => ({ path: other, line: 1, names: [['*', '*']] as const })),
        definitions: [{ name: `f${at}`, kind: 'function', line: 2, endLine: 3 }],
        uses: [...paths.keys()].flatMap((other) => [
          [0, `f${other}`, 2, true] as const,
          [0, `printf${other}`, 2, true] as const,
        ]),
        routes: [],
      },
    }));
    const start = cpuTimeMs();
    const linked = buildCodeGraph(files);
    expectQuick(cpuTimeMs() - start, 2000);
    const calls = [...linked.edges.keys()].filter(({ type }) => type === 'calls');
    expect(calls).to.have.length(40 * 39);
  });

  it('says that a dataset holds no code, where there is nothing to answer from', () => {
    const empty = buildCodeGraph([]);
    for (const operation of ['ask', 'flows']) {
      expect(refusal({ operation }, 'x', empty)).to.deep.include({ status: 422, code: 'no_code_graph' });
    }
    expect(refusal({ operation: 'explore' }, 'x', empty)).to.deep.include({ status: 422, code: 'not_found' });
    expect(answerFrom(empty, { operation: 'hubs' }, '')).to.deep.equal({
      operation: 'hubs',
      hubs: [],
      total: 0,
      limit: 20,
    });
  });

  it('surveys the whole with counts, hubs and the most fitting names', () => {
    expect(names(ask({ operation: 'search' }, 'price').hits)[0]).to.equal('src/price.ts');
    expect(ask({ operation: 'hubs', limit: 1 }).hubs).to.have.length(1);
    expect(ask({ operation: 'architecture' }).diagram.source).to.include('-->|imports|');
    expect(ask({ operation: 'insights' })).to.deep.include({ insights: [], total: 0, by_source: {} });
    expect(ask({ operation: 'delta' })).to.deep.equal({ operation: 'delta', repositories: [] });
    expect(ask({ operation: 'capabilities' })).to.have.nested.property('kinds.route', 4);
    expect(compactJson({ b: [{ d: 1, c: 2 }], a: null })).to.equal('{"a":null,"b":[{"c":2,"d":1}]}');
  });
});
