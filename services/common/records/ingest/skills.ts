import type { Skill } from '../../domain/skill.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { pagesOf } from '../../kernel/result-page.ts';
import type { DatasetScope } from '../../kernel/scope.ts';
import {
  type Collection,
  type DocumentStore,
  insert,
  remove,
  replace,
  type Stored,
  update,
  type Write,
} from '../../storage/ports/document-store.ts';
import { findAll } from '../base/find-all.ts';

type SkillDocument = Omit<Skill, 'id'> & JsonObject & { readonly sortName: string };

export const skillsCollection: Collection<SkillDocument> = {
  name: 'skills',
  level: 'dataset',
  indexes: [{ fields: ['sortName'] }, { fields: ['isActive', 'sortName'] }, { fields: ['name'] }],
};

type ShelfDocument = {
  /** Another one after every change of a skill; never used again, not even by a dataset that is made anew. */
  readonly revision: string;
  readonly count: number;
};

/** One document per dataset that has skills: tells readers whether what they remember still holds. */
export const skillShelvesCollection: Collection<ShelfDocument> = {
  name: 'skill_shelves',
  level: 'dataset',
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

export interface SkillShelf extends ShelfDocument {}

/** Skills of datasets. Ingest writes them, search reads them. */
export interface Skills {
  get(scope: DatasetScope, id: string): Promise<StoredSkill | null>;
  getMany(scope: DatasetScope, ids: readonly string[]): Promise<readonly StoredSkill[]>;
  /** Active ones of exactly that name: several when they came from different folders. */
  named(scope: DatasetScope, name: string): Promise<readonly StoredSkill[]>;
  /** By lower-cased name. */
  page(
    scope: DatasetScope,
    page: { readonly limit: number; readonly offset: number; readonly includeInactive: boolean },
  ): Promise<readonly Skill[]>;
  /** All active ones by name, a few at a time: their procedures may be large. */
  active(scope: DatasetScope): AsyncGenerator<readonly Skill[]>;
  /** Null: the dataset never had a skill. */
  shelf(scope: DatasetScope): Promise<SkillShelf | null>;
  /** All or nothing with whatever else is in the commit; conflicts when a skill changed since `was` was read. */
  storeWrites(
    shelf: SkillShelf | null,
    revision: string,
    changes: readonly { readonly skill: Skill; readonly was: StoredSkill | null }[],
  ): readonly Write[];
  removeWrites(revision: string, stored: StoredSkill): readonly Write[];
  /** Changes nothing; `VersionConflictError` in the commit when the skill is gone. */
  keepWrite(id: string): Write;
}

export function createSkills(store: DocumentStore): Skills {
  const collection = skillsCollection;
  return {
    async get(scope, id) {
      const stored = await store.get(scope, collection, id);
      return stored === null ? null : storedSkill(stored);
    },
    getMany: async (scope, ids) => (await store.getMany(scope, collection, ids)).map(storedSkill),
    async named(scope, name) {
      const found = await findAll(store, scope, collection, { where: { name } });
      return found.map(storedSkill).filter(({ skill }) => skill.isActive);
    },
    async page(scope, { limit, offset, includeInactive }) {
      const where = includeInactive ? {} : { isActive: true };
      const { items } = await store.find(scope, collection, { where, sort: [{ field: 'sortName' }], limit, offset });
      return items.map((stored) => storedSkill(stored).skill);
    },
    async *active(scope) {
      const query = { where: { isActive: true }, sort: [{ field: 'sortName' as const }], limit: ACTIVE_PAGE };
      const read = (after: string | null) => store.find(scope, collection, { ...query, after });
      for await (const page of pagesOf(read)) yield page.map((stored) => storedSkill(stored).skill);
    },
    shelf: async (scope) => (await store.get(scope, skillShelvesCollection, SHELF))?.value ?? null,
    storeWrites(shelf, revision, changes) {
      const added = changes.filter(({ was }) => was === null).length;
      const writes = changes.map(({ skill, was }) =>
        was === null
          ? insert(collection, skill.id, documentOf(skill))
          : replace(collection, skill.id, documentOf(skill), was.version),
      );
      return [shelfWrite(shelf, revision, added), ...writes];
    },
    removeWrites: (revision, { skill, version }) => [
      update(skillShelvesCollection, SHELF, { set: { revision }, increment: { count: -1 }, required: true }),
      remove(collection, skill.id, version),
    ],
    keepWrite: (id) => update(collection, id, { required: true }),
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
