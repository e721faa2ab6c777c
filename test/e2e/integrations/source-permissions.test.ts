import { expect } from 'chai';
import { SEARCH_TYPES } from '../../../services/search/search-types.ts';
import { type Account, signUp, verifyAddress } from '../../support/accounts.ts';
import { type FakeRepository, startFakeGithub } from '../../support/fake-github.ts';
import { type StartedApp, startApp } from '../../support/start-app.ts';
import { until } from '../../support/until.ts';
import { createWire, type Wire } from '../../support/wire.ts';

type Github = Awaited<ReturnType<typeof startFakeGithub>>;

/** Words that stand in what Bob may not see, and nowhere else. */
const SECRET = /zanzifar|ponderosa/i;
const QUESTION = 'Who guards the vault of Grace Hopper?';

describe('permissions of a source', () => {
  let github: Github;
  let app: StartedApp;
  /** Who connected the source. */
  let owner: Wire;
  let bob: Account;
  let vault: FakeRepository;
  let dataset: string;
  const log: string[] = [];

  before(async () => {
    github = await startFakeGithub();
    app = await startApp({ ...github.variables, ALLOW_CYPHER_QUERY: 'true' }, { log });
    owner = createWire(app.baseUrl);
    vault = github.add('acme/vault');
    say(vault, 1, 'Zanzifar report', 'Zanzifar guards the vault of Ponderosa. Grace Hopper founded Ponderosa in 1952.');
    const lamps = github.add('acme/lamps');
    lamps.isPrivate = false;
    say(
      lamps,
      1,
      'Lamp flickers',
      'Grace Hopper repaired the lamp of the vault in London. Alan Turing guards the lamp.',
    );
    const engines = github.add('acme/engines');
    say(engines, 1, 'Engine stops', 'Grace Hopper measured the engine in Paris. The engine needs oil.');
    github.people.set('bobby', 'Bob@Example.com').set('ada', 'ada@example.com').set('quiet', null);
    engines.collaborators.add('bobby').add('quiet');
    vault.collaborators.add('ada');
    await connect();
    dataset = (await imported()) as string;
    bob = await signUp(app.baseUrl, 'bob');
    const granted = await owner.post(`/permissions/datasets/${bob.id}?permission_name=read`, [dataset]);
    expect(granted.status).to.equal(200);
  });
  after(async () => {
    await app.stop();
    await github[Symbol.asyncDispose]();
  });

  function say(repository: FakeRepository, number: number, title: string, body: string, updated = '2026-01-05') {
    const time = `${updated}T00:00:00Z`;
    repository.issues.set(number, { title, body, state: 'open', user: 'ada', updated: time, comments: [] });
  }

  async function connect() {
    const begun = await fetch(`${app.baseUrl}/api/v1/integrations/github/authorize`, { method: 'POST' });
    const { authorizeUrl } = (await begun.json()) as { authorizeUrl: string };
    const query = github.install(new URL(authorizeUrl).searchParams.get('state') ?? '');
    const cookie = begun.headers.get('set-cookie')?.split(';')[0] ?? '';
    const callback = `${app.baseUrl}/api/v1/integrations/github/callback?${query}`;
    expect((await fetch(callback, { redirect: 'manual', headers: { cookie } })).status).to.equal(307);
  }

  /** Waits until the items are imported and built. */
  async function imported(after: string | null = null): Promise<unknown> {
    let state: Record<string, unknown> = {};
    await until('the end of the import', async () => {
      state = (await owner.get('/integrations/github/connection')).json;
      return state['syncStatus'] !== 'syncing' && state['lastSyncedAt'] !== after;
    });
    expect(state['syncStatus'], String(state['syncError'])).to.equal('ok');
    await until('the graph', async () => {
      const { completed, total } = (await owner.get(`/datasets/${state['datasetId']}/processing-status`)).json;
      return total > 0 && completed === total;
    });
    return state['datasetId'];
  }

  async function sync(): Promise<void> {
    const { lastSyncedAt } = (await owner.get('/integrations/github/connection')).json;
    await owner.post('/integrations/github/sync');
    await imported(lastSyncedAt);
  }

  const namesOf = async ({ get }: Wire): Promise<readonly string[]> => {
    const { json, headers } = await get(`/datasets/${dataset}/data`);
    expect(headers.get('x-total-count')).to.equal(String(json.length));
    expect((await get(`/datasets/${dataset}/data/count`)).json.count).to.equal(json.length);
    return (json as { name: string }[]).map(({ name }) => name).toSorted();
  };

  const search = (wire: Wire, searchType: string, more: object = {}) => {
    const query = searchType === 'CYPHER' ? 'MATCH (n) RETURN n.name, n.text, n.description' : QUESTION;
    return wire.post('/search', { searchType, query, datasetIds: [dataset], ...more });
  };

  it('hold for verified addresses alone; the user who connected the source sees everything', async () => {
    expect(await namesOf(owner)).to.deep.equal(['Engine stops (#1)', 'Lamp flickers (#1)', 'Zanzifar report (#1)']);
    expect(await namesOf(bob.wire)).to.deep.equal(['Lamp flickers (#1)']);
    await verifyAddress(owner, 'bob@example.com', log);
    expect(await namesOf(bob.wire)).to.deep.equal(['Engine stops (#1)', 'Lamp flickers (#1)']);
  });

  for (const type of SEARCH_TYPES) {
    it(`are kept by a search of type ${type}, its context and its explanation`, async () => {
      const isUnanswered = (more: object) =>
        type === 'CODE' || (type === 'NATURAL_LANGUAGE' && !('onlyContext' in more));
      for (const more of [{}, { onlyContext: true }, { explain: true }, { topK: 1 }]) {
        const { status, text } = await search(bob.wire, type, more);
        expect(status, text).to.equal(isUnanswered(more) ? 422 : 200);
        expect(text, JSON.stringify(more)).to.not.match(SECRET);
      }
    });
  }

  it('would be broken by the same searches: they find the item for who sees it', async () => {
    const types = [
      'CHUNKS',
      'CHUNKS_LEXICAL',
      'SUMMARIES',
      'GRAPH_COMPLETION',
      'HYBRID_COMPLETION',
      'TRIPLET_COMPLETION',
    ];
    for (const type of [...types, 'CYPHER', 'GRAPH_REPORT', 'BROAD', 'RAG_COMPLETION']) {
      const found = await Promise.all([search(owner, type), search(owner, type, { onlyContext: true })]);
      expect(found.map(({ text }) => text).join(), type).to.match(SECRET);
    }
  });

  it('leave the places of a search to what the reader sees', async () => {
    for (const type of ['CHUNKS', 'CHUNKS_LEXICAL', 'SUMMARIES']) {
      const query = {
        searchType: type,
        query: 'the report of the vault that was founded in 1952',
        datasetIds: [dataset],
        topK: 1,
      };
      const { text } = await bob.wire.post('/search', query);
      expect(text, type).to.match(/lamp/i).and.not.match(SECRET);
    }
  });

  it('are kept by recall, graphs, lists and files of the dataset', async () => {
    const secret = (await owner.get(`/datasets/${dataset}/data`)).json.find(({ name }: { name: string }) =>
      SECRET.test(name),
    ).id;
    for (const file of ['raw', 'original']) {
      expect((await owner.get(`/datasets/${dataset}/data/${secret}/${file}`)).text).to.match(SECRET);
      expect((await bob.wire.get(`/datasets/${dataset}/data/${secret}/${file}`)).status).to.equal(404);
    }
    const paths = [
      ...['graph', 'processing-status', 'data?excerpts=true'].map((path) => `/datasets/${dataset}/${path}`),
      ...['', '/json', '/drawing'].map((path) => `/visualize${path}?dataset_id=${dataset}`),
      ...[
        `/visualize/json?full=true&dataset_id=${dataset}`,
        `/schema/inventory?dataset_id=${dataset}&samples_per_type=99`,
      ],
    ];
    for (const path of paths) {
      expect((await owner.get(path)).text, path).to.match(SECRET);
      const { status, text } = await bob.wire.get(path);
      expect([status, SECRET.test(text)], path).to.deep.equal([200, false]);
      expect(text, path).to.match(/lamp|turing/i);
    }
    const recalled = await bob.wire.post('/recall', { query: QUESTION, datasetIds: [dataset] });
    expect(recalled.status).to.equal(200);
    expect(recalled.text).to.match(/lamp/i).and.not.match(SECRET);
    const counts = async ({ get }: Wire) =>
      (await get(`/datasets/graph-summary?dataset_ids=${dataset}`)).json[0].numNodes;
    const nodes = (await bob.wire.get(`/datasets/${dataset}/graph`)).json.nodes.length;
    expect(await counts(bob.wire))
      .to.equal(nodes)
      .and.to.be.lessThan(await counts(owner));
  });

  it('are kept by what answered others: their sessions are theirs alone', async () => {
    const asked = { searchType: 'GRAPH_COMPLETION', query: QUESTION, datasetIds: [dataset], sessionId: 'of-the-owner' };
    expect((await owner.post('/search', asked)).text).to.match(SECRET);
    for (const path of ['/sessions', '/sessions/of-the-owner', '/search', '/recall/sources?session_id=of-the-owner']) {
      expect((await bob.wire.get(path)).text, path).to.not.match(SECRET);
    }
    const recalled = await bob.wire.post('/recall', { query: 'vault', sessionId: 'of-the-owner', scope: ['session'] });
    expect(recalled.text).to.not.match(SECRET);
  });

  it('hold for what improve keeps of an answer: it is shown to who got it', async () => {
    const before = await namesOf(bob.wire);
    const [question, answer] = ['Where does Zanzifar sleep?', 'Zanzifar sleeps in Ponderosa.'];
    const entry = { type: 'qa', question, answer, context: '' };
    const kept = await owner.post('/remember/entry', { entry, session_id: 'of-the-owner', dataset_id: dataset });
    expect(kept.status, kept.text).to.equal(200);
    const improved = await owner.post('/improve', { datasetId: dataset, sessionIds: ['of-the-owner'] });
    expect(improved.status, improved.text).to.equal(200);
    expect(await namesOf(owner)).to.have.length.greaterThan(3);
    expect((await owner.post('/search', { searchType: 'CHUNKS', query: question, datasetIds: [dataset] })).text)
      .to.contain('sleeps in Ponderosa')
      .and.contain('of-the-owner');
    expect(await namesOf(bob.wire)).to.deep.equal(before);
    expect((await search(bob.wire, 'CHUNKS')).text).to.not.match(SECRET);
  });

  it('are in snapshots: a dataset that is restored from one is as restricted', async () => {
    const snapshots = `/datasets/${dataset}/snapshots`;
    const taken = (await owner.post(snapshots, { name: 'all' })).json;
    await until('the snapshot', async () => (await owner.get(`${snapshots}/${taken.id}`)).json.status === 'complete');
    const restore = (await owner.post(`${snapshots}/${taken.id}/restore`, { name: 'restored' })).json;
    const stateOf = async () => (await owner.get(`/datasets/restores/${restore.id}`)).json;
    await until('the restore', async () => (await stateOf()).status === 'complete');
    const restored = (await stateOf()).dataset_id ?? restore.dataset_id;
    const granted = await owner.post(`/permissions/datasets/${bob.id}?permission_name=read`, [restored]);
    expect(granted.status).to.equal(200);
    const listed = async ({ get }: Wire) => (await get(`/datasets/${restored}/data`)).text;
    expect(await listed(owner)).to.match(SECRET);
    expect(await listed(bob.wire))
      .to.match(/Lamp/)
      .and.not.match(SECRET);
    const found = await bob.wire.post('/search', { searchType: 'CHUNKS', query: QUESTION, datasetIds: [restored] });
    expect(found.text).to.match(/lamp/i).and.not.match(SECRET);
  });

  it('refuse what shows a dataset as a whole, and say why', async () => {
    const paths = [
      ...['supersessions', 'snapshots', 'schema'].map((path) => `/datasets/${dataset}/${path}`),
      `/activity/export/${dataset}`,
    ];
    for (const path of paths) {
      const { status, text } = await bob.wire.get(path);
      expect([status, /does not let you see some of its items/.test(text)], path).to.deep.equal([403, true]);
    }
    for (const path of ['/visualize/brains', '/schema/provenance/json?include_memory=true', '/datasets/snapshots']) {
      const { status, text } = await bob.wire.get(path);
      expect([status, SECRET.test(text)], path).to.deep.equal([200, false]);
    }
    const global = await search(bob.wire, 'GRAPH_COMPLETION', { useGlobalContext: true });
    expect([global.status, SECRET.test(global.text)]).to.deep.equal([403, false]);
  });

  it('follow the source: access that it gives counts after the next import, and ends with it', async () => {
    vault.collaborators.add('bobby');
    await sync();
    expect(await namesOf(bob.wire)).to.include('Zanzifar report (#1)');
    expect((await search(bob.wire, 'CHUNKS')).text).to.match(SECRET);
    vault.collaborators.delete('bobby');
    await sync();
    expect(await namesOf(bob.wire)).to.not.include('Zanzifar report (#1)');
    expect((await search(bob.wire, 'CHUNKS')).text).to.not.match(SECRET);
  });

  it('hold for what changes and what is new', async () => {
    say(vault, 1, 'Zanzifar report', 'Zanzifar left the vault of Ponderosa to Xerxes.', '2026-02-01');
    say(vault, 2, 'Ponderosa burns', 'Zanzifar saw Ponderosa burn.', '2026-02-01');
    await sync();
    expect(await namesOf(owner)).to.include('Ponderosa burns (#2)');
    expect(await namesOf(bob.wire)).to.deep.equal(['Engine stops (#1)', 'Lamp flickers (#1)']);
    expect((await search(bob.wire, 'CHUNKS')).text)
      .to.not.match(/xerxes/i)
      .and.not.match(SECRET);
  });
});
