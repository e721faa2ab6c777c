import type { DatasetScope } from '../domain/scope.ts';
import { type AnyCollection, type DocumentStore, removeWhere } from '../ports/document-store.ts';
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
  for (const collection of skillCollections) await store.commit(scope, [removeWhere(collection, {})]);
  const left = await Promise.all(skillCollections.map((collection) => store.count(scope, collection, {})));
  return left.reduce((sum, count) => sum + count, 0);
}
