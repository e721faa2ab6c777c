import { expect } from 'chai';
import type { Document } from 'mongodb';
import { collections } from '../../../services/app/collections.ts';
import type { Json, JsonObject } from '../../../services/common/kernel/json.ts';
import { type AnyScope, SYSTEM_SCOPE } from '../../../services/common/kernel/scope.ts';
import { createLedger } from '../../../services/common/records/cognify/ledger.ts';
import { createRuns } from '../../../services/common/records/cognify/runs.ts';
import { createBlobIntents } from '../../../services/common/records/ingest/blob-intents.ts';
import { createGridfsBlobStore } from '../../../services/common/storage/blobs/gridfs/blob-store.ts';
import { createMongodbDocumentStore } from '../../../services/common/storage/documents/mongodb/document-store.ts';
import {
  type AnyCollection,
  type DocumentStore,
  type Filter,
  insert,
  removeWhere,
  update,
} from '../../../services/common/storage/ports/document-store.ts';
import { newDataset } from '../../conformance/document-store-subject.ts';
import { withBackend } from '../backend.ts';
import { type MongodbSubject, openDatabase } from './mongodb-subject.ts';

const TENANTS = 3;
const DOCUMENTS = 60;

withBackend('mongodb', ({ ENGRAM_TEST_MONGODB_URL: url }) => {
  describe('query plans of MongoDB', () => {
    let subject: MongodbSubject;
    let store: DocumentStore;
    const scopes = Array.from({ length: TENANTS }, () => newDataset());
    const scope = scopes[0] as (typeof scopes)[number];
    before(async () => {
      subject = await openDatabase(url);
      store = createMongodbDocumentStore(subject.connection);
      await store.prepare(collections);
      for (const each of scopes) {
        for (const collection of collections) await store.commit(each, documentsOf(collection, each.tenant));
      }
    });
    after(() => subject.dispose());

    /** What the server did while `work` ran, one entry for each command. */
    const profiled = async (work: () => Promise<unknown>): Promise<readonly Document[]> => {
      const db = subject.connection.client.db(subject.database);
      await db.createCollection('system.profile', { capped: true, size: 64_000_000 });
      await db.command({ profile: 2 });
      try {
        await work();
      } finally {
        await db.command({ profile: 0 });
      }
      const entries = await db
        .collection('system.profile')
        .find({ ns: { $not: /\.(system|engram)\./ } })
        .toArray();
      await db.collection('system.profile').drop();
      return entries;
    };
    const scans = (entries: readonly Document[]) =>
      entries
        .filter((entry) => /COLLSCAN/.test(String(entry['planSummary'])))
        .map(({ ns, command }) => `${ns}: ${JSON.stringify(command)}`);

    it('use an index for every filter, order and page over declared indexes, in every scope', async () => {
      const entries = await profiled(async () => {
        for (const each of [scope, { tenant: scope.tenant }, SYSTEM_SCOPE]) {
          await Promise.all(collections.map((collection) => queryAll(store, each, collection)));
        }
      });
      expect(entries.length).to.be.greaterThan(500);
      expect(scans(entries)).to.deep.equal([]);
    });

    it('read no more than a page, wherever it begins', async () => {
      const sorted = collections.filter(({ level }) => level !== 'system');
      const entries = await profiled(async () => {
        for (const collection of sorted) {
          for (const { fields, wide } of collection.indexes) {
            await readPages(store, wide ? SYSTEM_SCOPE : scope, collection, fields);
          }
        }
      });
      const finds = entries.filter(({ op }) => op === 'query' || op === 'getmore');
      expect(finds.length).to.be.greaterThan(50);
      for (const entry of finds) {
        expect(entry, JSON.stringify(entry['command'])).to.not.have.property('hasSortStage');
        // Each alternative of a page looks at one entry more than it needs.
        expect(entry['docsExamined'], JSON.stringify(entry['command'])).to.be.at.most(11 + 8);
      }
    });

    it('look at what a sweep of all tenants finds, and at nothing else', async () => {
      const entries = await profiled(async () => {
        await createLedger(store).pending(SYSTEM_SCOPE, 100);
        await createBlobIntents(store).stale(SYSTEM_SCOPE, 'a');
        await createRuns(store).unfinished(SYSTEM_SCOPE, { startedBefore: 'a', withoutJob: true, limit: 100 });
      });
      expect(entries).to.have.length(3);
      for (const entry of entries) {
        expect(entry['planSummary'], JSON.stringify(entry['command'])).to.match(/^IXSCAN/);
        expect(entry).to.not.have.property('hasSortStage');
        expect([entry['docsExamined'], entry['nreturned']]).to.deep.equal([0, 0]);
        expect(entry['keysExamined']).to.be.at.most(2);
      }
    });

    it('use an index for changes and removals', async () => {
      const entries = await profiled(async () => {
        for (const collection of collections) {
          for (const each of [scope, SYSTEM_SCOPE]) {
            await store.commit(each, [
              update(collection, 'nobody', { set: {} }),
              removeWhere(collection, none(collection)),
            ]);
            await store.commit(each, [removeWhere(collection, none(collection))]);
          }
        }
      });
      expect(scans(entries)).to.deep.equal([]);
    });

    it('use an index for blobs', async () => {
      const blobs = createGridfsBlobStore(subject.connection);
      await blobs.put(scope, 'warm', Buffer.from('x'));
      const entries = await profiled(async () => {
        await blobs.put(scope, 'a/1', Buffer.alloc(2_000_000));
        await blobs.put(scope, 'a/1', Buffer.from('x'));
        for await (const _ of (await blobs.get(scope, 'a/1')) ?? []);
        await blobs.stat(scope, 'a/1');
        await blobs.list(scope, { prefix: 'a/', limit: 10 });
        await blobs.remove(scope, ['warm']);
        await blobs.removeAll(scope);
        await blobs.removeAll({ tenant: scope.tenant });
      });
      expect(entries.length).to.be.greaterThan(20);
      expect(scans(entries)).to.deep.equal([]);
    });
  });
});

function sampleValue(field: string, index: number): Json {
  return index % 10 === 0 ? null : `${field}-${String(index % 20).padStart(3, '0')}`;
}

/** Values that repeat, except in unique indexes. */
function documentsOf(collection: AnyCollection, tenant: string) {
  const unique = new Set(collection.indexes.flatMap(({ unique: isUnique, fields }) => (isUnique ? fields : [])));
  return Array.from({ length: DOCUMENTS }, (_, index) => {
    const value: Record<string, Json> = {};
    for (const field of collection.indexes.flatMap(({ fields }) => fields)) {
      if (field === 'sequence') continue;
      value[field] = unique.has(field) ? `${tenant}-${index}` : sampleValue(field, index);
    }
    return insert(collection, `${tenant}-${index}`, value);
  });
}

function none(collection: AnyCollection): Filter<JsonObject> {
  const field = collection.indexes[0]?.fields[0];
  return field === undefined ? { id: 'nobody' } : { [field]: 'nobody' };
}

async function queryAll(store: DocumentStore, scope: AnyScope, collection: AnyCollection): Promise<void> {
  await store.getMany(scope, collection, ['a', 'b']);
  await store.count(scope, collection, {});
  await readPages(store, scope, collection, []);
  for (const { fields } of collection.indexes) {
    const [first = 'id'] = fields;
    if (first !== 'sequence') {
      const value = sampleValue(first, 5) as string;
      const conditions = [value, null, { in: [value, null] }, { prefix: 'x' }, { atLeast: 'a' }, { exists: true }];
      for (const condition of [...conditions, { notEquals: value }]) {
        await store.find(scope, collection, { where: { [first]: condition }, limit: 10 });
      }
      await store.count(scope, collection, { [first]: value });
    }
    await readPages(store, scope, collection, fields);
  }
}

async function readPages(store: DocumentStore, scope: AnyScope, collection: AnyCollection, fields: readonly string[]) {
  for (const descending of [false, true]) {
    const sort = fields.map((field) => ({ field, descending }));
    let after: string | null = null;
    for (let page = 0; page < 3 && (page === 0 || after !== null); page += 1) {
      after = (await store.find(scope, collection, { sort, limit: 10, after })).next;
    }
  }
}
