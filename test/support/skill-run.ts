import type { SkillRun } from '../../services/common/domain/skill.ts';

/** A run of a skill that went badly. */
export const skillRun = (more: Partial<SkillRun>): SkillRun => ({
  runId: 'r',
  skill: 's',
  skillName: 'triage',
  taskText: '',
  resultSummary: '',
  successScore: 0.2,
  feedback: 0,
  errorType: '',
  errorMessage: '',
  startedAtMs: 0,
  latencyMs: 0,
  candidateSkillIds: [],
  taskPatternId: '',
  routerVersion: '',
  toolTrace: [],
  nodeSet: 'skills',
  session: null,
  user: 'u',
  recordedAt: '',
  ...more,
});

/** The same as clients tell it; `error_type` and what was missing are in the proposal that is made of it. */
export const LENDING_RUN = {
  type: 'skill_run',
  selected_skill_id: 'lending',
  task_text: 'Lend a violin',
  success_score: 0.1,
  error_type: 'NoDeposit',
  error_message: 'The deposit was not asked for',
};
