import { skillShelvesCollection, skillsCollection } from '../../common/records/ingest/skills.ts';
import type { AnyCollection } from '../../common/storage/ports/document-store.ts';
import { skillProposalsCollection } from './proposals.ts';
import { skillRunsCollection } from './skill-runs.ts';

/** Everything that a dataset knows of skills; the runs, which may be very many, by themselves. */
export const skillCollections: readonly AnyCollection[] = [
  skillsCollection,
  skillShelvesCollection,
  skillProposalsCollection,
  skillRunsCollection,
];
