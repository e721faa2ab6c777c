import { expect } from 'chai';
import { block, type FakeBlock, startFakeNotion, text } from '../../support/fake-notion.ts';
import { connectAccount, settled, textsOf } from '../../support/source-steps.ts';
import { type StartedApp, startApp } from '../../support/start-app.ts';
import { until } from '../../support/until.ts';
import { createWire, type Wire } from '../../support/wire.ts';

type Notion = Awaited<ReturnType<typeof startFakeNotion>>;

const row = (...cells: string[]): FakeBlock => ({
  type: 'table_row',
  value: { cells: cells.map((cell) => (cell === '' ? [] : [text(cell)])) },
});

/** Everything that a page is made of. */
const HANDBOOK: FakeBlock[] = [
  block('heading_1', 'The engine'),
  block('paragraph', 'The Analytical Engine was designed by Charles Babbage.'),
  block('bulleted_list_item', 'Mill', {}, [block('bulleted_list_item', 'Gears')]),
  block('bulleted_list_item', 'Store'),
  block('numbered_list_item', 'Oil it.'),
  block('numbered_list_item', 'Turn it.'),
  block('to_do', 'Order brass', { checked: true }),
  block('quote', 'It weaves algebraic patterns.'),
  block('code', 'turn();', { language: 'javascript', caption: [] }),
  {
    type: 'table',
    value: { table_width: 2, has_column_header: true, has_row_header: false },
    children: [row('Part', 'Count'), row('Gear|wheel', '12'), row('Axle', '')],
  },
  { type: 'paragraph', value: { rich_text: [text('See '), text('the notes', { href: 'https://notes.test/' })] } },
  {
    type: 'image',
    value: { type: 'file', file: { url: 'https://s3.test/?X-Amz-Signature=1' }, caption: [text('A gear')] },
  },
];

describe('Notion', () => {
  let notion: Notion;
  let app: StartedApp;
  let wire: Wire;
  const start = async (variables: Record<string, string>) => {
    app = await startApp(variables);
    wire = createWire(app.baseUrl);
  };
  beforeEach(async () => {
    notion = await startFakeNotion();
  });
  afterEach(async () => {
    await app.stop();
    await notion[Symbol.asyncDispose]();
  });

  it('is signed in at, and gives pages as Markdown, pages below them, and rows with their properties', async () => {
    await start(notion.variables);
    const handbook = notion.page('Handbook', HANDBOOK);
    const column = { type: 'column', value: {}, id: 'column-1', children: [block('paragraph', 'Left.')] };
    handbook.blocks.push({ type: 'column_list', value: {}, children: [column] });
    const below = { parent: { type: 'block_id' as const, block_id: 'column-1' } };
    const lamps = notion.page('Lamps', [block('paragraph', 'Lamps flicker on Mondays.')], below);
    const parts = notion.database('Parts', { type: 'page_id', page_id: lamps.id });
    const named = (name: string) => ({ id: 'x', name, color: 'blue' });
    for (let number = 1; number <= 105; number += 1) {
      notion.page(`Part ${number}`, number === 1 ? [block('paragraph', 'Made in Sheffield.')] : [], {
        parent: parts.row,
        properties: {
          Status: { id: 's', type: 'status', status: named('In stock') },
          Tags: { id: 't', type: 'multi_select', multi_select: [named('brass'), named('round')] },
          Weight: { id: 'w', type: 'number', number: number },
          Due: { id: 'd', type: 'date', date: { start: '2026-03-01', end: null, time_zone: null } },
          Used: { id: 'u', type: 'checkbox', checkbox: true },
          Section: { id: 'r', type: 'relation', relation: [{ id: handbook.id }], has_more: false },
          Note: { id: 'n', type: 'rich_text', rich_text: [] },
        },
      });
    }
    expect(await connectAccount(app.baseUrl, 'notion', notion.install)).to.equal(
      'http://console.test/integrations?notion=connected',
    );
    const state = await settled(wire, 'notion');
    expect(state).to.include({ syncStatus: 'ok', accountLabel: 'Acme Wiki', datasetName: 'notion_acme_wiki' });
    const texts = await textsOf(wire, state['datasetId']);
    expect(texts.size).to.equal(107);
    expect(texts.get('Handbook')).to.equal(
      [
        ...['# Handbook', '', '## The engine', '', 'The Analytical Engine was designed by Charles Babbage.', ''],
        ...['- Mill', '  - Gears', '- Store', '1. Oil it.', '2. Turn it.', '- [x] Order brass', ''],
        ...['> It weaves algebraic patterns.', '', '```javascript', 'turn();', '```', ''],
        ...['| Part | Count |', '| --- | --- |', '| Gear\\|wheel | 12 |', '| Axle |  |', ''],
        ...['See [the notes](https://notes.test/)', '', 'A gear', '', 'Left.'],
      ].join('\n'),
    );
    expect(texts.get('Part 1')).to.equal(
      '# Part 1\n\nDatabase: Parts\nStatus: In stock\nTags: brass, round\nWeight: 1\nDue: 2026-03-01\nUsed: yes\nSection: Handbook\n\nMade in Sheffield.',
    );
    const { json } = await wire.get('/integrations/notion/resources');
    expect(
      json.resources.map((one: { name: string }) => one.name),
      'what is below something else is not chosen',
    ).to.deep.equal(['Handbook']);
    expect(
      notion.requests.filter((line) => line.startsWith('GET /v1/pages')),
      'pages and rows come with their lists',
    ).to.deep.equal([]);
    await until('an answer', async () => {
      const asked = { query: 'Who designed the Analytical Engine?', search_type: 'CHUNKS' };
      return JSON.stringify((await wire.post('/search', asked)).json).includes('Babbage');
    });
  });

  it('follows webhooks: changed, new, trashed pages, and what is not shared any more', async () => {
    await start(notion.variables);
    const engine = notion.page('Engine', [block('paragraph', 'It stops.')]);
    const lamp = notion.page('Lamp', [block('paragraph', 'It flickers.')]);
    const wheel = notion.page('Wheel', [block('paragraph', 'It squeaks.')]);
    await connectAccount(app.baseUrl, 'notion', notion.install);
    let state = await settled(wire, 'notion');
    Object.assign(engine, { blocks: [block('paragraph', 'It runs.')], edited: '2026-02-01T10:00:00.000Z' });
    lamp.inTrash = true;
    notion.pages.delete(wheel.id);
    notion.page('Belt', [block('paragraph', 'It slips.')]);
    const event = { type: 'page.content_updated', entity: { id: engine.id, type: 'page' }, data: {} };
    expect((await notion.deliver(app.baseUrl, event)).status).to.equal(200);
    state = await settled(wire, 'notion', state['lastSyncedAt']);
    const texts = await textsOf(wire, state['datasetId']);
    expect([...texts.keys()].toSorted()).to.deep.equal(['Belt', 'Engine']);
    expect(texts.get('Engine')).to.contain('It runs.');
    const forged = await notion.deliver(app.baseUrl, event, 'secret_of_somebody_else');
    expect([forged.status, await forged.json()]).to.deep.equal([401, { detail: 'Invalid Notion signature' }]);
  });

  it('is connected with the secret of an internal integration, without settings of the server', async () => {
    await start({ ENGRAM_NOTION_URL: notion.url });
    notion.page('Engine', [block('paragraph', 'It stops.')]);
    const authorize = await wire.post('/integrations/notion/authorize');
    expect([authorize.status, authorize.json]).to.deep.equal([
      400,
      { detail: 'notion is connected with the secret of an internal integration: POST /integrations/notion/connect.' },
    ]);
    for (const [address, said] of [
      ['https://www.notion.so/page', 'begins with ntn_'],
      ['ntn_00000000000000', 'Notion does not accept the secret'],
    ]) {
      const refused = await wire.post('/integrations/notion/connect', { address });
      expect(refused.status).to.equal(400);
      expect(JSON.stringify(refused.json)).to.contain(said);
    }
    const secret = notion.secret();
    const connected = await wire.post('/integrations/notion/connect', { address: ` ${secret}\n` });
    expect(connected.json).to.include({ connected: true, accountLabel: 'Acme Wiki' });
    expect(JSON.stringify(connected.json)).not.to.contain(secret);
    const state = await settled(wire, 'notion');
    expect(state).to.include({ syncStatus: 'ok', storedItems: 1 });
    const offered = await fetch(`${app.baseUrl}/api/v1/integrations/notion/events`, {
      method: 'POST',
      body: JSON.stringify({ verification_token: notion.webhookSecret }),
    });
    expect(offered.status, 'the webhook is being set up').to.equal(200);
    notion.tokens.clear();
    await wire.post('/integrations/notion/sync');
    const ended = await settled(wire, 'notion', state['lastSyncedAt']);
    expect(ended).to.deep.equal({
      connected: false,
      error: 'Notion no longer accepts the connection: it was removed from the workspace. Connect it again.',
    });
  });

  it('waits as long as Notion asks: seconds within the import, longer times between imports', async () => {
    await start(notion.variables);
    for (let number = 1; number <= 8; number += 1)
      notion.page(`Page ${number}`, [block('paragraph', `Text ${number}.`)]);
    notion.state.remaining = 4;
    await connectAccount(app.baseUrl, 'notion', notion.install);
    let state = await settled(wire, 'notion');
    expect(state).to.include({ syncStatus: 'ok', storedItems: 8 });
    Object.assign(notion.state, { remaining: 0, retryAfterSeconds: 120 });
    await wire.post('/integrations/notion/sync');
    await until('the wait', async () => {
      state = (await wire.get('/integrations/notion/connection')).json;
      return state['waitingUntil'] !== undefined;
    });
    expect(Date.parse(String(state['waitingUntil'])) - Date.now()).to.be.greaterThan(100_000);
  });
});
