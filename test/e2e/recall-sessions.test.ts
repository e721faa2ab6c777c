import { expect } from 'chai';
import { signUp } from '../support/accounts.ts';
import { type StartedApp, startApp } from '../support/start-app.ts';
import { createWire, type Wire } from '../support/wire.ts';

const FACTS = [
  'Ada Lovelace was born in London in 1815. Ada Lovelace wrote notes on the Analytical Engine.',
  'Grace Hopper was born in New York City in 1906. Grace Hopper wrote the first compiler.',
];

type Item = Record<string, unknown>;

/** The whole service over HTTP, without a model. */
describe('recall of sessions', () => {
  let app: StartedApp;
  let ada: Wire;
  let grace: Wire;
  let library: string;
  before(async () => {
    app = await startApp({ REQUIRE_AUTHENTICATION: 'true', LOG_LEVEL: 'warn' });
    [ada, grace] = [await person('ada'), await person('grace')];
    const form = new FormData();
    form.append('datasetName', 'library');
    for (const [at, text] of FACTS.entries()) form.append('data', new Blob([text]), `fact${at}.txt`);
    library = (await ada.form('/add', form)).json.dataset_id;
    expect((await ada.post('/cognify', { dataset_ids: [library] })).status).to.equal(200);
  });
  after(() => app.stop());

  const person = async (name: string) => (await signUp(app.baseUrl, name)).wire;
  const remember = async (wire: Wire, session: string, entry: object, dataset = 'main_dataset') => {
    const answer = await wire.post('/remember/entry', { entry, session_id: session, dataset_name: dataset });
    expect(answer.status, answer.text).to.equal(200);
    return answer.json as { readonly entry_id: string; readonly dataset_id: string };
  };
  const recall = async (wire: Wire, body: object): Promise<readonly Item[]> => {
    const answer = await wire.post('/recall', body);
    expect(answer.status, answer.text).to.equal(200);
    return answer.json;
  };
  const search = async (wire: Wire, body: object) => {
    const answer = await wire.post('/search', { datasetIds: [library], ...body });
    expect(answer.status, answer.text).to.equal(200);
    return answer.json[0];
  };
  const turns = async (wire: Wire, session: string): Promise<readonly Item[]> =>
    (await wire.get(`/sessions/${encodeURIComponent(session)}`)).json.qas ?? [];

  it('returns turns and traces with all stored fields, those that share most words first', async () => {
    const used = { node_ids: ['n1'] };
    const qa = { type: 'qa', question: 'Which colour is the door?', answer: 'Red.', used_graph_element_ids: used };
    const { entry_id: id } = await remember(ada, 'fields', qa);
    await remember(ada, 'fields', { type: 'qa', question: 'And the window?', answer: 'Blue as the door.' });
    await remember(ada, 'fields', { type: 'feedback', qa_id: id, feedback_score: 4, feedback_text: 'nice' });
    const step = { type: 'trace', origin_function: 'paint', method_params: { what: 'door' }, method_return_value: [1] };
    const { entry_id: trace } = await remember(ada, 'fields', step);
    const items = await recall(ada, { query: 'the red door', scope: ['trace', 'session'], session_id: 'fields' });
    expect(items.map(({ source }) => source)).to.deep.equal(['trace', 'session', 'session']);
    const [first] = await turns(ada, 'fields');
    expect(items[1]).to.deep.equal({ source: 'session', ...first });
    expect(items[1]).to.include({ qa_id: id, feedback_score: 4, feedback_text: 'nice', context: '' });
    expect(items[1]?.['used_graph_element_ids']).to.deep.equal(used);
    expect(items[0]).to.deep.equal({
      source: 'trace',
      trace_id: trace,
      origin_function: 'paint',
      status: 'success',
      memory_query: '',
      memory_context: '',
      method_params: { what: 'door' },
      method_return_value: [1],
      error_message: '',
      session_feedback: 'paint succeeded.',
    });
    const one = await recall(ada, { query: 'the red door', scope: 'session', session_id: 'fields', top_k: 1 });
    expect(one.map(({ qa_id: found }) => found)).to.deep.equal([id]);
  });

  it('reads no session of another user, even of the same name', async () => {
    await remember(ada, 'same', { type: 'qa', question: 'Secret of Ada?', answer: 'Punched cards.' });
    expect(await recall(grace, { query: 'secret cards', scope: 'session', session_id: 'same' })).to.deep.equal([]);
    await remember(grace, 'same', { type: 'qa', question: 'Secret of Grace?', answer: 'A moth.' });
    const ofGrace = await recall(grace, { query: 'secret', scope: 'session', session_id: 'same' });
    expect(ofGrace.map(({ answer }) => answer)).to.deep.equal(['A moth.']);
    const ofAda = await recall(ada, { query: 'secret', scope: 'session', session_id: 'same' });
    expect(ofAda.map(({ answer }) => answer)).to.deep.equal(['Punched cards.']);
  });

  it('prefers a session of a readable dataset to an own one of that name, until access ends', async () => {
    const entry = { type: 'qa', question: 'Plan for the shared garden?', answer: 'Roses.' };
    const { dataset_id: shared } = await remember(ada, 'garden', entry, 'garden');
    await remember(grace, 'garden', { type: 'qa', question: 'My garden?', answer: 'Weeds.' });
    const answers = async () => {
      const items = await recall(grace, { query: 'garden', scope: 'session', session_id: 'garden', explain: true });
      return items.map(({ answer }) => answer);
    };
    expect(await answers()).to.deep.equal(['Weeds.']);
    const guest = (await grace.get('/users/me')).json.id as string;
    const grant = () => ada.post(`/permissions/datasets/${guest}?permission_name=read`, [shared]);
    expect((await grant()).status).to.equal(200);
    expect(await answers()).to.deep.equal(['Roses.']);
    const revoked = await ada.remove(`/permissions/datasets/${guest}?permission_name=read`, [shared]);
    expect(revoked.status, revoked.text).to.equal(200);
    expect(await answers()).to.deep.equal(['Weeds.']);
  });

  it('reads only sessions of its datasets with a limited key', async () => {
    const qa = (answer: string) => ({ type: 'qa', question: 'Where is the vault?', answer });
    const { dataset_id: open } = await remember(ada, 'of the open', qa('Nowhere.'), 'open');
    await remember(ada, 'of the closed', qa('Below.'), 'closed');
    const { key } = (await ada.post('/auth/api-keys', { name: 'narrow', datasets: [open] })).json;
    const narrow = createWire(app.baseUrl, { 'x-api-key': key });
    const found = async (session: string) =>
      (await recall(narrow, { query: 'vault', scope: 'session', session_id: session })).map(({ answer }) => answer);
    expect(await found('of the open')).to.deep.equal(['Nowhere.']);
    expect(await found('of the closed')).to.deep.equal([]);
    const { key: reader } = (await ada.post('/auth/api-keys', { name: 'reader', datasets: [library] })).json;
    const prompt = async (wire: Wire) => {
      const body = { query: 'Who wrote the first compiler?', sessionId: 'of the closed', onlyContext: true };
      return (await search(wire, body)).search_result as string;
    };
    expect(await prompt(createWire(app.baseUrl, { 'x-api-key': reader }))).not.to.include('Below.');
    expect(await prompt(ada)).to.include('ANSWER: Below.');
  });

  it('reads sessions of the caller’s agents, but gives agents none of the caller’s', async () => {
    const made = (await ada.post('/agents/create?name=gardener')).json as { readonly agentApiKey: string };
    const agent = createWire(app.baseUrl, { 'x-api-key': made.agentApiKey });
    await remember(agent, 'dug', { type: 'qa', question: 'What was planted?', answer: 'Tulips.' });
    await remember(ada, 'own', { type: 'qa', question: 'What was bought?', answer: 'Bulbs.' });
    const answers = async (wire: Wire, session: string) =>
      (await recall(wire, { query: 'what was', scope: 'session', session_id: session })).map(({ answer }) => answer);
    expect(await answers(ada, 'dug')).to.deep.equal(['Tulips.']);
    expect(await answers(agent, 'own')).to.deep.equal([]);
  });

  it('returns the guidance of a session, and the origin of items with explain', async () => {
    const entry = { type: 'qa', question: 'Who paints?', answer: 'Ada.' };
    const { dataset_id: dataset } = await remember(ada, 'explained', entry, 'explained');
    const [item] = await recall(ada, { query: 'paints', scope: 'session', session_id: 'explained', explain: true });
    const ownId = (await ada.get('/users/me')).json.id;
    expect(item?.['explain']).to.deep.equal({
      lane: 'session',
      session_id: 'explained',
      user_id: ownId,
      dataset_id: dataset,
      overlap: 1,
      unread: 0,
    });
    const step = { type: 'trace', origin_function: 'mix', status: 'error', error_message: 'paint ran out' };
    await remember(ada, 'explained', step, 'explained');
    const improved = await ada.post('/improve', { dataset_id: dataset, session_ids: ['explained'] });
    expect(improved.status, improved.text).to.equal(200);
    const body = { query: 'mix', scope: 'session_context', session_id: 'explained', context_profile: 'agent' };
    const items = await recall(ada, body);
    expect(items.map(({ source, context_profile: profile }) => [source, profile])).to.deep.equal([
      ['session_context', 'agent'],
    ]);
    expect(items[0]?.['content']).to.match(
      /^## Active session guidance\n[^\n]+\n### [\s\S]*- \[\d\d:\d\d:\d\d\] .*mix/,
    );
    expect(await recall(ada, { ...body, context_profile: 'qa' })).to.deep.equal([]);
  });

  it('stores each completion as a turn of the named session, with what it was made from', async () => {
    const question = 'Where was Ada Lovelace born?';
    const { search_result: result } = await search(ada, { query: question, sessionId: 'kept' });
    const [turn, ...rest] = await turns(ada, 'kept');
    expect(rest).to.deep.equal([]);
    expect(turn).to.include({ question, answer: result[0], context: '', feedback_score: null });
    const used = turn?.['used_graph_element_ids'] as { readonly node_ids: readonly string[] } | undefined;
    expect(used?.node_ids).not.to.be.empty;
    await recall(ada, { query: question, search_type: 'HYBRID_COMPLETION', session_id: 'kept', datasetIds: [library] });
    expect(await turns(ada, 'kept')).to.have.length(2);
    expect((await ada.get('/sessions/kept')).json.dataset_id).to.equal(library);
  });

  it('stores a turn without a session in the default session of its dataset', async () => {
    await search(ada, { query: 'Who wrote the first compiler?' });
    const kept = await turns(ada, `default_session_${library}`);
    expect(kept.map(({ question }) => question)).to.deep.equal(['Who wrote the first compiler?']);
  });

  it('stores no turn for types without an answer, for contexts, and for recalls without a type', async () => {
    for (const searchType of ['CHUNKS', 'SUMMARIES', 'CHUNKS_LEXICAL']) {
      await search(ada, { query: 'compiler', sessionId: 'none', searchType });
    }
    await search(ada, { query: 'compiler', sessionId: 'none', onlyContext: true });
    await recall(ada, { query: 'compiler', session_id: 'none', datasetIds: [library] });
    expect((await ada.get('/sessions/none')).status).to.equal(404);
  });

  it('answers a question that refers back with the session, and not without it', async () => {
    await search(ada, { query: 'Who was Grace Hopper?', sessionId: 'back' });
    const entry = await search(ada, { query: 'Where was she born?', sessionId: 'back', explain: true });
    expect(entry.search_result[0]).to.include('New York City');
    expect(entry.conversation).to.include({
      session_id: 'back',
      lookup_query: 'Who was Grace Hopper?\nWhere was she born?',
    });
    const alone = await search(ada, { query: 'Where was she born?', explain: true });
    expect(alone).not.to.have.property('conversation');
  });

  it('stores a verdict as feedback on the previous answer, and acknowledges it', async () => {
    await search(ada, { query: 'Who wrote the first compiler?', sessionId: 'judged' });
    const { search_result: result } = await search(ada, { query: "No, that's wrong.", sessionId: 'judged' });
    expect(result).to.deep.equal(['Got it.']);
    const kept = await turns(ada, 'judged');
    expect(kept.map(({ question, answer }) => [question, answer]).at(-1)).to.deep.equal([
      "No, that's wrong.",
      'Got it.',
    ]);
    const improved = await ada.post('/improve', { dataset_id: library, session_ids: ['judged'] });
    expect(improved.status, improved.text).to.equal(200);
    const [rated] = await turns(ada, 'judged');
    expect(rated?.['memify_metadata']).to.include({
      feedback_weights_applied: true,
      feedback_weights_applied_source: 'implicit',
      feedback_weights_applied_score: 1,
    });
    // Without a turn before it there is nothing to judge.
    const first = await search(ada, { query: "No, that's wrong.", sessionId: 'nothing to judge' });
    expect(first.search_result).not.to.deep.equal(['Got it.']);
  });

  it('skips the graph when the session has a match, unless datasets are named', async () => {
    await search(ada, { query: 'Who wrote the first compiler?', sessionId: 'first' });
    const sources = async (body: object) => {
      const items = await recall(ada, { query: 'the first compiler', session_id: 'first', ...body });
      return [...new Set(items.map(({ source }) => source))];
    };
    expect(await sources({})).to.deep.equal(['session']);
    expect(await sources({ scope: 'auto' })).to.deep.equal(['session']);
    expect(await sources({ datasetIds: [library] })).to.deep.equal(['session', 'graph']);
    expect(await sources({ scope: 'session_first', datasetIds: [library] })).to.deep.equal(['session']);
    expect(await sources({ query: 'zanzibar', datasetIds: [library] })).to.deep.equal(['graph']);
    expect(await sources({ scope: 'all', datasetIds: [library] })).to.deep.equal(['graph', 'session']);
    expect(await sources({ search_type: 'CHUNKS', datasetIds: [library] })).to.deep.equal(['graph']);
  });

  it('returns session entries when no memory is built, and 404 without matches', async () => {
    const { dataset_id: bare } = await remember(ada, 'bare', { type: 'qa', question: 'Bare?', answer: 'Yes.' }, 'bare');
    const form = new FormData();
    form.append('datasetId', bare);
    form.append('data', new Blob(['unread']), 'a.txt');
    expect((await ada.form('/add', form)).status).to.equal(200);
    const body = { session_id: 'bare', scope: 'all', datasetIds: [bare] };
    expect((await recall(ada, { query: 'bare', ...body })).map(({ source }) => source)).to.deep.equal(['session']);
    expect((await ada.post('/recall', { query: 'zanzibar', ...body })).status).to.equal(404);
  });

  it('stores the answers of another dataset outside a session that readers of its dataset see', async () => {
    const entry = { type: 'qa', question: 'Started elsewhere?', answer: 'Yes.' };
    await remember(ada, 'bound', entry, 'elsewhere');
    await search(ada, { query: 'Who wrote what, and when?', sessionId: 'bound' });
    expect((await turns(ada, 'bound')).map(({ question }) => question)).to.deep.equal(['Started elsewhere?']);
    const elsewhere = (await turns(ada, `default_session_${library}`)).at(-1);
    expect(elsewhere?.['question']).to.equal('Who wrote what, and when?');
  });

  it('refuses invalid session names, and streams session items', async () => {
    for (const body of [{ scope: 'session' }, { search_type: 'HYBRID_COMPLETION', datasetIds: [library] }]) {
      const answer = await ada.post('/recall', { query: 'x', session_id: '  ', ...body });
      expect([answer.status, answer.text]).to.deep.equal([
        400,
        '{"detail":"session_id must be a non-empty string [SessionParameterValidationError]"}',
      ]);
    }
    const streamed = await ada.post('/recall', {
      query: 'red door',
      scope: 'session',
      session_id: 'fields',
      stream: true,
    });
    expect(streamed.text).to.match(/^event: stage\n[\s\S]*event: final\ndata: \{"results":\[\{"source":"session"/);
  });
});
