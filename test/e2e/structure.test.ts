import { expect } from 'chai';
import { type StartedApp, startApp } from '../support/start-app.ts';
import { createWire } from '../support/wire.ts';

type Json = Record<string, unknown>;

const TEXTS = [
  'Ada Lovelace met Charles Babbage in London. They talked about engines.',
  'Ada Lovelace travels by train to Oslo every spring.',
  'Charles Babbage travels by coach and dislikes noise.',
  'Mary Somerville taught Ada Lovelace mathematics.',
  'The Nile flows through Egypt. Cairo lies on the Nile.',
];
const TYPES = ['GRAPH_COMPLETION', 'HYBRID_COMPLETION', 'RAG_COMPLETION', 'CHUNKS', 'SUMMARIES', 'CHUNKS_LEXICAL'];
const QUERY = 'How does Ada Lovelace travel?';

describe('structures that improve builds over a dataset', () => {
  let app: StartedApp;
  let asked = 0;

  before(async () => {
    app = await startApp({ TRIPLET_EMBEDDING: 'true' });
    for (const [at, text] of TEXTS.entries())
      await post('/add', { datasetName: 'notes', data: text, nodeSet: at < 2 ? ['ada'] : [] });
    await post('/add', {
      datasetName: 'notes',
      data: '# Session learning\n\nAda Lovelace travels by train.',
      nodeSet: ['session_learnings', 'session_learnings:s1'],
    });
    await post('/cognify', { datasets: ['notes'] });
  });
  after(() => app.stop());

  async function text(path: string, body: object): Promise<string> {
    const answer = await createWire(app.baseUrl).post(path, body);
    expect(answer.status, answer.text).to.equal(200);
    return answer.text;
  }
  const post = async (path: string, body: object): Promise<unknown> => JSON.parse(await text(path, body));
  /** Each question in a session of its own: an answer must not depend on the ones before. */
  const search = (body: object): Promise<string> => {
    asked += 1;
    return text('/search', { query: QUERY, datasets: ['notes'], sessionId: `q${asked}`, ...body });
  };
  const first = async (body: object) => (JSON.parse(await search(body)) as Json[])[0] as Json;

  it('change only searches that request them', async () => {
    const plain = () =>
      Promise.all(TYPES.flatMap((searchType) => [search({ searchType }), search({ searchType, onlyContext: true })]));
    const before = await plain();
    const statements = await search({ searchType: 'TRIPLET_COMPLETION', onlyContext: true });
    const options = { sessionIds: ['s1'], buildTruthSubspace: true, buildGlobalContextIndex: true };
    const improved = (await post('/improve', { datasetName: 'notes', ...options })) as Json;
    const stages = new Map((improved['stages'] as Json[]).map((stage) => [stage['stage'], stage]));
    expect(stages.get('build_truth_subspace')).to.deep.include({
      status: 'completed',
      counts: { anchors: 1, nodes_scored: 6, nodes_skipped: 0, truth_epoch: 1 },
    });
    expect(stages.get('triplet_enrichment')).to.include({ status: 'completed' });
    expect(stages.get('global_context_index')).to.include({ status: 'completed' });
    expect(Object.keys(improved['memify_run'] as object)).to.have.length(1);
    expect(await plain()).to.deep.equal(before);

    const triplets = await first({ searchType: 'TRIPLET_COMPLETION', onlyContext: true, explain: true });
    expect(String(triplets['search_result'])).to.include('-›contains-›').and.not.equal(statements);
    expect((triplets['triplets'] as Json[])[0]).to.include.keys('id', 'source', 'relation', 'target', 'rank');
    const scoped = await first({ searchType: 'TRIPLET_COMPLETION', onlyContext: true, nodeName: ['ada'] });
    expect(String(scoped['search_result'])).to.include('Ada Lovelace').and.not.include('Somerville');

    const truth = await first({ searchType: 'HYBRID_COMPLETION', explain: true, use_truth_subspace: true });
    const weighed = (truth['explain'] as Json[]).filter((why) => why['truth'] !== undefined);
    expect(weighed).to.not.be.empty;

    const wide = await first({
      searchType: 'HYBRID_COMPLETION',
      onlyContext: true,
      explain: true,
      useGlobalContext: true,
    });
    expect(String(wide['search_result'])).to.match(/`## Global context\n[\s\S]+\n\n## Relevant passages/);
    expect((wide['global_context'] as Json[])[0]).to.include({ is_root: true });
    const plainGraph = await first({ searchType: 'GRAPH_COMPLETION', onlyContext: true });
    expect(String(plainGraph['search_result'])).to.not.include('Global context');
  });

  it('contain nothing of an item once it is forgotten', async () => {
    const datasets = (await (await fetch(`${app.baseUrl}/api/v1/datasets`)).json()) as Json[];
    const id = String(datasets[0]?.['id']);
    const items = (await (await fetch(`${app.baseUrl}/api/v1/datasets/${id}/data`)).json()) as Json[];
    const nile = items.find((item) => item['id'] !== undefined && items.indexOf(item) === items.length - 1);
    for (const item of items.filter((item) => item !== nile)) {
      const path = `${app.baseUrl}/api/v1/datasets/${id}/data/${String(item['id'])}`;
      expect((await fetch(path, { method: 'DELETE' })).status).to.equal(200);
    }
    const left = await first({ searchType: 'HYBRID_COMPLETION', onlyContext: true, useGlobalContext: true });
    expect(String(left['search_result'])).to.not.include('Global context');
    const triplets = await first({ searchType: 'TRIPLET_COMPLETION', onlyContext: true });
    const known = TEXTS.filter((one) => String(triplets['search_result']).includes(one.slice(0, 20)));
    expect(known.length).to.be.at.most(1);
    await post('/improve', { datasetName: 'notes', buildGlobalContextIndex: true });
    const again = await first({
      searchType: 'HYBRID_COMPLETION',
      onlyContext: true,
      useGlobalContext: true,
      explain: true,
    });
    expect((again['global_context'] as Json[] | undefined)?.length ?? 0).to.be.at.least(1);
    expect((await fetch(`${app.baseUrl}/api/v1/datasets/${id}`, { method: 'DELETE' })).status).to.equal(200);
  });
});
