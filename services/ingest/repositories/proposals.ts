import type { SkillProposal } from '../../common/domain/skill.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { type DocumentStore, insert, removeWhere, replace } from '../../common/storage/ports/document-store.ts';
import type { OwnedCollection } from '../../common/storage/ports/owned-collection.ts';

type ProposalDocument = Omit<SkillProposal, 'id'> & JsonObject;

export const skillProposalsCollection: OwnedCollection<ProposalDocument> = {
  name: 'skill_proposals',
  level: 'dataset',
  owner: 'ingest',
  belongsTo: { dataset: 'scope' },
  indexes: [{ fields: ['skill'] }, { fields: ['createdAt'] }],
};

export interface StoredProposal {
  readonly proposal: SkillProposal;
  readonly version: number;
}

/** Proposals for skills. Ingest writes them. */
export function createProposals(store: DocumentStore) {
  const collection = skillProposalsCollection;
  return {
    /** Newest first. */
    async page(scope: DatasetScope, page: { readonly offset: number; readonly limit: number }) {
      const sort = [{ field: 'createdAt', descending: true }] as const;
      const { items } = await store.find(scope, collection, { ...page, sort });
      return items.map(({ id, value }) => ({ id, ...value }));
    },
    async get(scope: DatasetScope, id: string): Promise<StoredProposal | null> {
      const stored = await store.get(scope, collection, id);
      return stored === null ? null : { proposal: { id, ...stored.value }, version: stored.version };
    },
    insertWrite: ({ id, ...proposal }: SkillProposal) => insert(collection, id, proposal),
    /** `VersionConflictError` in the commit when it changed since. */
    replaceWrite: ({ version }: StoredProposal, { id, ...proposal }: SkillProposal) =>
      replace(collection, id, proposal, version),
    count: (scope: DatasetScope, skill: string) => store.count(scope, collection, { skill }),
    removeOfSkillWrite: (skill: string) => removeWhere(collection, { skill }),
  };
}
