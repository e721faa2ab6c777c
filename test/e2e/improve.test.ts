import { expect } from 'chai';
import { cpuTimeMs, expectQuick } from '../support/cpu-time.ts';
import { type ImproveSession, improveSession, stagesOf, type WireStage } from '../support/improve-session.ts';
import { failure, type ModelProvider, startModelProvider } from '../support/model-provider.ts';
import { type StartedApp, startApp } from '../support/start-app.ts';
import { until } from '../support/until.ts';
import { type Answer, createWire, type Wire } from '../support/wire.ts';

const KEYS = [
  ...['dataset_id', 'dataset_name', 'session_ids', 'stages', 'background', 'finished', 'error'],
  ...['rerun_requested', 'rerun_passes', 'memify_run', 'status'],
];

interface RunRow {
  readonly operation_name: string;
  readonly status: string;
  readonly outcome: string | null;
  readonly background: boolean;
}

describe('improve', () => {
  let app: StartedApp;
  let wire: Wire;
  let notes: ImproveSession;

  const start = async (variables: Record<string, string> = {}) => {
    app = await startApp({ IMPROVE_AUTO_ENABLED: 'false', ...variables });
    wire = createWire(app.baseUrl);
    notes = improveSession(wire, 'notes');
  };
  const improves = async (): Promise<readonly RunRow[]> =>
    (await wire.get('/activity/pipeline-runs?pipeline_name=improve')).json;
  const untilEnded = (count: number): Promise<readonly RunRow[]> => {
    const ended = async () => {
      const rows = (await improves()).filter(({ status }) => status !== 'DATASET_PROCESSING_STARTED');
      return rows.length >= count ? rows : null;
    };
    return until(`${count} improves have ended`, ended, { everyMs: 20 });
  };
  const stages = ({ json }: Answer) => stagesOf(json.stages as WireStage[]);

  describe('without a model', () => {
    beforeEach(() => start());
    afterEach(() => app.stop());

    it('persists answers, steps and feedback, and finds nothing new the second time within 100 ms of processor time', async () => {
      await wire.post('/remember', { datasetName: 'notes', raw_data: 'Ada Lovelace met Charles Babbage in London.' });
      const graph = (await wire.get(`/datasets/${(await wire.get('/datasets')).json[0].id}/graph`)).json;
      const ada = graph.nodes.find(({ label }: { label: string }) => label === 'ada lovelace').id;
      const used = { used_graph_element_ids: { node_ids: [ada], edge_ids: [] } };
      const id = await notes.ask('s1', 'Whom did Ada Lovelace meet?', 'Charles Babbage.', used);
      await notes.rate('s1', id, 5);
      await notes.steps('s1', 3);
      const first = await notes.improve(['s1']);
      expect(first.status).to.equal(200);
      expect(Object.keys(first.json)).to.deep.equal(KEYS);
      expect(first.json).to.include({ status: 'completed', error: null, finished: true, background: false });
      const { feedback_weights: weights, persist_session_qa: qa, persist_agent_traces: traces } = stages(first);
      expect(weights).to.deep.include({ status: 'completed', counts: { sessions: 1 } });
      expect(qa).to.deep.include({ status: 'completed', counts: { sessions: 1 } });
      expect(traces).to.deep.include({ status: 'completed', counts: { sessions: 1, windows: 1 } });
      for (const stage of [weights, qa, traces]) expect(stage?.run?.status).to.equal('PipelineRunCompleted');
      const texts = await notes.persisted();
      expect(texts).to.have.length(2);
      expect(texts[0]).to.equal(
        'Session ID: s1\n\nQuestion: Whom did Ada Lovelace meet?\n\nAnswer: Charles Babbage.\n\n',
      );
      expect(texts[1]).to.match(/^Session ID: s1\n\nlook_0 succeeded\. Output: \{"moth":"moth number 0"\}\nlook_1 /);
      const { entries } = await session('s1');
      expect(entries[0].memify_metadata).to.include({
        feedback_weights_applied: true,
        feedback_weights_applied_score: 5,
        feedback_weights_applied_source: 'explicit',
        feedback_weights_attempts: 1,
      });

      const second = await notes.improve(['s1']);
      const tookMs: number[] = [];
      for (let round = 0; round < 5; round += 1) {
        const startedAt = cpuTimeMs();
        await notes.improve(['s1']);
        tookMs.push(cpuTimeMs() - startedAt);
      }
      expect(stages(second)['feedback_weights']).to.include({ status: 'completed' });
      expect(stages(second)['persist_session_qa']).to.deep.include({
        status: 'already_completed',
        reason: 'no_new_entries',
        counts: {},
        run: null,
      });
      expect(stages(second)['persist_agent_traces']).to.include({
        status: 'already_completed',
        reason: 'no_new_trace_steps',
        run: null,
      });
      expect(second.json.status).to.equal('completed');
      expect(await notes.persisted()).to.deep.equal(texts);
      expectQuick(Math.min(...tookMs), 100, 'an improve with nothing new');
      const rows = await improves();
      expect(rows.map(({ outcome }) => outcome)).to.include('succeeded');
    });

    const session = async (name: string) => {
      const answer = await wire.get(`/sessions/${name}`);
      expect(answer.status, answer.text).to.equal(200);
      return { entries: answer.json.qas ?? answer.json.entries ?? answer.json.qa };
    };

    it('persists only new entries, each once, in the node sets of sessions', async () => {
      await notes.ask('s1', 'First?', 'One.');
      await notes.improve(['s1']);
      await notes.ask('s1', 'Second?', 'Two.');
      await notes.improve(['s1', 's1', '']);
      expect(await notes.persisted()).to.deep.equal([
        'Session ID: s1\n\nQuestion: First?\n\nAnswer: One.\n\n',
        'Session ID: s1\n\nQuestion: Second?\n\nAnswer: Two.\n\n',
      ]);
      const found = await wire.post('/search', {
        query: 'Second?',
        search_type: 'CHUNKS',
        datasets: ['notes'],
        node_name: ['user_sessions_from_cache'],
      });
      expect(found.text).to.include('Two.');
    });

    it('names persisted documents after the session, whatever its name', async () => {
      await notes.ask('team/../one', 'First?', 'One.');
      await notes.improve(['team/../one']);
      const [dataset] = (await wire.get('/datasets')).json;
      const [item] = (await wire.get(`/datasets/${dataset.id}/data`)).json;
      expect(item.name).to.equal('session team_.._one answers 1-1');
    });

    it('persists an entry in one dataset only', async () => {
      await notes.ask('s1', 'First?', 'One.');
      await notes.improve(['s1']);
      const other = await wire.post('/improve', { datasetName: 'others', sessionIds: ['s1'] });
      expect(stages(other)['persist_session_qa']).to.include({ reason: 'no_new_entries' });
    });

    it('reports why each stage was skipped, also without sessions', async () => {
      const answer = await wire.post('/improve', { datasetName: 'notes' });
      expect(answer.json).to.include({ status: 'skipped', dataset_name: 'notes' });
      expect(answer.json.dataset_id, 'an unknown name is created').to.equal((await wire.get('/datasets')).json[0].id);
      const reasons = Object.values(stages(answer)).map(({ reason }) => reason);
      expect(reasons.slice(0, 7)).to.deep.equal(Array(7).fill('no_session_ids'));
      expect(answer.json.session_ids).to.deep.equal([]);
      expect((await improves())[0]).to.include({ operation_name: 'improve', outcome: 'noop', session_id: null });
      await notes.improve(['s1', 's1']);
      expect((await improves())[0]).to.include({ operation_name: 'improve', session_id: 's1' });
    });

    it('accepts every field in both spellings, and refuses invalid ones before anything is created', async () => {
      const all = { dataset_name: 'notes', session_ids: [], run_in_background: null, build_truth_subspace: false };
      const more = { build_global_context_index: null, feedback_alpha: 0.5, node_name: null, data: '', dataset_id: '' };
      const lists = { extraction_tasks: [], enrichment_tasks: null, review_conflicts: false };
      expect((await wire.post('/improve', { ...all, ...more, ...lists })).status).to.equal(200);
      const wrong: readonly (readonly [object, number])[] = [
        [{}, 400],
        [{ datasetId: '', datasetName: '' }, 400],
        [{ datasetName: 'fresh', feedbackAlpha: 0 }, 400],
        [{ datasetName: 'fresh', feedbackAlpha: 1.01 }, 400],
        [{ datasetName: 'fresh', sessionIds: 'one' }, 400],
        [{ datasetName: 'fresh', reviewConflicts: null }, 400],
        [{ datasetName: 'not a name' }, 400],
        [{ datasetName: 'fresh', enrichmentTasks: ['make_coffee'] }, 422],
        [{ datasetId: '00000000-0000-4000-8000-000000000000' }, 403],
      ];
      for (const [body, status] of wrong) {
        const answer = await wire.post('/improve', body);
        expect(answer.status, `${JSON.stringify(body)}: ${answer.text}`).to.equal(status);
      }
      expect((await wire.get('/datasets')).json).to.have.length(1);
    });

    it('runs durably in the background on request, and claims the session meanwhile', async () => {
      await notes.ask('s1', 'First?', 'One.');
      const begun = await notes.improve(['s1'], { runInBackground: true });
      expect(begun.json).to.deep.include({ status: 'running', stages: [], finished: false, background: true });
      const lost = await notes.improve(['s1']);
      const [row] = await untilEnded(lost.json.status === 'skipped' ? 2 : 1);
      expect(row?.operation_name).to.equal('improve');
      if (lost.json.status === 'skipped') {
        const reasons = Object.values(stages(lost)).map(({ reason }) => reason);
        expect(reasons).to.deep.equal(Array(9).fill('lock_held'));
        expect(lost.json).to.include({ rerun_requested: true, finished: true, error: null });
      }
      expect(await notes.persisted()).to.have.length(1);
    });

    it('follows a remember at once and is reported with it, unless it is disabled', async () => {
      const remember = async (more: object) =>
        (await wire.post('/remember', { datasetName: 'notes', raw_data: 'Ada Lovelace met Babbage.', ...more })).json;
      const off = await remember({});
      expect(off.status).to.equal('completed');
      expect(off, 'IMPROVE_AUTO_ENABLED=false').to.not.have.any.keys('improve', 'improve_error');
      await app.stop();
      await start({ IMPROVE_AUTO_ENABLED: 'true' });
      expect(await remember({ self_improvement: false })).to.not.have.any.keys('improve', 'improve_error');
      const { improve } = await remember({});
      expect(Object.keys(improve)).to.deep.equal(KEYS);
      expect(improve).to.deep.include({ dataset_name: 'notes', session_ids: [], finished: true, error: null });
      expect(stagesOf(improve.stages)['persist_session_qa']?.reason).to.equal('no_session_ids');
    });

    it('persists a limited number of windows of steps per run, and the rest the next time', async () => {
      await app.stop();
      await start({ IMPROVE_TRACE_WINDOW_STEPS: '2', IMPROVE_TRACE_WINDOWS_PER_RUN: '2' });
      await notes.steps('s1', 7);
      const windows = [];
      for (let run = 0; run < 3; run += 1) {
        windows.push(stages(await notes.improve(['s1']))['persist_agent_traces']?.counts['windows']);
      }
      expect(windows).to.deep.equal([2, 2, undefined]);
      const texts = await notes.persisted();
      const steps = texts.map((text) => [...text.matchAll(/look_(\d) /g)].map(([, step]) => Number(step)));
      expect(steps).to.deep.equal([[0, 1], [2, 3], [4, 5], [6]]);
    });

    it('skips disabled stages before any other reason', async () => {
      await app.stop();
      await start({ IMPROVE_STAGES_DISABLED: 'feedback_weights,persist_agent_traces' });
      await notes.steps('s1', 1);
      const answer = await notes.improve(['s1']);
      expect(stages(answer)['feedback_weights']).to.include({ status: 'skipped', reason: 'disabled_by_config' });
      expect(stages(answer)['persist_agent_traces']).to.include({ status: 'skipped', reason: 'disabled_by_config' });
    });

    it('does not persist answers from memory, but statements of the user', async () => {
      const fact = 'Anna Petrova works at Globex in Lisbon. She manages the harbour project.';
      await wire.post('/remember', { datasetName: 'notes', raw_data: fact });
      const ask = async (query: string, more: object = {}) => {
        const body = { query, search_type: 'GRAPH_COMPLETION', datasets: ['notes'], session_id: 's1', ...more };
        return (await wire.post('/search', body)).json[0].search_result[0] as string;
      };
      expect(await ask('Where does Anna Petrova work?')).to.match(/"Anna Petrova works at Globex/);
      expect(await ask('Who works at Globex?', { include_references: true })).to.include('Evidence:');
      expect(await ask('That was helpful, thanks!')).to.equal('Got it.');
      expect(await ask('What is the capital of Mars?')).to.match(/^Nothing in memory/);
      expect(stages(await notes.improve(['s1']))['persist_session_qa']).to.include({ status: 'completed' });
      expect(await notes.persisted()).to.deep.equal([]);
      await ask('Remember that Anna Petrova plays chess on Fridays.');
      await notes.improve(['s1']);
      expect(await notes.persisted()).to.deep.equal([
        'Session ID: s1\n\nQuestion: Remember that Anna Petrova plays chess on Fridays.\n\n',
      ]);
      expect(stages(await notes.improve(['s1']))['persist_session_qa']?.reason).to.equal('no_new_entries');
    });

    it('is erased with the dataset', async () => {
      const id = await notes.ask('s1', 'First?', 'One.', { used_graph_element_ids: { node_ids: ['gone'] } });
      await notes.rate('s1', id, 1);
      await notes.improve(['s1']);
      expect((await wire.post('/forget', { dataset: 'notes' })).status).to.equal(200);
      expect((await wire.get('/datasets')).json).to.deep.equal([]);
      await notes.improve(['s1']);
      expect(await notes.persisted(), 'it does not come back').to.deep.equal([]);
    });
  });

  describe('with a model', () => {
    let provider: ModelProvider;
    beforeEach(async () => {
      provider = await startModelProvider();
      await start(provider.variables);
    });
    afterEach(async () => {
      await app.stop();
      await provider.close();
    });

    it('ends with 402 and the results so far when persisting exhausts the budget, and resumes later', async () => {
      await notes.ask('s1', 'Who met?', 'Alice met Bob.');
      provider.answer = () => failure(402, { message: 'no credit' });
      const failed = await notes.improve(['s1']);
      expect(failed.status).to.equal(402);
      expect(Object.keys(failed.json)).to.deep.equal(['error', 'detail', 'improve_result']);
      expect(failed.json.error).to.equal('LLM budget exhausted: no credit');
      expect(failed.json.detail).to.equal('LLM budget exhausted: no credit [LLMPaymentRequiredError]');
      const result = failed.json.improve_result;
      expect(result).to.deep.include({ status: 'errored', finished: true, memify_run: {} });
      expect(result.error).to.include('LLMPaymentRequiredError');
      const done = stagesOf(result.stages);
      expect(done['persist_session_qa']?.status).to.equal('errored');
      for (const { status, reason } of result.stages.slice(2)) {
        expect({ status, reason }).to.deep.equal({ status: 'skipped', reason: 'budget_exhausted' });
      }
      provider.answer = () => undefined;
      expect(stages(await notes.improve(['s1']))['persist_session_qa']?.status).to.equal('completed');
      expect(await notes.persisted()).to.have.length(1);
    });

    it('ends with 409 and the results so far when persisting fails otherwise', async () => {
      await notes.ask('s1', 'Who met?', 'Alice met Bob.');
      provider.answer = () => failure(400, { message: 'no such model' });
      const failed = await notes.improve(['s1']);
      expect(failed.status).to.equal(409);
      expect(failed.json.error).to.match(/^Failed to cognify session data: /);
      expect(failed.json.detail).to.match(/ \[CogneeSystemError\]$/);
      const rest = failed.json.improve_result.stages.slice(2) as WireStage[];
      for (const { reason } of rest) expect(reason).to.equal('aborted_by_fatal_stage');
      const [row] = await improves();
      expect(row).to.include({ outcome: 'failed', status: 'DATASET_PROCESSING_ERRORED' });
    });

    it('ends with 200 when a later stage exhausts the budget, and resumes at the failed window', async () => {
      await notes.steps('s1', 2);
      provider.answer = () => failure(402, { message: 'no credit' });
      const failed = await notes.improve(['s1']);
      expect(failed.status).to.equal(200);
      expect(failed.json).to.include({ status: 'errored', error: null });
      const traces = stages(failed)['persist_agent_traces'];
      expect(traces).to.deep.include({ status: 'errored', counts: { sessions: 1, windows: 0 } });
      expect(traces?.error).to.match(/^LLMPaymentRequiredError: /);
      expect(stages(failed)['extract_agent_context']?.reason).to.equal('budget_exhausted');
      provider.answer = () => undefined;
      const again = stages(await notes.improve(['s1']))['persist_agent_traces'];
      expect(again).to.deep.include({ status: 'completed', counts: { sessions: 1, windows: 1 } });
      expect(await notes.persisted()).to.have.length(1);
    });
  });
});
