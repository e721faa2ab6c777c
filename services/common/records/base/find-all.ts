import type { JsonObject } from '../../kernel/json.ts';
import { pagesOf } from '../../kernel/result-page.ts';
import type { AnyScope } from '../../kernel/scope.ts';
import type { Collection, DocumentStore, Query, Stored } from '../../storage/ports/document-store.ts';

const PAGE = 1000;

/** Every document that fits, in the order of the query, read page by page. */
export async function findAll<T extends JsonObject>(
  store: DocumentStore,
  scope: AnyScope,
  collection: Collection<T>,
  query: Pick<Query<T>, 'where' | 'sort'> = {},
): Promise<readonly Stored<T>[]> {
  const documents: Stored<T>[] = [];
  for await (const found of pagesOf((after) => store.find(scope, collection, { ...query, limit: PAGE, after }))) {
    for (const document of found) documents.push(document);
  }
  return documents;
}
