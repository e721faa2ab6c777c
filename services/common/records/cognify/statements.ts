import type { DataItemId } from '../../kernel/brand.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { DatasetScope } from '../../kernel/scope.ts';
import { slices } from '../../kernel/slices.ts';
import { type DocumentStore, insert, type Stored, update } from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';
import type { RowSelection } from '../../storage/ports/text-index.ts';
import type { Statement, StatementValue } from '../../text/statements/statement.ts';
import { repository } from '../base/repository.ts';

type StatementDocument = Omit<StoredStatement, 'id' | 'item' | 'chunk' | 'value'> & {
  readonly statementId: string;
  readonly value: JsonObject;
  readonly itemId: string;
  readonly chunkId: string;
  /** It was compared with other statements of its subject. */
  readonly judged: boolean;
};

/** Rows of items like those of the indexes: of a generation, visible by the ledger. Written by cognify. */
export const statementsCollection: OwnedCollection<StatementDocument> = {
  name: 'statements',
  level: 'dataset',
  owner: 'cognify',
  readers: ['ingest'],
  belongsTo: { dataset: 'scope' },
  isMemory: true,
  inSnapshots: true,
  indexes: [{ fields: ['judged'] }, { fields: ['key', 'at'] }, { fields: ['itemId', 'generation'] }],
};

/** A statement of a generation of its item. */
export type StoredStatement = Statement & { readonly generation: number };

const NEWEST_PER_KEY = 256;
const SLICE = 100;
const PAGE = 1000;

export type Statements = ReturnType<typeof createStatements>;

export function createStatements(store: DocumentStore) {
  const collection = statementsCollection;
  const records = repository(store, collection, statementOf);
  const newestOf = async (scope: DatasetScope, key: string): Promise<readonly StoredStatement[]> => {
    const sort = [{ field: 'at', descending: true }] as const;
    return (await records.page(scope, { where: { key }, sort, limit: NEWEST_PER_KEY })).items;
  };
  const ofKeys = async (scope: DatasetScope, keys: readonly string[]): Promise<readonly StoredStatement[]> => {
    const found: StoredStatement[] = [];
    for (const slice of slices(keys, SLICE)) {
      const page = await records.page(scope, { where: { key: { in: slice } }, limit: PAGE });
      if (page.next === null) found.push(...page.items);
      else for (const key of slice) found.push(...(await newestOf(scope, key)));
    }
    return found;
  };
  return {
    /** Statements of each key, the newest `NEWEST_PER_KEY` of each at most. */
    ofKeys,
    /** Durable when it resolves. Existing statements stay. */
    async put(scope: DatasetScope, generation: number, statements: readonly Statement[]): Promise<void> {
      const known = new Set<string>();
      const fresh = statements.filter(({ id }) => !known.has(id) && known.add(id).has(id));
      for (const slice of slices(fresh, SLICE)) {
        await store.commit(
          scope,
          slice.map((one) => insert(collection, rowId(one.id, generation), documentOf(one, generation))),
        );
      }
    },
    /** Pages of statements that were not compared yet, uncommitted ones among them. */
    unjudged: (scope: DatasetScope, after: string | null) =>
      records.page(scope, { where: { judged: false }, limit: PAGE, after }),
    ofItems: (scope: DatasetScope, items: readonly DataItemId[]) =>
      records.allOf(scope, items, (some) => ({ where: { itemId: { in: some } } })),
    judgedWrites: (statements: readonly StoredStatement[]) =>
      statements.map(({ id, generation }) => update(collection, rowId(id, generation), { set: { judged: true } })),
    /** Removes statements; the others with the same keys are marked to be compared again. Resolves to the number removed. */
    async remove(scope: DatasetScope, { item, generation, beforeGeneration }: RowSelection): Promise<number> {
      const where = {
        itemId: item,
        ...(generation === undefined ? {} : { generation }),
        ...(beforeGeneration === undefined ? {} : { generation: { lessThan: beforeGeneration } }),
      };
      const { items: gone } = await store.find(scope, collection, { where: { itemId: item }, limit: PAGE });
      if (gone.length === 0) return 0;
      const others = (await ofKeys(scope, [...new Set(gone.map(({ value }) => value.key))])).filter(
        (other) => other.item !== item,
      );
      for (const slice of slices(others, SLICE)) {
        await store.commit(
          scope,
          slice.map((other) => update(collection, rowId(other.id, other.generation), { set: { judged: false } })),
        );
      }
      return records.removeWhere(scope, where);
    },
    count: (scope: DatasetScope, items?: readonly DataItemId[]) =>
      items === undefined ? records.count(scope) : records.countOf(scope, items, (some) => ({ itemId: { in: some } })),
  };
}

function rowId(statement: string, generation: number): string {
  return `${statement}/${generation}`;
}

function documentOf(statement: Statement, generation: number): StatementDocument {
  const { id, item, chunk, value, ...rest } = statement;
  return {
    ...rest,
    statementId: id,
    itemId: item,
    chunkId: chunk,
    generation,
    judged: false,
    value: value as unknown as JsonObject,
  };
}

function statementOf({ value: document }: Stored<StatementDocument>): StoredStatement {
  const { statementId, itemId, chunkId, judged: _, value, ...rest } = document;
  return { ...rest, id: statementId, item: itemId, chunk: chunkId, value: value as unknown as StatementValue };
}
