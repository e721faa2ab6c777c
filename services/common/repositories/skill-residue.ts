import type { DatasetScope } from '../domain/scope.ts';
import type { AnyCollection, DocumentStore } from '../ports/document-store.ts';
import { eraseCollections } from './erase-collections.ts';
import { skillProposalsCollection } from './proposals.ts';
import { skillRunsCollection } from './skill-runs.ts';
import { skillShelvesCollection, skillsCollection } from './skills.ts';

/** Everything that a dataset knows of skills; the runs, which may be very many, by themselves. */
export const skillCollections: readonly AnyCollection[] = [
  skillsCollection,
  skillShelvesCollection,
  skillProposalsCollection,
  skillRunsCollection,
];

/** For a dataset that goes. Returns how much is left. */
export async function eraseSkills(store: DocumentStore, scope: DatasetScope): Promise<number> {
  return (await eraseCollections(store, scope, skillCollections)).left;
}
