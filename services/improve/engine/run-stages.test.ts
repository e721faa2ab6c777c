import { expect } from 'chai';
import { STAGE_NAMES, type StageName } from '../../common/domain/improve-stages.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { asId } from '../../common/kernel/ids.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import { createSilentLogger } from '../../common/platform/observability/logger.ts';
import { createSystemClock } from '../../common/platform/system/clock.ts';
import { DEFAULT_IMPROVE_SETTINGS, type ImproveSettings } from '../dependencies.ts';
import { createPassReads, defaultOptions, type ImprovePass, PartlyDoneError, type Stage } from '../model.ts';
import { createStageRunner } from './run-stages.ts';

const USER = asId<never>('00000000-0000-4000-8000-000000000001');

function pass(more: Partial<ImprovePass> = {}): ImprovePass {
  const at = '2026-01-02T03:04:05.678Z';
  const dataset = { id: asId<never>('d'), name: 'notes', ownerId: USER, tenant: PERSONAL_TENANT };
  const principal = { id: USER, email: 'a@example.com', tenant: PERSONAL_TENANT, isSuperuser: false, parentId: null };
  return {
    dataset: { ...dataset, createdAt: at, updatedAt: null },
    sessions: [{ user: USER, session: 's1' }],
    options: defaultOptions(0.1),
    principal,
    context: { requestId: 'test' },
    leaseToken: 'test/0',
    signal: new AbortController().signal,
    reads: createPassReads(),
    idleRuns: [],
    ...more,
  };
}

function stage(name: StageName, more: Partial<Stage> = {}): Stage {
  const run: Stage['run'] = async () => ({ status: 'completed', counts: { done: 1 } });
  return { name, gate: async () => null, run, ...more };
}

const failing = (name: StageName, error: unknown) =>
  stage(name, {
    async run() {
      throw error;
    },
  });

async function run(stages: readonly Stage[], settings: Partial<ImproveSettings> = {}, asked = pass()) {
  const deps = { settings: { ...DEFAULT_IMPROVE_SETTINGS, ...settings }, clock: createSystemClock() };
  const outcome = await createStageRunner({ ...deps, logger: createSilentLogger() }, stages).run(asked);
  expect(outcome.results.map((result) => result.stage)).to.deep.equal(STAGE_NAMES);
  const said = outcome.results.map(({ status, reason }) => reason ?? status);
  return { ...outcome, said, byName: new Map(outcome.results.map((result) => [result.stage, result])) };
}

const BUDGET = engramError('LLMPaymentRequiredError', 'LLM budget exhausted: no credit');

describe('a pass over the stages', () => {
  it('returns nine results in order, with backend_unsupported for missing stages', async () => {
    const { said } = await run([stage('distill_sessions')]);
    expect(said[4]).to.equal('completed');
    expect(said.filter((word) => word === 'backend_unsupported')).to.have.length(8);
  });

  it('checks gates in the order of the contract, the gate of the stage last', async () => {
    const closed = stage('build_truth_subspace', {
      gate: async () => ({ status: 'skipped', reason: 'opt_in_disabled' }),
    });
    const reason = async (settings: Partial<ImproveSettings>, sessions: ImprovePass['sessions']) =>
      (await run([closed], settings, pass({ sessions }))).byName.get('build_truth_subspace')?.reason;
    const { sessions } = pass();
    expect(await reason({ disabledStages: ['build_truth_subspace'] }, [])).to.equal('disabled_by_config');
    expect(await reason({}, [])).to.equal('no_session_ids');
    expect(await reason({}, sessions)).to.equal('opt_in_disabled');
  });

  it('runs a stage whose gate fails', async () => {
    const broken = stage('feedback_weights', {
      async gate() {
        throw new Error('no answer');
      },
    });
    expect((await run([broken])).said[0]).to.equal('completed');
  });

  it('continues after a failed stage, and hides unknown errors', async () => {
    const { said, byName, failure } = await run([
      failing('feedback_weights', new TypeError('/secret/path is not a function')),
      failing('persist_agent_traces', engramError('DatasetNotFoundError', 'It is gone.')),
      stage('extract_agent_context'),
    ]);
    expect(said.slice(0, 4)).to.deep.equal(['errored', 'backend_unsupported', 'errored', 'completed']);
    expect(byName.get('feedback_weights')?.error).to.match(/^CogneeSystemError: /);
    expect(byName.get('feedback_weights')?.error).to.not.include('secret');
    expect(byName.get('persist_agent_traces')?.error).to.equal('DatasetNotFoundError: It is gone.');
    expect(failure).to.equal(null);
  });

  it('ends after the fatal stage failed', async () => {
    const error = engramError('CogneeSystemError', 'Failed to cognify session data: no.');
    const { said, failure, isExhausted } = await run([
      failing('persist_session_qa', error),
      stage('persist_agent_traces'),
    ]);
    expect(said[1]).to.equal('errored');
    expect(said.slice(2)).to.deep.equal(Array(7).fill('aborted_by_fatal_stage'));
    expect(failure).to.equal(error);
    expect(isExhausted).to.equal(false);
  });

  for (const name of ['persist_session_qa', 'distill_sessions'] as const) {
    it(`skips later stages after ${name} spent the budget`, async () => {
      const { said, failure, isExhausted } = await run([
        failing(name, new PartlyDoneError(BUDGET, { documents: 3 })),
        stage('global_context_index'),
      ]);
      const index = STAGE_NAMES.indexOf(name);
      expect(said[index]).to.equal('errored');
      expect(said.slice(index + 1)).to.deep.equal(Array(8 - index).fill('budget_exhausted'));
      expect(isExhausted).to.equal(true);
      expect(failure).to.equal(name === 'persist_session_qa' ? BUDGET : null);
    });
  }

  it('reports the counts of a stage that failed after a part of its work', async () => {
    const { byName } = await run([failing('persist_agent_traces', new PartlyDoneError(BUDGET, { windows: 4 }))]);
    expect(byName.get('persist_agent_traces')).to.deep.include({ status: 'errored', counts: { windows: 4 } });
    expect(byName.get('persist_agent_traces')?.error).to.equal(`LLMPaymentRequiredError: ${BUDGET.message}`);
  });

  it('returns the error of a fatal stage that reported its failure without throwing', async () => {
    const told = stage('persist_session_qa', {
      run: async () => ({ status: 'errored', error: 'it said so', counts: {} }),
    });
    const { failure } = await run([told]);
    expect(String(failure)).to.include('it said so');
  });

  it('reads shared values once, and again after a stage that changed something or failed', async () => {
    const versions: number[] = [];
    let version = 0;
    const reading = (name: StageName, then: 'unchanged' | 'changed' | 'fails') =>
      stage(name, {
        async run({ reads }) {
          versions.push(await reads.once('version', async () => version));
          version += 1;
          if (then === 'fails') throw new Error('no');
          return { status: 'completed', counts: {}, isUnchanged: then === 'unchanged' };
        },
      });
    await run([
      reading('feedback_weights', 'unchanged'),
      stage('persist_session_qa', { gate: async () => ({ status: 'already_completed', reason: 'no_new_entries' }) }),
      reading('persist_agent_traces', 'changed'),
      reading('extract_agent_context', 'fails'),
      reading('distill_sessions', 'unchanged'),
      reading('update_user_preferences', 'unchanged'),
    ]);
    expect(versions).to.deep.equal([0, 0, 2, 3, 3]);
  });

  it('stops at once when another improve has the sessions', async () => {
    const lost = new AbortController();
    const slow = stage('feedback_weights', {
      async run() {
        lost.abort(engramError('ServiceUnavailableError', 'Another worker has taken over.'));
        return { status: 'completed', counts: {} };
      },
    });
    let error: unknown;
    await run([slow], {}, pass({ signal: lost.signal })).catch((caught: unknown) => {
      error = caught;
    });
    expect(String(error)).to.include('Another worker has taken over.');
  });
});
