import { sha256, sha256OfJson } from '../../../kernel/hashes.ts';
import type { DatasetScope } from '../../../kernel/scope.ts';
import type { EntryKey, IndexKind } from '../../ports/index-entry.ts';
import type { VectorSpace } from '../../ports/vector-index.ts';

/** Names of indexes and aliases, all of which begin with the prefix. */
export type ElasticsearchNames = ReturnType<typeof createNames>;

/** Ids like this, UUIDs among them, can be read in the names; others go by their hash, which has an underscore. */
const READABLE = /^[a-z0-9][a-z0-9-]{0,63}$/;

export function createNames(prefix: string) {
  const placement = ({ tenant, dataset }: DatasetScope) => `${namePart(tenant)}.${namePart(dataset)}`;
  const spaceOf = ({ model, dimensions }: VectorSpace) => `${dimensions}.${digest(model).slice(0, 12)}`;
  return {
    /** Index of the tenant's rows. */
    textIndex: ({ tenant }: DatasetScope) => `${prefix}-text.${namePart(tenant)}`,
    /** Alias of the dataset's rows. */
    textAlias: (scope: DatasetScope) => `${prefix}-dataset-text.${placement(scope)}`,
    /** Index of the tenant's vectors of one embedding. */
    vectorIndex: ({ tenant }: DatasetScope, space: VectorSpace) =>
      `${prefix}-vectors.${namePart(tenant)}.${spaceOf(space)}`,
    /** Every index of vectors of the tenant. */
    vectorIndexes: ({ tenant }: DatasetScope) => `${prefix}-vectors.${namePart(tenant)}.*`,
    /** Alias of the dataset's vectors. It names the embedding, so that a stale cache cannot write into another one. */
    vectorAlias: (scope: DatasetScope, space: VectorSpace) =>
      `${prefix}-dataset-vectors.${placement(scope)}.${spaceOf(space)}`,
    vectorAliases: (scope: DatasetScope) => `${prefix}-dataset-vectors.${placement(scope)}.*`,
    /** Index of what each dataset's vectors were made with. */
    spaces: `${prefix}-spaces`,
    /** Index of the one document that says whose all these are. */
    installation: `${prefix}-installation`,
  };
}

/** Brings all rows of a dataset to one shard. */
export function routingOf({ dataset }: DatasetScope): string {
  return namePart(dataset);
}

/** The document id of a row, the same for the same key. */
export function rowId({ dataset }: DatasetScope, kind: IndexKind, { item, generation, id }: EntryKey): string {
  return sha256OfJson([dataset, kind, item, generation, id], 'base64url');
}

/** The document id of what a dataset's vectors were made with. */
export function spaceId({ tenant, dataset }: DatasetScope): string {
  return sha256OfJson([tenant, dataset], 'base64url');
}

function namePart(id: string): string {
  return READABLE.test(id) ? id : `h_${digest(id)}`;
}

function digest(text: string): string {
  return sha256(text).slice(0, 40);
}
