import type { Skill } from '../../domain/skill.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { pagesOf } from '../../kernel/result-page.ts';
import type { DatasetScope } from '../../kernel/scope.ts';
import { type DocumentStore, insert, type Stored, update, type Write } from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';
import { findAll } from '../base/find-all.ts';
import { repository } from '../base/repository.ts';

type SkillDocument = Omit<Skill, 'id'> & JsonObject & { readonly sortName: string };

export const skillsCollection: OwnedCollection<SkillDocument> = {
  name: 'skills',
  level: 'dataset',
  owner: 'ingest',
  readers: ['search'],
  belongsTo: { dataset: 'scope' },
  inSnapshots: true,
  indexes: [{ fields: ['sortName'] }, { fields: ['isActive', 'sortName'] }, { fields: ['name'] }],
};

type ShelfDocument = {
  /** A new id after every change of a skill; never used again, not even by a dataset with the same id. */
  readonly revision: string;
  readonly count: number;
};

/** Revision of a dataset's skills, one document per dataset: tells readers whether their cache is current. */
export const skillShelvesCollection: OwnedCollection<ShelfDocument> = {
  name: 'skill_shelves',
  level: 'dataset',
  owner: 'ingest',
  readers: ['search'],
  belongsTo: { dataset: 'scope' },
  inSnapshots: true,
  indexes: [],
};

const SHELF = 'shelf';

const ACTIVE_PAGE = 100;

/** Readers keep all skills of a dataset in memory. */
export const MAX_SKILLS_PER_DATASET = 5000;

export interface StoredSkill {
  readonly skill: Skill;
  readonly version: number;
}

interface SkillShelf extends ShelfDocument {}

export type Skills = ReturnType<typeof createSkills>;

/** Skills of datasets. Ingest writes them, search reads them. */
export function createSkills(store: DocumentStore) {
  const records = repository(store, skillsCollection, storedSkill);
  const collection = skillsCollection;
  return {
    get: (scope: DatasetScope, id: string) => records.get(scope, id),
    getMany: async (scope: DatasetScope, ids: readonly string[]) => await records.getMany(scope, ids),
    /** Active ones of exactly that name: several when they came from different folders. */
    async named(scope: DatasetScope, name: string): Promise<readonly StoredSkill[]> {
      const found = await findAll(store, scope, collection, { where: { name } });
      return found.map(storedSkill).filter(({ skill }) => skill.isActive);
    },
    /** By lower-cased name. */
    async page(
      scope: DatasetScope,
      {
        limit,
        offset,
        includeInactive,
      }: { readonly limit: number; readonly offset: number; readonly includeInactive: boolean },
    ): Promise<readonly Skill[]> {
      const where = includeInactive ? {} : { isActive: true };
      const { items } = await store.find(scope, collection, { where, sort: [{ field: 'sortName' }], limit, offset });
      return items.map((stored) => storedSkill(stored).skill);
    },
    /** All active ones by name, a few at a time: their procedures may be large. */
    async *active(scope: DatasetScope): AsyncGenerator<readonly Skill[]> {
      const query = { where: { isActive: true }, sort: [{ field: 'sortName' as const }], limit: ACTIVE_PAGE };
      const read = (after: string | null) => store.find(scope, collection, { ...query, after });
      for await (const page of pagesOf(read)) yield page.map((stored) => storedSkill(stored).skill);
    },
    /** Null: the dataset never had a skill. */
    shelf: async (scope: DatasetScope) => (await store.get(scope, skillShelvesCollection, SHELF))?.value ?? null,
    /** All or nothing with whatever else is in the commit; conflicts when a skill changed since `was` was read. */
    storeWrites(
      shelf: SkillShelf | null,
      revision: string,
      changes: readonly { readonly skill: Skill; readonly was: StoredSkill | null }[],
    ): readonly Write[] {
      const added = changes.filter(({ was }) => was === null).length;
      const writes = changes.map(({ skill, was }) => records.putWrite(skill.id, documentOf(skill), was));
      return [shelfWrite(shelf, revision, added), ...writes];
    },
    removeWrites: (revision: string, { skill, version }: StoredSkill) => [
      update(skillShelvesCollection, SHELF, { set: { revision }, increment: { count: -1 }, required: true }),
      records.removeWrite(skill.id, version),
    ],
    /** Changes nothing; `VersionConflictError` in the commit when the skill was removed. */
    keepWrite: (id: string) => records.updateWrite(id, { required: true }),
  };
}

function shelfWrite(shelf: SkillShelf | null, revision: string, added: number): Write {
  if (shelf === null) return insert(skillShelvesCollection, SHELF, { revision, count: added });
  return update(skillShelvesCollection, SHELF, {
    where: { count: { atMost: MAX_SKILLS_PER_DATASET - added } },
    set: { revision },
    increment: { count: added },
    required: true,
  });
}

function documentOf({ id: _, ...skill }: Skill): SkillDocument {
  return { ...skill, sortName: skill.name.toLowerCase() };
}

function storedSkill({ id, version, value }: Stored<SkillDocument>): StoredSkill {
  const { sortName: _, ...skill } = value;
  return { skill: { id, ...skill }, version };
}
