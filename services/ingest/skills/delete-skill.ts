import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import type { IngestDependencies } from '../dependencies.ts';
import { findSkill } from './find-skill.ts';

/** More runs go in parts before the commit that removes the skill: no commit grows with a skill's history. */
const MAX_RUNS_IN_COMMIT = 1000;

/** Removes the skill with its runs and proposals, and records how many they were. False when there is none. */
export async function deleteSkill(
  dependencies: IngestDependencies,
  principal: Principal,
  { dataset, id }: { readonly dataset: DatasetRef; readonly id: string },
): Promise<boolean> {
  const { store, skills, skillRuns, proposals, audit, ids } = dependencies;
  const scope = scopeOf(dataset);
  let removed = 0;
  return retryOnConflict(async () => {
    const stored = await findSkill(dependencies, dataset, id);
    if (stored === null) return false;
    const { id: skill } = stored.skill;
    const [runs, drafts] = await Promise.all([skillRuns.count(scope, skill), proposals.count(scope, skill)]);
    if (runs > MAX_RUNS_IN_COMMIT) {
      const [gone] = await store.commit(scope, [skillRuns.removeOfSkillWrite(skill)]);
      removed += gone?.changed ?? 0;
    }
    const writes = [
      ...skills.removeWrites(ids.uuid(), stored),
      skillRuns.removeOfSkillWrite(skill),
      proposals.removeOfSkillWrite(skill),
    ];
    const details = { dataset: dataset.id, runs: Math.max(runs, removed), proposals: drafts };
    const entry = { tenant: dataset.tenant, action: 'skill.deleted', actor: principal.id, subject: skill, details };
    await audit.commit(scope, writes, [entry]);
    return true;
  });
}
