import { type Skill, skillId, virtualSourceDir } from '../../common/domain/skill.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import { MAX_SKILLS_PER_DATASET } from '../../common/records/ingest/skills.ts';
import type { IngestDependencies } from '../dependencies.ts';
import { type DatasetSelection, targetDataset } from '../items/target-dataset.ts';
import { readSkill } from './read-skill.ts';
import type { SkillSource } from './skill-sources.ts';

/** Permission `write` on the dataset; a new name is created once the texts have been read. */
export async function rememberSkills(
  dependencies: IngestDependencies,
  request: {
    readonly principal: Principal;
    readonly selection: DatasetSelection;
    readonly sources: readonly SkillSource[];
    readonly context: CallContext;
  },
) {
  const { clock, messenger } = dependencies;
  const { principal, selection, sources, context } = request;
  const startedMs = clock.monotonicMs();
  const read = readSources(sources);
  const options = { permission: 'write', createMissing: true, context } as const;
  const dataset = await targetDataset(messenger, principal, selection, options);
  const skills = await storeSkills(dependencies, dataset, read);
  return { dataset, skills, elapsedSeconds: (clock.monotonicMs() - startedMs) / 1000 };
}

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
  { store, skills, clock, ids }: IngestDependencies,
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
