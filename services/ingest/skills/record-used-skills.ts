import type { UsedSkill } from '../../common/domain/skill.ts';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { isEngramError } from '../../common/kernel/errors.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import type { SkillDependencies } from '../dependencies.ts';
import { recordSkillRun } from './record-skill-run.ts';

/** Nobody has judged it. */
const UNJUDGED = 0.5;

/** Runs of skills that an agent of search opened. Those of skills that are gone are passed over; how many were kept. */
export async function recordUsedSkills(
  dependencies: SkillDependencies,
  dataset: DatasetRef,
  runs: readonly UsedSkill[],
  { principal, context }: { readonly principal: Principal; readonly context: CallContext },
): Promise<number> {
  let recorded = 0;
  for (const { skill, ...used } of runs) {
    const run = {
      ...{ ...used, runId: dependencies.ids.uuid(), successScore: UNJUDGED, feedback: 0 },
      ...{ errorType: '', errorMessage: '', taskPatternId: '', routerVersion: '', nodeSet: 'skills' },
    };
    try {
      const request = { principal, dataset, context, selectedSkill: skill, run, improvement: null };
      await recordSkillRun(dependencies, request);
      recorded += 1;
    } catch (error) {
      if (!isEngramError(error) || error.wireName !== 'InvalidRequestError') throw error;
    }
  }
  return recorded;
}
