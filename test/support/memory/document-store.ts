import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { JsonObject } from '../../../services/common/kernel/json.ts';
import type { AnyScope } from '../../../services/common/kernel/scope.ts';
import { MAX_WRITES_PER_COMMIT, requireCommitSize } from '../../../services/common/storage/documents/rules/change.ts';
import { type CollectionRules, rulesOf } from '../../../services/common/storage/documents/rules/collection-rules.ts';
import { createReads } from '../../../services/common/storage/documents/sqlite/document-store.ts';
import { decodeResult, encodeWrite } from '../../../services/common/storage/documents/sqlite/encode-writes.ts';
import { decodeError } from '../../../services/common/storage/documents/sqlite/encoded-errors.ts';
import { migrate } from '../../../services/common/storage/documents/sqlite/migrations.ts';
import { openForReading } from '../../../services/common/storage/documents/sqlite/open-database.ts';
import { prepareTables } from '../../../services/common/storage/documents/sqlite/prepare-tables.ts';
import { runCommits } from '../../../services/common/storage/documents/sqlite/run-commits.ts';
import { createStatementCache } from '../../../services/common/storage/documents/sqlite/statement-cache.ts';
import { createLayouts } from '../../../services/common/storage/documents/sqlite/table-layout.ts';
import type { Collection, DocumentStore, Query } from '../../../services/common/storage/ports/document-store.ts';

/** The SQLite store without its file and its thread: gone with the process. */
export function createMemoryDocumentStore(): DocumentStore {
  const file = ':memory:';
  const database = new DatabaseSync(file);
  migrate(database, { file, autoMigrate: true });
  const layouts = createLayouts();
  const declared = new Map<string, CollectionRules>();
  /** Most tests touch few of the many collections that a service prepares: each is made when it is first used. */
  const make = (rules: readonly CollectionRules[]) => {
    prepareTables(database, rules);
    for (const { name } of rules) declared.delete(name);
  };
  const layoutOf = (name: string) => {
    const rules = declared.get(name);
    if (rules !== undefined) make([rules]);
    return layouts.of(name);
  };
  const context = { database, file, layouts, statements: createStatementCache(database) };
  const readsOf = (connection: DatabaseSync) =>
    createReads({ database: connection, file, revisions: null }, ({ name }) => layoutOf(name));
  const { reading, ...reads } = readsOf(database);
  return {
    capabilities: { maxWritesPerCommit: MAX_WRITES_PER_COMMIT, sharedBetweenProcesses: false },
    async prepare(collections) {
      for (const rules of collections.map(rulesOf)) {
        layouts.declare(rules);
        declared.set(rules.name, rules);
      }
    },
    ...reads,
    async commit(scope, writes) {
      requireCommitSize(writes);
      const encoded = writes.map((write) => encodeWrite(layoutOf(write.collection.name), scope, write));
      const [outcome] = reading(() => runCommits(context, [encoded]));
      if (outcome === undefined || 'error' in outcome) throw outcome && decodeError(outcome.error);
      return encoded.map((write, index) => decodeResult(write, outcome.results[index] ?? 0));
    },
    async view() {
      make([...declared.values()]);
      const copy = join(tmpdir(), `engram-view-${randomUUID()}.db`);
      database.prepare('VACUUM INTO ?').run(copy);
      const past = openForReading(copy);
      rmSync(copy);
      const { find } = readsOf(past);
      return {
        find: <T extends JsonObject>(scope: AnyScope, collection: Collection<T>, query: Query<T>) =>
          find(scope, collection, query),
        close: async () => void (past.isOpen && past.close()),
      };
    },
    async close() {
      if (database.isOpen) database.close();
    },
  };
}
