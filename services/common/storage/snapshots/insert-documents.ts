import { unreadable } from '../../domain/snapshot.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { DatasetScope } from '../../kernel/scope.ts';
import { type AnyCollection, type DocumentStore, DuplicateKeyError, insert } from '../ports/document-store.ts';

/** A record of a part of documents. */
export interface DocumentLine {
  readonly collection: AnyCollection;
  readonly id: string;
  readonly value: JsonObject;
}

const PER_COMMIT = 100;

/** Documents of the collections; a part holds those of several services, and each reads its own. */
export async function* readDocumentLines(
  lines: AsyncIterable<unknown>,
  collections: readonly AnyCollection[],
): AsyncGenerator<DocumentLine> {
  const byName = new Map(collections.map((collection) => [collection.name, collection]));
  for await (const line of lines) {
    const [name, id, value] = line as readonly [string, string, JsonObject];
    if (typeof name !== 'string' || typeof id !== 'string') throw unreadable('its records are damaged');
    const collection = byName.get(name);
    if (collection !== undefined) yield { collection, id, value };
  }
}

/** Inserts the documents; existing ones stay, so that a repetition continues an interrupted restore. Resolves to the number of each collection. */
export async function insertDocuments(
  store: DocumentStore,
  scope: DatasetScope,
  documents: AsyncIterable<DocumentLine>,
): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  let batch: DocumentLine[] = [];
  const flush = async (): Promise<void> => {
    await insertBatch(store, scope, batch);
    batch = [];
  };
  for await (const document of documents) {
    counts[document.collection.name] = (counts[document.collection.name] ?? 0) + 1;
    batch.push(document);
    if (batch.length === PER_COMMIT) await flush();
  }
  if (batch.length > 0) await flush();
  return counts;
}

async function insertBatch(store: DocumentStore, scope: DatasetScope, batch: readonly DocumentLine[]): Promise<void> {
  const write = (documents: readonly DocumentLine[]) =>
    store.commit(
      scope,
      documents.map(({ collection, id, value }) => insert(collection, id, value)),
    );
  try {
    await write(batch);
  } catch (error) {
    if (!(error instanceof DuplicateKeyError)) throw error;
    for (const document of batch) {
      const { collection, id } = document;
      if ((await store.get(scope, collection, id)) === null) await write([document]);
    }
  }
}
