import type { JsonObject } from '../../../kernel/json.ts';
import type { AnyScope } from '../../../kernel/scope.ts';
import type { Collection, DocumentStore, Query } from '../../ports/document-store.ts';
import { MAX_WRITES_PER_COMMIT, requireCommitSize } from '../rules/change.ts';
import { rulesOf } from '../rules/collection-rules.ts';
import { reachOf } from '../rules/reach.ts';
import { createCollections } from './collections.ts';
import { createCommit } from './commit-writes.ts';
import type { MongodbConnection } from './connection.ts';
import { layoutOf } from './document-layout.ts';
import { countDocuments, countOfEach, findPage, getMany, getOne, type ReadOptions } from './read-documents.ts';

/**
 * Documents in MongoDB: a collection for each declared one. Reads see what a
 * majority of the members has; commits are acknowledged by a majority, journalled. Closing the store leaves the connection
 * to the caller that opened it. A single document holds at most 15 MB of JSON (`PayloadTooLargeError`).
 */
export function createMongodbDocumentStore(connection: MongodbConnection): DocumentStore {
  const { guarded, options } = connection;
  const collections = createCollections(connection);
  const commit = createCommit(connection, collections);
  const reading = (scope: AnyScope, name: string): ReadOptions => {
    const layout = collections.layoutOf(name);
    const reach = reachOf(scope, layout.rules);
    return { collection: collections.of(layout), layout, reach, timeLimitMs: options.operationTimeoutMs };
  };
  return {
    capabilities: { maxWritesPerCommit: MAX_WRITES_PER_COMMIT, sharedBetweenProcesses: true },
    prepare: (declared) => guarded(() => collections.declare(declared.map((each) => layoutOf(rulesOf(each))))),
    get<T extends JsonObject>(scope: AnyScope, collection: Collection<T>, id: string) {
      return guarded(() => getOne<T>(reading(scope, collection.name), id));
    },
    getMany<T extends JsonObject>(scope: AnyScope, collection: Collection<T>, ids: readonly string[]) {
      return guarded(() => getMany<T>(reading(scope, collection.name), ids));
    },
    find<T extends JsonObject>(scope: AnyScope, collection: Collection<T>, query: Query<T>) {
      return guarded(() => findPage<T>(reading(scope, collection.name), query));
    },
    count: (scope, collection, where) => guarded(() => countDocuments(reading(scope, collection.name), where)),
    countEach: (scope, counted) => guarded(() => countOfEach(counted.map(({ name }) => reading(scope, name)))),
    commit: (scope, writes) =>
      guarded(async () => {
        requireCommitSize(writes);
        return writes.length === 0 ? [] : commit(scope, writes);
      }),
    async view() {
      const session = connection.client.startSession({ snapshot: true });
      return {
        find<T extends JsonObject>(scope: AnyScope, collection: Collection<T>, query: Query<T>) {
          return guarded(() => findPage<T>({ ...reading(scope, collection.name), session }, query));
        },
        close: () => session.endSession(),
      };
    },
    async close() {},
  };
}
