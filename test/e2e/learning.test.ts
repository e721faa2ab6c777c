import { expect } from 'chai';
import { type ImproveSession, improveSession, stagesOf, type WireStage } from '../support/improve-session.ts';
import { type StartedApp, startApp } from '../support/start-app.ts';
import { type Answer, createWire, type Wire } from '../support/wire.ts';

describe('learning from sessions', () => {
  let app: StartedApp;
  let wire: Wire;
  let notes: ImproveSession;
  beforeEach(async () => {
    app = await startApp({
      IMPROVE_AUTO_ENABLED: 'false',
      PERSONALIZATION_ENABLED: 'true',
      DEFAULT_FEEDBACK_INFLUENCE: '0.5',
      IMPROVE_FEEDBACK_ALPHA: '0.5',
      PREFERENCE_ALPHA: '0.5',
    });
    wire = createWire(app.baseUrl);
    notes = improveSession(wire, 'notes');
  });
  afterEach(() => app.stop());

  const stages = ({ json, text }: Answer) => {
    expect(json.stages, text).to.be.an('array');
    return stagesOf(json.stages as WireStage[]);
  };
  const chunks = async (query: string, more: object = {}) => {
    const body = { query, search_type: 'CHUNKS', datasets: ['notes'], explain: true, ...more };
    const [entry] = (await wire.post('/search', body)).json;
    return entry.search_result as { id: string; text: string; explain?: { learned?: { factor: number } } }[];
  };

  it('makes lessons, context rows and preferences, and nothing new without new entries', async () => {
    await notes.ask('s1', 'We deploy on Fridays only. Why is that?', 'I do not know.');
    await notes.ask('s1', 'I prefer answers with sources. Who is Ann?', 'An engineer.');
    const step = { type: 'trace', origin_function: 'fetch', status: 'error', error_message: 'HTTP 404' };
    await wire.post('/remember/entry', { entry: step, session_id: 's1', dataset_name: 'notes' });
    const first = stages(await notes.improve(['s1']));
    expect(first['extract_agent_context']).to.deep.include({
      status: 'completed',
      counts: { lessons: 1, sessions_failed: 0 },
    });
    expect(first['distill_sessions']?.counts).to.deep.equal({
      documents: 2,
      sessions_completed: 1,
      sessions_failed: 0,
      entries_uncurated: 0,
    });
    expect(first['update_user_preferences']?.counts).to.deep.equal({
      turns_applied: 0,
      edges_written: 0,
      edges_pruned: 0,
      text_lines_added: 1,
    });
    const learned = await chunks('When do we deploy?', { node_name: ['session_learnings:s1'] });
    expect(learned[0]?.text).to.include('We deploy on Fridays only.');
    const guidance = await wire.post('/recall', {
      query: 'fetch',
      session_id: 's1',
      scope: 'session_context',
      context_profile: 'agent',
    });
    expect(guidance.text).to.include('fetch failed: HTTP 404');
    const second = stages(await notes.improve(['s1']));
    expect(second['extract_agent_context']?.counts).to.deep.equal({ lessons: 0, sessions_failed: 0 });
    expect(second['distill_sessions']).to.deep.include({
      status: 'completed',
      counts: { documents: 0, sessions_completed: 0, sessions_failed: 0, entries_uncurated: 0 },
    });
    expect(second['update_user_preferences']).to.include({ status: 'completed', reason: 'no_changes' });
  });

  it('ranks a fact first whose answer was confirmed, and explains why', async () => {
    await wire.post('/remember', {
      datasetName: 'notes',
      raw_data: 'The launch of Project Alder is planned for May, says the board.',
    });
    await wire.post('/remember', {
      datasetName: 'notes',
      raw_data: 'The launch of Project Alder is planned for June, says the team.',
    });
    const query = 'When is the launch of Project Alder planned?';
    const [first, second] = await chunks(query);
    for (const [chunk, score] of [
      [first, 1],
      [second, 5],
    ] as const) {
      const used = { used_graph_element_ids: { node_ids: [chunk?.id], edge_ids: [] } };
      const id = await notes.ask('s1', query, chunk?.text ?? '', used);
      await notes.rate('s1', id, score);
    }
    const improved = stages(await notes.improve(['s1']));
    expect(improved['update_user_preferences']?.counts).to.include({ turns_applied: 2, edges_written: 2 });
    // What was not learned before is remembered for a second.
    await new Promise((resolve) => setTimeout(resolve, 1100));
    const after = (await chunks(query)).filter(({ id }) => id === first?.id || id === second?.id);
    expect(after.map(({ id }) => id)).to.deep.equal([second?.id, first?.id]);
    expect(after[0]?.explain?.learned?.factor).to.be.greaterThan(1);
  });
});
