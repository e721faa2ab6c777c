import { type DatasetRef, scopeOf } from '../../common/domain/dataset.ts';
import type { Principal } from '../../common/domain/principal.ts';
import { commitUncontended } from './commit-uncontended.ts';
import { findSkill } from './find-skill.ts';
import type { SkillDependencies } from './skill-dependencies.ts';

/** Removes the skill with its runs and proposals, and records how many they were. False when there is none. */
export async function deleteSkill(
  dependencies: SkillDependencies,
  principal: Principal,
  { dataset, id }: { readonly dataset: DatasetRef; readonly id: string },
): Promise<boolean> {
  const { skills, skillRuns, proposals, audit, ids } = dependencies;
  const scope = scopeOf(dataset);
  return commitUncontended(async () => {
    const stored = await findSkill(dependencies, dataset, id);
    if (stored === null) return false;
    const { id: skill } = stored.skill;
    const [runs, drafts] = await Promise.all([skillRuns.count(scope, skill), proposals.count(scope, skill)]);
    const writes = [
      ...skills.removeWrites(ids.uuid(), stored),
      skillRuns.removeOfSkillWrite(skill),
      proposals.removeOfSkillWrite(skill),
    ];
    const details = { dataset: dataset.id, runs, proposals: drafts };
    const entry = { tenant: dataset.tenant, action: 'skill.deleted', actor: principal.id, subject: skill, details };
    await audit.commit(scope, writes, [entry]);
    return true;
  });
}
