import { type Skill, skillId, virtualSourceDir } from '../../common/domain/skill.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import { MAX_SKILLS_PER_DATASET } from '../../common/records/ingest/skills.ts';
import { readSkill } from './read-skill.ts';
import type { SkillDependencies } from './skill-dependencies.ts';
import type { SkillSource } from './skill-sources.ts';

type Draft = Omit<Skill, 'createdAt' | 'updatedAt'>;

/** Reads the texts; throws before anything is looked up or made. The last of several with one identity holds. */
export function readSources(sources: readonly SkillSource[]): readonly ((dataset: DatasetRef) => Draft)[] {
  return sources.map(({ name, folder, text }) => {
    const skill = readSkill(name, text);
    return (dataset) => {
      const sourceDir = virtualSourceDir(dataset.id, folder);
      return { id: skillId(dataset.id, sourceDir, skill.name), sourceDir, ...skill };
    };
  });
}

/** Stores the skills in one commit; those that are there are updated in place. Returns them in the order of the texts. */
export async function storeSkills(
  { store, skills, clock, ids }: SkillDependencies,
  dataset: DatasetRef,
  read: ReturnType<typeof readSources>,
): Promise<readonly Skill[]> {
  const scope = scopeOf(dataset);
  const drafts = new Map(read.map((draftFor) => draftFor(dataset)).map((draft) => [draft.id, draft]));
  if (drafts.size === 0) return [];
  return retryOnConflict(async () => {
    const [shelf, known] = await Promise.all([skills.shelf(scope), skills.getMany(scope, [...drafts.keys()])]);
    const stored = new Map(known.map((one) => [one.skill.id, one]));
    const at = clock.now().toISOString();
    const changes = [...drafts.values()].map((draft) => {
      const was = stored.get(draft.id) ?? null;
      return { skill: { ...draft, createdAt: was?.skill.createdAt ?? at, updatedAt: at }, was };
    });
    if ((shelf?.count ?? 0) + drafts.size - stored.size > MAX_SKILLS_PER_DATASET) {
      throw engramError('PayloadTooLargeError', `A dataset holds at most ${MAX_SKILLS_PER_DATASET} skills.`);
    }
    await store.commit(scope, skills.storeWrites(shelf, ids.uuid(), changes));
    return changes.map(({ skill }) => skill);
  });
}
