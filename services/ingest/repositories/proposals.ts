import type { SkillProposal } from '../../common/domain/skill.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import {
  type Collection,
  type DocumentStore,
  insert,
  removeWhere,
  replace,
  type Write,
} from '../../common/storage/ports/document-store.ts';

type ProposalDocument = Omit<SkillProposal, 'id'> & JsonObject;

export const skillProposalsCollection: Collection<ProposalDocument> = {
  name: 'skill_proposals',
  level: 'dataset',
  indexes: [{ fields: ['skill'] }],
};

export interface StoredProposal {
  readonly proposal: SkillProposal;
  readonly version: number;
}

/** Proposals for skills. Ingest writes them. */
export interface Proposals {
  get(scope: DatasetScope, id: string): Promise<StoredProposal | null>;
  insertWrite(proposal: SkillProposal): Write;
  /** `VersionConflictError` in the commit when it changed since. */
  replaceWrite(was: StoredProposal, proposal: SkillProposal): Write;
  count(scope: DatasetScope, skill: string): Promise<number>;
  removeOfSkillWrite(skill: string): Write;
}

export function createProposals(store: DocumentStore): Proposals {
  const collection = skillProposalsCollection;
  return {
    async get(scope, id) {
      const stored = await store.get(scope, collection, id);
      return stored === null ? null : { proposal: { id, ...stored.value }, version: stored.version };
    },
    insertWrite: ({ id, ...proposal }) => insert(collection, id, proposal),
    replaceWrite: ({ version }, { id, ...proposal }) => replace(collection, id, proposal, version),
    count: (scope, skill) => store.count(scope, collection, { skill }),
    removeOfSkillWrite: (skill) => removeWhere(collection, { skill }),
  };
}
