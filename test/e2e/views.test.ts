import { expect } from 'chai';
import { WebSocket } from 'ws';
import { signUp } from '../support/accounts.ts';
import { type StartedApp, startApp } from '../support/start-app.ts';
import { until } from '../support/until.ts';
import type { Wire } from '../support/wire.ts';

type Frame = Readonly<Record<string, unknown>> & { readonly kind: string };

describe('views of a graph that follow what happens', () => {
  let app: StartedApp;
  let ada: { readonly token: string; readonly wire: Wire };
  let bob: { readonly token: string; readonly wire: Wire };
  let dataset = '';

  before(async () => {
    app = await startApp({ REQUIRE_AUTHENTICATION: 'true' });
    ada = await signUp(app.baseUrl, 'ada');
    bob = await signUp(app.baseUrl, 'bob');
    dataset = (await add('Grace Hopper worked at Harvard University. She invented the compiler in 1952.')).dataset_id;
  });
  after(() => app.stop());

  const add = async (data: string) => {
    const { json } = await ada.wire.post('/add', { data, datasetName: 'pioneers' });
    expect((await ada.wire.post('/cognify', { datasets: ['pioneers'] })).status).to.equal(200);
    return json;
  };
  const ask = (query: string) =>
    ada.wire.post('/recall', { query, datasets: ['pioneers'], searchType: 'GRAPH_COMPLETION', sessionId: 'talk' });

  function subscribe(id: string, token: string) {
    const frames: Frame[] = [];
    const url = `${app.baseUrl.replace('http', 'ws')}/api/v1/visualize/subscribe/${id}`;
    const socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` } });
    socket.on('message', (data) => frames.push(JSON.parse(String(data)) as Frame));
    const closed = new Promise<string>((resolve) => socket.on('close', (code, reason) => resolve(`${code} ${reason}`)));
    return { frames, closed, close: () => socket.close() };
  }

  it('send questions and growth over the WebSocket, to those who may read', async () => {
    const { frames, closed, close } = subscribe(dataset, ada.token);
    const frameOf = (kind: string) => frames.find((frame) => frame.kind === kind);
    const sent = (kind: string) => until(`a frame ${kind}`, () => frameOf(kind));
    await sent('ready');
    expect(frames).to.deep.equal([{ kind: 'ready', dataset_id: dataset, cursor: null }]);
    await ask('Who invented the compiler?');
    await add('Ada Lovelace wrote the first program in London.');
    await sent('graph_grew');
    const live = frameOf('live_events') as unknown as { events: Frame[]; cursor: string };
    expect(live.events).to.have.length(1);
    expect(live.events[0]).to.include({ question: 'Who invented the compiler?', kind: 'search' });
    expect(frames.filter(({ kind }) => kind === 'live_events')).to.have.length(1);
    close();
    await closed;
    expect(await subscribe(dataset, bob.token).closed).to.equal('1008 Not authorized to read this dataset');
    expect(await subscribe(dataset, 'nobody').closed).to.equal('1008 Unauthorized');
    expect(await subscribe('x', ada.token).closed).to.equal('1008 Invalid dataset id');
  });

  it('come as events on request, and close when the permission is revoked or too many are open', async () => {
    const path = `${app.baseUrl}/api/v1/visualize/json?dataset_id=${dataset}&stream=true`;
    const headers = { authorization: `Bearer ${ada.token}` };
    const text = await (await fetch(path, { headers })).text();
    expect(text)
      .to.match(/^event: meta\n/u)
      .and.to.match(/event: summary\ndata: \{"color_maps":\{"node_set":/u);
    expect(text).to.match(/event: done\ndata: .*\n\n$/u);
    const { id: bobId } = (await bob.wire.get('/users/me')).json;
    const grant = `/permissions/datasets/${bobId}?permission_name=read`;
    expect((await ada.wire.post(grant, [dataset])).status).to.equal(200);
    const { frames, closed } = subscribe(dataset, bob.token);
    await until('a frame', () => frames[0]);
    expect((await ada.wire.remove(grant, [dataset])).status).to.equal(200);
    expect(await closed).to.equal('1008 Not authorized to read this dataset');
    const open = Array.from({ length: 33 }, () => subscribe(dataset, ada.token));
    expect(await Promise.race(open.map((socket) => socket.closed))).to.equal('1013 Too many sockets are open');
    for (const { close } of open) close();
  });

  it('show what a rating changed once improve has applied it', async () => {
    const view = async () => (await ada.wire.get(`/visualize/json?dataset_id=${dataset}&full=true`)).json;
    const { qa_id: id, node_ids: used } = (await view()).search_events[0];
    const entry = { type: 'feedback', qa_id: id, feedback_text: 'right', feedback_score: 5 };
    await ada.wire.post('/remember/entry', { entry, session_id: 'talk', dataset_id: dataset });
    const rating = { qa_id: id, kind: 'improve', rating: 5, feedback_text: 'right' };
    expect((await view()).search_events[1]).to.include({ ...rating, applied: false });
    await ada.wire.post('/improve', { datasetId: dataset, sessionIds: ['talk'] });
    const { search_events: events, nodes, schema_graph: schema } = await view();
    expect(events[1]).to.include({ ...rating, applied: true });
    const weights = new Map<string, number>(nodes.map((node: Frame) => [node['id'], node['feedback_weight']]));
    expect(weights.get(used[0])).to.be.greaterThan(0.5);
    const observed = schema.operation_links.filter((link: Frame) => link['observed']);
    expect(observed.map(({ source }: Frame) => source)).to.include('op:feedback_weights');
  });

  it('show administrators the whole tenant, and members what they may read; memory to nobody else', async () => {
    const { tenant_id: tenant } = (await ada.wire.post('/permissions/tenants?tenant_name=acme')).json;
    const { id: bobId } = (await bob.wire.get('/users/me')).json;
    await ada.wire.post(`/permissions/users/${bobId}/tenants?tenant_id=${tenant}`);
    const ids: string[] = [];
    for (const { wire } of [ada, bob]) {
      await wire.post('/permissions/tenants/select', { tenant_id: tenant });
      const data = `${wire === ada.wire ? 'Hypatia taught in Alexandria' : 'Emmy Noether taught in Erlangen'}.`;
      const { json } = await wire.post('/add', { data, datasetName: 'own' });
      ids.push(json.dataset_id);
      expect((await wire.post('/cognify', { datasets: ['own'] })).status).to.equal(200);
    }
    const seen = async (wire: Wire) => {
      const { json } = await wire.get('/schema/provenance/json?include_memory=true');
      const nodes = new Set<string>(json.nodes.map(({ id }: { id: string }) => id));
      const names = json.nodes.map(({ name }: { name: string }) => name);
      return [
        ...ids.map((id) => nodes.has(`dataset:${id}`)),
        nodes.has(`user:${bobId}`),
        ...['Hypatia', 'Emmy Noether'].map((name) => names.includes(name)),
      ];
    };
    expect(await seen(ada.wire)).to.deep.equal([true, true, true, true, false]);
    expect(await seen(bob.wire)).to.deep.equal([false, true, true, false, true]);
  });
});
