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
