import { expect } from 'chai';
import { problemsOf } from '../../../../test/support/config-problems.ts';
import { loadConfig } from './load-config.ts';

describe('the settings of improve', () => {
  it('have the defaults of the contract', () => {
    const { config } = loadConfig({});
    expect(config).to.deep.include({
      improveFeedbackAlpha: 0.1,
      improveStagesDisabled: [],
      improveAutoEnabled: true,
      improveDebounceEntries: 1,
      improveDebounceMs: 0,
      improveTraceWindowSteps: 30,
      improveTraceWindowsPerRun: 10,
      improveDistillMaxBatches: 0,
    });
  });

  it('name stages that are switched off, but for the one that nothing goes without', () => {
    const { config } = loadConfig({ IMPROVE_STAGES_DISABLED: 'distill_sessions, feedback_weights' });
    expect(config.improveStagesDisabled).to.have.members(['feedback_weights', 'distill_sessions']);
    for (const wrong of ['persist_session_qa', 'make_coffee', 'distill_sessions,nothing']) {
      expect(problemsOf({ IMPROVE_STAGES_DISABLED: wrong }), wrong).to.have.length(1);
    }
  });

  it('refuse what is out of range', () => {
    const wrong = {
      IMPROVE_FEEDBACK_ALPHA: ['0', '1.1', '-0.1', 'much'],
      IMPROVE_TRACE_WINDOW_STEPS: ['-1', '1.5'],
      IMPROVE_TRACE_WINDOWS_PER_RUN: ['-1'],
      IMPROVE_DEBOUNCE_ENTRIES: ['-1'],
      IMPROVE_DEBOUNCE_SECONDS: ['-1'],
      IMPROVE_DISTILL_MAX_BATCHES_PER_RUN: ['-1'],
      IMPROVE_AUTO_ENABLED: ['perhaps'],
    };
    for (const [name, values] of Object.entries(wrong)) {
      for (const value of values) expect(problemsOf({ [name]: value }), `${name}=${value}`).to.have.length(1);
    }
  });
});
