import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { SYSTEM_SCOPE } from '../../../services/common/kernel/scope.ts';
import { jobsCollection } from '../../../services/common/platform/jobs/job-document.ts';
import { createWorkQueue } from '../../../services/common/platform/jobs/work-queue.ts';
import { createSystemClock } from '../../../services/common/platform/system/clock.ts';
import { createIdSource } from '../../../services/common/platform/system/id-source.ts';
import { createGridfsBlobStore } from '../../../services/common/storage/blobs/gridfs/blob-store.ts';
import { createInProcessBus } from '../../../services/common/storage/bus/in-process/bus.ts';
import { connectMongodb } from '../../../services/common/storage/documents/mongodb/connection.ts';
import { createMongodbDocumentStore } from '../../../services/common/storage/documents/mongodb/document-store.ts';
import { type DocumentStore, insert, update } from '../../../services/common/storage/ports/document-store.ts';
import { allThings, newDataset, numberedThings, tenantThings } from '../../conformance/document-store-subject.ts';
import { withBackend } from '../backend.ts';
import { type MongodbSubject, openDatabase } from './mongodb-subject.ts';

const PROGRAM = fileURLToPath(new URL('database-process.ts', import.meta.url));

withBackend('mongodb', ({ ENGRAM_TEST_MONGODB_URL: url }) => {
  describe('several processes on MongoDB', () => {
    let subject: MongodbSubject;
    let store: DocumentStore;
    const children: ChildProcess[] = [];
    before(async () => {
      subject = await openDatabase(url);
      store = createMongodbDocumentStore(subject.connection);
      await store.prepare([...allThings, jobsCollection]);
    });
    after(async () => {
      for (const child of children) child.kill('SIGKILL');
      await subject.dispose();
    });
    const start = (...settings: readonly string[]) => {
      const child = spawn(process.execPath, [PROGRAM, url, subject.database, ...settings], {
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      children.push(child);
      const lines = createInterface({ input: child.stdout });
      return { child, lines };
    };

    it('run each job once, those of an ordering key one after the other, whoever claims them', async () => {
      const scope = newDataset();
      const queue = createWorkQueue({
        store,
        bus: createInProcessBus(),
        clock: createSystemClock(),
        ids: createIdSource(),
      });
      const jobs = Array.from({ length: 60 }, (_, index) =>
        queue.enqueueWrites(scope, { kind: 'test', orderingKey: `k${index % 5}`, payload: { index } }),
      );
      await store.commit(
        scope,
        jobs.flatMap(({ writes }) => writes),
      );
      const workers = ['one', 'two'].map((name) => start('work', name));
      await Promise.all(workers.map(({ lines }) => once(lines, 'line')));
      for (const { child } of workers) child.stdin.write('go\n');
      await Promise.all(workers.map(({ child }) => once(child, 'exit')));

      const done = await store.find(scope, numberedThings, { sort: [{ field: 'sequence' }], limit: 1000 });
      const indexes = done.items.map(({ value }) => value.rank as number);
      expect(indexes.toSorted((left, right) => left - right)).to.deep.equal(jobs.map((_, index) => index));
      for (const key of [0, 1, 2, 3, 4]) {
        const ofKey = indexes.filter((index) => index % 5 === key);
        expect(ofKey).to.deep.equal(ofKey.toSorted((left, right) => left - right));
      }
      expect(new Set(done.items.map(({ value }) => value.name))).to.deep.equal(new Set(['one', 'two']));
      expect(await queue.depth(SYSTEM_SCOPE)).to.deep.equal({});
    });

    it('go on soon when one is killed in the middle of a transaction', async () => {
      const scope = newDataset();
      await store.commit(scope, [insert(tenantThings, 'held', { rank: 0 }), insert(numberedThings, 'first', {})]);
      const { child, lines } = start('hold', scope.tenant, scope.dataset);
      await once(lines, 'line');
      child.kill('SIGKILL');
      await once(child, 'exit');
      const { connection } = subject;
      const idleTransactionMs = 1000;
      const quick = await connectMongodb({ url, database: connection.options.database, idleTransactionMs });
      const next = createMongodbDocumentStore(quick);
      await next.prepare(allThings);
      await Promise.all([
        next.commit(scope, [update(tenantThings, 'held', { set: { rank: 1 } })]),
        next.commit(scope, [insert(numberedThings, 'second', {})]),
      ]);
      await quick.close();
      expect((await store.get(scope, tenantThings, 'held'))?.value.rank).to.equal(1);
      const { items } = await store.find(scope, numberedThings, { sort: [{ field: 'sequence' }], limit: 5 });
      expect(items.map(({ id }) => id)).to.deep.equal(['first', 'second']);
    });

    it('lose nothing that was acknowledged, and leave no half of a commit, when one is killed', async () => {
      const scope = newDataset();
      const { child, lines } = start('write', scope.tenant, scope.dataset);
      const acknowledged: string[] = [];
      const isEnough = new Promise<void>((resolve) => {
        lines.on('line', (line) => {
          acknowledged.push(line);
          if (acknowledged.length === 40) resolve();
        });
      });
      await isEnough;
      child.kill('SIGKILL');
      await once(child, 'exit');

      const blobs = createGridfsBlobStore(subject.connection);
      expect(acknowledged.length).to.be.at.least(40);
      const things = await store.find(scope, tenantThings, { limit: 1000 });
      const numbered = await store.find(scope, numberedThings, { limit: 1000 });
      const ids = things.items.map(({ id }) => id);
      expect(ids).to.include.members(acknowledged);
      expect(numbered.items.map(({ id }) => id)).to.deep.equal(ids);
      const listed = await blobs.list(scope, { limit: 1000 });
      expect(listed.map(({ key }) => key)).to.include.members(acknowledged);
      for (const { key, sizeBytes } of listed) {
        const content = await blobs.get(scope, key);
        expect(content === null ? -1 : (await buffer(content)).byteLength).to.equal(sizeBytes);
      }
    });
  });
});
