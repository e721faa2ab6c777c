import { expect } from 'chai';
import { makeZip } from '../../services/common/text/documents/fixtures/make-office.ts';
import { type StartedApp, startApp } from '../support/start-app.ts';
import { createWire } from '../support/wire.ts';

const SHOP = {
  'main.ts':
    "import { Cart } from './cart.ts';\nimport Koa from 'koa';\n\nexport function start() {\n  return new Koa(new Cart());\n}\n",
  'cart.ts':
    "import { priceOf } from './price.ts';\n\nexport class Cart {\n  total() {\n    return priceOf(1);\n  }\n}\n",
  'price.ts':
    "export type Unit = 'piece' | 'kilo';\n\n/** priceOf tells the price. */\nexport async function priceOf(count: number) {\n  return 3 * count;\n}\n",
};
const TOOLS = {
  'report.py': 'from helper import shorten\n\ndef report(text):\n    return shorten(text)\n',
  'helper.py': 'def shorten(text):\n    return text[:9]\n',
};

interface Fact {
  readonly name: string;
  readonly kind: string;
  readonly symbol_kind?: string;
}

interface Result extends Readonly<Record<'nodes' | 'path' | 'facts', readonly Fact[]>> {
  readonly operation: string;
  readonly focus: Fact;
  readonly by_depth: Readonly<Record<string, readonly Fact[]>>;
}

describe('code in memory, without a model', () => {
  let app: StartedApp;
  before(async () => {
    app = await startApp();
    await remember('shop', SHOP);
    await remember('tools', TOOLS);
    await remember('notes', { 'notes.md': '# Trip\n\nAnna defines the route. Lyon imports silk.' });
  });
  after(() => app.stop());

  async function post(path: string, body: object) {
    const { status, json } = await createWire(app.baseUrl).post(path, body);
    return { status, body: json as unknown };
  }

  async function remember(dataset: string, files: Readonly<Record<string, string>>) {
    const form = new FormData();
    for (const [name, content] of Object.entries(files)) form.append('data', new Blob([content]), name);
    form.append('datasetName', dataset);
    expect((await fetch(`${app.baseUrl}/api/v1/add`, { method: 'POST', body: form })).status).to.equal(200);
    expect((await post('/cognify', { datasets: [dataset] })).status).to.equal(200);
  }

  const search = (query: string, codeQuery: object | null, datasets = ['shop']) =>
    post('/search', { query, searchType: 'CODE', datasets, code_query: codeQuery });

  async function result(query: string, codeQuery: object | null = null, datasets = ['shop']) {
    const { status, body } = await search(query, codeQuery, datasets);
    expect(status, JSON.stringify(body)).to.equal(200);
    return (body as { readonly search_result: Result }[])[0]?.search_result as Result;
  }

  const names = (facts: readonly Fact[]) => facts.map(({ name }) => name);

  it('is added as one archive, whose bad files are refused alone, and known under the paths in it', async () => {
    const archive = makeZip({
      'shop/src/cart.ts': "import { totalOf } from './money';\nexport const sum = () => totalOf();\n",
      'shop/src/money.ts': 'function total() {\n  return 1;\n}\nexport { total as totalOf };\n',
      'shop/inner.zip': makeZip({ 'a.txt': 'hello' }),
    });
    const form = new FormData();
    form.append('data', new Blob([archive as Uint8Array<ArrayBuffer>]), 'shop.zip');
    form.append('external_metadata', JSON.stringify([{ source_path: 'downloads/shop.zip', team: 'web' }]));
    form.append('datasetName', 'packed');
    const added = await fetch(`${app.baseUrl}/api/v1/add`, { method: 'POST', body: form });
    const { data_ingestion_info: items, refused } = (await added.json()) as {
      readonly data_ingestion_info: readonly unknown[];
      readonly refused: readonly { readonly name: string; readonly index: number }[];
    };
    expect(items).to.have.length(2);
    expect(refused.map(({ name, index }) => [name, index])).to.deep.equal([['inner.zip', 0]]);
    expect((await post('/cognify', { datasets: ['packed'] })).status).to.equal(200);
    const { body } = await post('/search', { query: 'Who calls totalOf?', datasets: ['packed'] });
    expect(JSON.stringify(body)).to.include('shop/src/money.ts:1) is called by sum (shop/src/cart.ts:2)');
  });

  it('is explored from a name', async () => {
    const { operation, focus, nodes } = await result('cart');
    expect(operation).to.equal('explore');
    expect(focus).to.deep.include({ name: 'Cart', kind: 'symbol', symbol_kind: 'class' });
    expect(names(nodes)).to.have.members(['Cart', 'cart.ts', 'Cart.total', 'start']);
  });

  it('tells what a change reaches, and the way from one to another', async () => {
    const { by_depth } = await result('priceOf', { operation: 'impact_analysis' });
    expect(Object.values(by_depth).map(names)).to.deep.equal([['Cart.total']]);
    const { path } = await result('', { operation: 'find_path', source: 'main.ts', target: 'priceOf' });
    expect(path).to.have.length(4);
    expect(path.at(-1)).to.deep.include({ name: 'priceOf', symbol_kind: 'function' });
    const python = await result('helper.py', { operation: 'impact_analysis' }, ['tools']);
    expect(Object.values(python.by_depth).map(names)).to.deep.equal([['report.py']]);
  });

  it('knows the packages, and takes neither quoted words nor prose for code', async () => {
    expect(names((await result('', { operation: 'query_facts', kind: 'dependency' })).facts)).to.deep.equal(['koa']);
    expect((await result('', { operation: 'query_facts' }, ['notes'])).facts).to.deep.equal([]);
  });

  it('is refused for a name that nothing or more than one thing has, unless another dataset knows it', async () => {
    const unknown = await search('nothing_like_it', null);
    expect(unknown).to.deep.equal({
      status: 422,
      body: {
        detail: "CODE could not resolve explore seed name 'nothing_like_it'. [CodeSearchValidationError]",
        code: 'not_found',
        param: 'name',
      },
    });
    const { status, body } = await search('.ts', null);
    expect([status, (body as { code: string }).code]).to.deep.equal([422, 'ambiguous']);
    const both = (await search('helper.py', null, ['shop', 'tools'])).body as { search_result: object }[];
    expect(both[0]?.search_result).to.deep.include({ seed_not_found: true, code: 'not_found', param: 'name' });
    expect(both[1]?.search_result).to.have.nested.property('focus.name', 'helper.py');
  });

  it('answers questions about its names by default and in recall, where no prose does', async () => {
    const asked = async (path: string, query: string, datasets: readonly string[] = ['shop', 'notes']) => {
      const { body } = await post(path, { query, datasets });
      const answers = (body as readonly { readonly search_result?: unknown; readonly text?: string }[]) ?? [];
      return JSON.stringify(answers.map((one) => one.text ?? one.search_result ?? one));
    };
    for (const path of ['/search', '/recall']) {
      expect(await asked(path, 'Where is priceOf defined?')).to.include(
        '`priceOf` (function) is defined in price.ts:4.',
      );
      const callers = await asked(path, 'Who calls `priceOf()`?');
      expect(callers).to.include('`priceOf` (function, price.ts:4) is called by Cart.total (cart.ts:5).');
      expect(await asked(path, 'What imports cart.ts?')).to.include('is imported by main.ts:1.');
      expect(await asked(path, 'Who imports silk?', ['notes'])).to.include('Lyon');
    }
    expect(await asked('/search', 'Where is nothingLikeIt defined?')).to.include('Nothing in memory');
  });

  it('is recalled in the scope code, where it is known', async () => {
    const asked = {
      query: 'helper.py',
      scope: 'code',
      datasets: ['shop', 'tools'],
      codeQuery: { operation: 'neighbors' },
    };
    const items = (await post('/recall', asked)).body as Record<string, unknown>[];
    expect(items).to.have.length(1);
    expect(items[0]).to.deep.include({ kind: 'code', search_type: 'CODE', dataset_name: 'tools', source: 'graph' });
    expect(items[0]).to.have.nested.property('raw.anchor.name', 'helper.py');
    expect((await post('/recall', { ...asked, query: 'nothing_like_it' })).body).to.deep.equal([]);
  });
});
