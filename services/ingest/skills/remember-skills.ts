import type { Skill } from '../../common/domain/skill.ts';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import { type DatasetSelection, targetDataset } from '../items/target-dataset.ts';
import type { SkillDependencies } from './skill-dependencies.ts';
import type { SkillSource } from './skill-sources.ts';
import { readSources, storeSkills } from './store-skills.ts';

export interface RememberedSkills {
  readonly dataset: DatasetRef;
  readonly skills: readonly Skill[];
  readonly elapsedSeconds: number;
}

/** Permission `write` on the dataset; a new name is created once the texts have been read. */
export async function rememberSkills(
  dependencies: SkillDependencies,
  request: {
    readonly principal: Principal;
    readonly selection: DatasetSelection;
    readonly sources: readonly SkillSource[];
    readonly context: CallContext;
  },
): Promise<RememberedSkills> {
  const { clock, messenger } = dependencies;
  const { principal, selection, sources, context } = request;
  const startedMs = clock.monotonicMs();
  const read = readSources(sources);
  const options = { permission: 'write', createMissing: true, context } as const;
  const dataset = await targetDataset(messenger, principal, selection, options);
  const skills = await storeSkills(dependencies, dataset, read);
  return { dataset, skills, elapsedSeconds: (clock.monotonicMs() - startedMs) / 1000 };
}
