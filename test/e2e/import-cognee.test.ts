import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { freePort } from '../support/engram-process.ts';
import { packedTar } from '../support/packed-tar.ts';
import { runCommand } from '../support/run-command.ts';
import { type StartedApp, startApp } from '../support/start-app.ts';
import { createWire, type Wire } from '../support/wire.ts';

function chunkLine(document: string, text: string): string {
  return `${JSON.stringify({ type: 'DocumentChunk', id: document, document_id: document, chunk_index: 0, text })}\n`;
}

/** The source is an Engram: it speaks the API of cognee, which every other test of the contract asserts. */
describe('engram import-cognee', () => {
  let source: StartedApp;
  let target: StartedApp;
  let there: Wire;
  let here: Wire;

  before(async () => {
    [source, target] = await Promise.all([startApp(), startApp()]);
    there = createWire(source.baseUrl);
    here = createWire(target.baseUrl);
    const form = new FormData();
    form.append('datasetName', 'people');
    form.append('data', new Blob(['# Bob\n\nBob plays the guitar in a band from Leeds.\n']), 'bob.md');
    form.append('raw_data', 'Yesterday Carol moved to Paris.');
    form.append('node_set', 'friends');
    form.append('labels', JSON.stringify(['about Bob', null]));
    form.append('external_metadata', JSON.stringify([{ source: 'crm' }, { date: '2024-05-02' }]));
    expect((await there.form('/add', form)).status).to.equal(200);
    await there.upload('work', { name: 'plan.txt', content: 'The release is planned for May.' });
    const turn = { type: 'qa', question: 'Who is Bob?', answer: 'A guitarist.', feedback_score: 5 };
    for (const entry of [turn, { type: 'trace', origin_function: 'lookup', status: 'success' }, turn]) {
      await there.post('/remember/entry', { entry, dataset_name: 'people', session_id: 's1' });
    }
  });
  after(() => Promise.all([source?.stop(), target?.stop()]));

  const engram = (...args: readonly string[]) => runCommand([...args, '--url', target.baseUrl]);

  it('counts what would be brought over, and writes nothing', async () => {
    const { code, out } = await engram('import-cognee', '--from', source.baseUrl, '--dry-run');
    expect(code).to.equal(0);
    expect(out).to.equal('3 items would be brought over, 1 session with 3 new turns\n');
    expect((await here.get('/datasets')).json).to.deep.equal([]);
  });

  it('brings over items with originals, names, labels, tags, metadata and dates, and the sessions', async () => {
    const { code, out, err } = await engram('import-cognee', '--from', source.baseUrl, '--cognify');
    expect(code, err).to.equal(0);
    expect(out).to.contain('3 items brought over, 1 session with 3 new turns');
    const [people] = (await here.get('/datasets')).json.filter(({ name }: { name: string }) => name === 'people');
    const items = (await here.get(`/datasets/${people.id}/data`)).json;
    const bob = items.find(({ name }: { name: string }) => name === 'bob');
    expect(bob).to.include({ label: 'about Bob', datasetId: people.id });
    expect(bob.externalMetadata).to.deep.include({ source: 'crm', node_set: ['friends'] });
    expect(bob.externalMetadata._cognee.source_uri).to.match(/bob\.md$/);
    const raw = await here.get(`/datasets/${people.id}/data/${bob.id}/raw`);
    expect(raw.text).to.equal('# Bob\n\nBob plays the guitar in a band from Leeds.\n');
    const session = (await here.get('/sessions/s1')).json;
    expect(session.dataset_id).to.equal(people.id);
    expect(session.qas.map((turn: { feedback_score: number }) => turn.feedback_score)).to.deep.equal([5, 5]);
    expect(session.traces[0].origin_function).to.equal('lookup');
    const query = { query: 'When did Carol move to Paris?', search_type: 'GRAPH_COMPLETION', datasets: ['people'] };
    expect((await here.post('/search', query)).json[0].search_result[0]).to.match(/1 May 2024|2024-05-01/);
  });

  it('fetches nothing twice when it is given again', async () => {
    const { out } = await engram('import-cognee', '--from', source.baseUrl);
    expect(out).to.equal('0 items brought over, 3 already there, 1 session with 0 new turns\n');
  });

  it('puts the documents of a COGX archive together from their chunks', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'engram-cogx-'));
    try {
      const about = { type: 'DocumentChunk', document_id: 'd1', document_name: 'ada', created_at: 1_714_608_000_000 };
      const external_metadata = JSON.stringify({ _cognee: { source_uri: 'file:///x/ada.md' }, node_set: ['friends'] });
      const nodes = [
        { ...about, id: 'c2', chunk_index: 1, text: 'She lived in London.\n', external_metadata },
        { id: 'e1', type: 'Entity', name: 'ada lovelace' },
        { ...about, id: 'c1', chunk_index: 0, text: 'Ada Lovelace wrote the first program. ', external_metadata },
      ];
      const notes = ["Exported from Cognee dataset 'archived'."];
      const manifest = { cogx_version: '0.1', source_system: 'cognee', counts: { entity: 1, fact: 4 }, notes };
      await writeFile(join(folder, 'manifest.json'), JSON.stringify(manifest));
      await writeFile(join(folder, 'nodes.jsonl'), nodes.map((node) => JSON.stringify(node)).join('\n'));
      const { code, out, err } = await engram('import-cognee', '--from', folder);
      expect(code, err).to.equal(0);
      expect(out).to.equal('1 item brought over\n');
      expect(err).to.contain('not carried over: 1 entities and 4 facts of the archive');
      const dataset = (await here.get('/datasets')).json.find(({ name }: { name: string }) => name === 'archived');
      const [item] = (await here.get(`/datasets/${dataset.id}/data`)).json;
      expect(item.name).to.equal('ada');
      expect(item.externalMetadata).to.include({ imported_from: 'cognee:d1', date: '2024-05-02T00:00:00.000Z' });
      expect((await here.get(`/datasets/${dataset.id}/data/${item.id}/raw`)).text).to.equal(
        'Ada Lovelace wrote the first program. She lived in London.\n',
      );
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('takes an archive as cognee push sends it, once, also in the background', async () => {
    const archive = await packedTar({
      'manifest.json': JSON.stringify({ cogx_version: '0.1', source_system: 'cognee', counts: { entity: 2, fact: 3 } }),
      'nodes.jsonl': `${chunkLine('d1', 'Grace Hopper worked in Arlington.')}{oops\n${chunkLine('d2', 'Alan Turing lived in Wilmslow.')}`,
    });
    const push = (background: boolean) => {
      const form = new FormData();
      form.append('datasetName', 'pushed');
      form.append('content_type', 'cogx-archive');
      form.append('import_mode', 'preserve');
      form.append('run_in_background', String(background));
      form.append('data', new Blob([archive as Uint8Array<ArrayBuffer>]), '/tmp/x/pushed.cogx.tar.gz');
      return here.form('/remember', form);
    };
    const { status, json, text } = await push(false);
    expect(status, text).to.equal(200);
    expect(json.items[0]).to.include({ kind: 'migration_import', mode: 're-derive', skipped_facts: 3 });
    expect(json.refused).to.deep.include({
      index: 2,
      name: 'nodes.jsonl line 2',
      error_class: 'UnreadableFileContentError',
      message: 'The line is no JSON object.',
    });
    expect(json.warnings.join()).to.contain('2 entities and 3 facts of the archive are not carried over');
    expect(json.items_processed).to.equal(2);
    const again = await push(true);
    expect(again.json).to.include({ status: 'started' });
    expect((await here.get('/activity/pipeline-runs?limit=100')).text).to.contain(again.json.pipeline_run_id);
    expect((await here.get(`/datasets/${json.dataset_id}/data`)).json).to.have.length(2);
    const found = await here.post('/search', { query: 'Where did Alan Turing live?', datasets: ['pushed'] });
    expect(found.text).to.contain('Wilmslow');
  });

  it('refuses a folder that is no archive', async () => {
    const { code, err } = await engram('import-cognee', '--from', tmpdir());
    expect(code).to.equal(2);
    expect(err).to.contain('is no COGX archive. It has no manifest.json.');
  });

  it('adds the memories of a mem0 export with dates, metadata and categories, once', async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'engram-mem0-')), 'memories.json');
    const memories = [
      {
        id: 'm1',
        memory: 'Likes green tea.',
        created_at: '2024-05-02T08:00:00-07:00',
        categories: ['food'],
        user_id: 'ann',
      },
      { id: 'm2', memory: '', user_id: 'ann' },
    ];
    await writeFile(file, JSON.stringify({ results: memories }));
    const first = await engram('import-mem0', file, '-d', 'mem0');
    expect(first.out).to.equal('1 item brought over\n');
    expect(first.err).to.contain('not carried over: 1 entries without a text');
    const dataset = (await here.get('/datasets')).json.find(({ name }: { name: string }) => name === 'mem0');
    const [item] = (await here.get(`/datasets/${dataset.id}/data`)).json;
    expect(item.externalMetadata).to.deep.include({ user_id: 'ann', node_set: ['food'], imported_from: 'mem0:m1' });
    expect((await engram('import-mem0', file, '-d', 'mem0')).out).to.equal('0 items brought over, 1 already there\n');
    await rm(dirname(file), { recursive: true });
  });

  it('adds the episodes of Zep with dates and speakers, once', async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'engram-zep-')), 'episodes.json');
    const message = { uuid: 'e1', content: 'I moved to Oslo.', role: 'Ann', thread_id: 't1', source: 'message' };
    const episodes = [
      { ...message, created_at: '2024-05-02T08:00:00Z' },
      { uuid: 'e2', content: 'Bob sells bikes.' },
    ];
    await writeFile(file, JSON.stringify({ episodes }));
    expect((await engram('import-zep', file, '-d', 'zep')).out).to.equal('2 items brought over\n');
    const dataset = (await here.get('/datasets')).json.find(({ name }: { name: string }) => name === 'zep');
    const items = (await here.get(`/datasets/${dataset.id}/data`)).json as { id: string; externalMetadata: object }[];
    const ann = items.find(({ externalMetadata }) => JSON.stringify(externalMetadata).includes('zep:e1'));
    expect(ann?.externalMetadata).to.include({ thread_id: 't1', role: 'Ann', date: '2024-05-02T08:00:00Z' });
    expect((await here.get(`/datasets/${dataset.id}/data/${ann?.id}/raw`)).text).to.equal('Ann: I moved to Oslo.');
    expect((await engram('import-zep', file, '-d', 'zep')).out).to.equal('0 items brought over, 2 already there\n');
    await writeFile(file, '{"facts":[]}');
    expect((await engram('import-zep', file)).err).to.contain('no JSON list of zep (episodes, items or an array)');
  });

  it('names the datasets of the source when the one asked for is not among them', async () => {
    const { code, err } = await engram('import-cognee', '--from', source.baseUrl, '-d', 'peeple');
    expect(code).to.equal(1);
    expect(err).to.contain("There is no dataset 'peeple' at ").and.contain('people');
  });

  it('says that no server answers, and that an address is needed', async () => {
    const address = `http://127.0.0.1:${await freePort()}`;
    const nobody = await engram('import-cognee', '--from', address);
    expect(nobody.code).to.equal(3);
    expect(nobody.err).to.contain(`No server answers at ${address} (--from)`);
    expect((await engram('import-cognee')).code).to.equal(2);
  });
});

describe('engram import-cognee --people', () => {
  it('invites the users of the tenant and gives them their permissions', async () => {
    const [source, target] = await Promise.all([startApp(), startApp()]);
    try {
      const there = createWire(source.baseUrl);
      const here = createWire(target.baseUrl);
      await there.post('/permissions/tenants?tenant_name=acme');
      const ann = (await there.post('/auth/register', { email: 'ann@example.com', password: 'a-long-password-1' }))
        .json;
      const [tenant] = (await there.get('/permissions/tenants/me')).json;
      await there.post(`/permissions/users/${ann.id}/tenants?tenant_id=${tenant.id}`);
      await there.upload('plans', { name: 'plan.txt', content: 'The release is planned for May.' });
      const [plans] = (await there.get('/datasets')).json;
      await there.post(`/permissions/datasets/${ann.id}?permission_name=read`, [plans.id]);
      await here.post('/permissions/tenants?tenant_name=acme');
      const line = ['import-cognee', '--from', source.baseUrl];
      const { code, out, err } = await runCommand([...line, '--people', '--url', target.baseUrl]);
      const told = out + err;
      expect(code, told).to.equal(0);
      expect(told).to.contain('1 item brought over, 1 user, 1 permission');
      const { user_id } = (await here.post('/users/get-user-id', { email: 'ann@example.com' })).json;
      expect(user_id).to.be.a('string');
      const granted = await here.get(`/permissions/principals/${user_id}/datasets?permission_name=read`);
      expect(granted.json.map(({ name }: { name: string }) => name)).to.deep.equal(['plans']);
      const [, token] = /ann@example.com, give this link to them: http\S+\/#reset=(\S+)/.exec(told) ?? [];
      const reset = () => here.post('/auth/reset-password', { token, password: 'a-long-password-2' });
      expect((await reset()).status, told).to.equal(200);
      expect((await reset()).status, 'a link serves once').to.equal(400);
      const body = new URLSearchParams({ username: 'ann@example.com', password: 'a-long-password-2' });
      expect((await fetch(`${target.baseUrl}/api/v1/auth/login`, { method: 'POST', body })).status).to.equal(200);
    } finally {
      await Promise.all([source.stop(), target.stop()]);
    }
  });
});
