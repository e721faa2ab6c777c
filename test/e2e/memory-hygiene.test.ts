import { expect } from 'chai';
import { repeats } from '../support/extent.ts';
import { type StartedApp, startApp } from '../support/start-app.ts';
import { updatePairs } from '../support/update-pairs.ts';
import { createWire, type Wire } from '../support/wire.ts';

interface Row {
  readonly text: string;
  readonly explain?: { readonly statements?: readonly Readonly<Record<string, unknown>>[] };
}

describe('memory hygiene', () => {
  let app: StartedApp;
  let wire: Wire;
  /** A new dataset for each test. */
  let notes: string;
  let dataset: string;
  let tests = 0;

  before(async () => {
    app = await startApp();
    wire = createWire(app.baseUrl);
  });
  beforeEach(async () => {
    tests += 1;
    notes = `notes-${tests}`;
    dataset = (await wire.post('/datasets', { name: notes })).json.id;
  });
  after(() => app.stop());

  const remember = async (text: string, more: object = {}) => {
    const added = await wire.post('/add', { data: text, datasetName: notes, ...more });
    expect(added.status, added.text).to.equal(200);
    const built = await wire.post('/cognify', { datasets: [notes] });
    expect(built.status, built.text).to.equal(200);
    return added.json;
  };
  const search = async (query: string, more: object = {}): Promise<readonly Row[]> => {
    const body = { query, search_type: 'CHUNKS', datasets: [notes], ...more };
    const answer = await wire.post('/search', body);
    expect(answer.status, answer.text).to.equal(200);
    return answer.json[0].search_result;
  };
  const texts = async (query: string, more: object = {}) =>
    (await search(query, more)).map(({ text }) => text).join('\n');
  const items = async () => (await wire.get(`/datasets/${dataset}/data`)).json as readonly { readonly id: string }[];
  const supersessions = async () => (await wire.get(`/datasets/${dataset}/supersessions`)).json.supersessions;

  it('shows the newer statement, the older one as of its time or on request, and explains why', async () => {
    await remember('Anna Petrova works at Initech.', { external_metadata: [{ date: '2023-02-01' }] });
    await remember('Anna Petrova now works at Globex.', { external_metadata: [{ date: '2024-06-01' }] });
    const now = await texts('Where does Anna Petrova work?');
    expect(now).to.include('Globex').and.not.include('Initech');
    const then = await texts('Where does Anna Petrova work?', { as_of: '2023-12-31' });
    expect(then).to.include('Initech').and.not.include('Globex');
    const all = await search('Where does Anna Petrova work?', { current_only: false, explain: true });
    expect(all.map(({ text }) => text).join('\n'))
      .to.include('Globex')
      .and.include('Initech');
    const old = all.find(({ text }) => text.includes('Initech'));
    expect(old?.explain?.statements?.[0]).to.include({ state: 'superseded', left_out: false });
    for (const search_type of [
      'GRAPH_COMPLETION',
      'HYBRID_COMPLETION',
      'RAG_COMPLETION',
      'CHUNKS_LEXICAL',
      'SUMMARIES',
      'TRIPLET_COMPLETION',
    ]) {
      const answer = await wire.post('/search', {
        query: 'Where does Anna Petrova work?',
        search_type,
        datasets: [notes],
        only_context: true,
      });
      expect(answer.text, search_type).to.include('Globex').and.not.include('Initech');
    }
    const recalled = await wire.post('/recall', { query: 'Where does Anna Petrova work?', datasets: [notes] });
    expect(recalled.text).to.include('Globex').and.not.include('Initech');
  });

  it('shows the older statement again when the newer one is forgotten', async () => {
    await remember('Bob Stone lives in Berlin.');
    await remember('Bob Stone has moved to Hamburg.');
    expect(await texts('Where does Bob Stone live?')).to.not.include('Berlin');
    const [newest] = await items();
    const gone = await wire.remove(`/datasets/${dataset}/data/${newest?.id}`);
    expect(gone.status, gone.text).to.equal(200);
    expect(await texts('Where does Bob Stone live?')).to.include('Berlin');
    expect(await supersessions()).to.deep.equal([]);
  });

  it('treats a repeated statement as newer than those in between', async () => {
    await remember('Bob Stone lives in Berlin.');
    await remember('Bob Stone lives in Hamburg.');
    await remember('Bob Stone lives in Berlin.');
    const now = await texts('Where does Bob Stone live?');
    expect(now).to.include('Berlin').and.not.include('Hamburg');
    expect(await items()).to.have.length(2);
  });

  it('answers generated updates with current or past statements, and traps with both', async () => {
    const pairs = updatePairs(repeats(300, 60)).filter((_, at) => at % 10 < 2);
    const add = async (which: 'older' | 'newer', date: string) => {
      const data = pairs.map((pair) => pair[which]);
      const more = { datasetName: notes, external_metadata: data.map(() => ({ date })) };
      expect((await wire.post('/add', { data, ...more })).status).to.equal(200);
      expect((await wire.post('/cognify', { datasets: [notes] })).status).to.equal(200);
    };
    await add('older', '2030-01-01');
    await add('newer', '2031-01-01');
    const replaced = new Set((await supersessions()).map(({ older }: { older: { text: string } }) => older.text));
    expect(replaced.size).to.be.above(pairs.length / 2 - 5);
    for (const { older, newer, question, kind, why } of pairs) {
      const now = await texts(question, { top_k: 10 });
      const then = await texts(question, { top_k: 10, as_of: '2030-06-01' });
      if (kind === 'trap') expect(now, `${why}: ${question}`).to.include(older);
      expect(then, `${why}: ${question}`).to.include(older);
      if (!replaced.has(older)) continue;
      expect(kind, older).to.equal('update');
      expect(now, `${why}: ${question}`).to.not.include(older);
      expect(now, `${why}: ${question}`).to.include(newer);
      expect(then, `${why}: ${question}`).to.not.include(newer);
    }
  });

  it('stores nothing that an agent echoes from many recalls, and keeps what it adds', async () => {
    const facts = Array.from(
      { length: 20 },
      (_, at) => `Project Number ${at} ships ${at + 3} crates of oranges to Lisbon.`,
    );
    await remember(facts.join('\n\n'));
    for (let at = 0; at < repeats(60, 20); at++) {
      const query = `crates of Project Number ${at % 20}`;
      const scope = at % 2 === 0 ? { search_type: 'CHUNKS' } : { search_type: 'HYBRID_COMPLETION' };
      const recalled = await wire.post('/recall', { query, datasets: [notes], ...scope });
      const told: readonly string[] = recalled.json.map(({ text }: Row) => text);
      const sent = at % 3 === 0 ? `According to my memory: ${told[0]}` : (told.join('\n') as string);
      const answer = await wire.post('/add', { data: sent, datasetName: notes });
      expect(answer.status, answer.text).to.equal(200);
    }
    expect(await items()).to.have.length(1);
    await remember(`${facts[3]} Project Number 3 pays its drivers on Mondays.`);
    expect(await items()).to.have.length(2);
    const [newest] = await items();
    const raw = await wire.get(`/datasets/${dataset}/data/${newest?.id}/raw`);
    expect(raw.text).to.equal('Project Number 3 pays its drivers on Mondays.');
  });

  it('stores no session answer that only repeats memory', async () => {
    await remember('Clara Voss keeps the spare keys in the blue drawer.');
    for (let turn = 0; turn < 5; turn++) {
      const body = { query: 'Where does Clara Voss keep the spare keys?', session_id: 's', datasets: [notes] };
      await wire.post('/recall', { ...body, search_type: 'GRAPH_COMPLETION', scope: 'graph' });
    }
    const improved = await wire.post('/improve', { dataset_name: notes, session_ids: ['s'] });
    expect(improved.status, improved.text).to.equal(200);
    const kept = await Promise.all(
      (await items()).map(async ({ id }) => (await wire.get(`/datasets/${dataset}/data/${id}/raw`)).text),
    );
    expect(kept.filter((text) => text.includes('blue drawer'))).to.have.length(1);
  });
});
