import type { IngestDependencies } from '../dependencies.ts';

/** What the use cases of skills work with. */
export type SkillDependencies = Pick<
  IngestDependencies,
  'store' | 'skills' | 'skillRuns' | 'proposals' | 'models' | 'audit' | 'messenger' | 'clock' | 'ids' | 'logger'
>;
