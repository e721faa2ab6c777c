/**
 * A process beside the tests of `processes.test.ts`.
 *   URL DATABASE work NAME            claims a job, and after a line on stdin that and others until none is left;
 *                                     completion and effect together
 *   URL DATABASE hold TENANT DATASET  stays in the middle of a transaction until it is killed
 *   URL DATABASE write TENANT DATASET writes documents and blobs until it is killed; prints what was acknowledged
 */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { asId } from '../../../services/common/kernel/ids.ts';
import { datasetScope, SYSTEM_SCOPE } from '../../../services/common/kernel/scope.ts';
import { jobsCollection } from '../../../services/common/platform/jobs/job-document.ts';
import { createWorkQueue } from '../../../services/common/platform/jobs/work-queue.ts';
import { createSystemClock } from '../../../services/common/platform/system/clock.ts';
import { createIdSource } from '../../../services/common/platform/system/id-source.ts';
import { createGridfsBlobStore } from '../../../services/common/storage/blobs/gridfs/blob-store.ts';
import { createInProcessBus } from '../../../services/common/storage/bus/in-process/bus.ts';
import { connectMongodb } from '../../../services/common/storage/documents/mongodb/connection.ts';
import { createMongodbDocumentStore } from '../../../services/common/storage/documents/mongodb/document-store.ts';
import { inTransaction } from '../../../services/common/storage/documents/mongodb/transaction.ts';
import { insert } from '../../../services/common/storage/ports/document-store.ts';
import { allThings, numberedThings, tenantThings } from '../../conformance/document-store-subject.ts';

const [url = '', database = '', task, first = '', second = ''] = process.argv.slice(2);
const connection = await connectMongodb({ url, database });
const store = createMongodbDocumentStore(connection);
await store.prepare([...allThings, jobsCollection]);
const tell = (line: string) => process.stdout.write(`${line}\n`);

if (task === 'work') {
  await work(first);
  await connection.close();
  process.exit();
} else if (task === 'hold') {
  await inTransaction(connection, async (session) => {
    const db = connection.client.db(database);
    await db
      .collection<{ _id: string }>('engram.sequences')
      .updateOne({ _id: 'numbered_things' }, { $inc: { last: 1 } }, { session });
    await db
      .collection('tenant_things')
      .updateOne({ tenant: first, id: 'held' }, { $set: { version: 9 } }, { session });
    tell('holding');
    await sleep(60_000);
  });
} else {
  const scope = datasetScope(asId(first), asId(second));
  const blobs = createGridfsBlobStore(connection);
  for (let index = 0; ; index += 1) {
    const id = `w${String(index).padStart(5, '0')}`;
    await blobs.put(scope, id, Buffer.alloc(index % 5 === 0 ? 1_500_000 : 1_000, id));
    await store.commit(scope, [insert(tenantThings, id, { key: id }), insert(numberedThings, id, {})]);
    tell(id);
  }
}

async function work(name: string): Promise<void> {
  const queue = createWorkQueue({
    store,
    bus: createInProcessBus(),
    clock: createSystemClock(),
    ids: createIdSource(),
  });
  let isLetGo = false;
  for (let idle = 0; idle < 20; ) {
    const job = await queue.claim(SYSTEM_SCOPE, ['test'], name, 60_000);
    if (job === null) {
      idle += 1;
      await sleep(10);
      continue;
    }
    idle = 0;
    if (!isLetGo) {
      tell('holding');
      await once(process.stdin, 'data');
      isLetGo = true;
    }
    const rank = job.payload['index'] as number;
    await store.commit(job.scope, [insert(numberedThings, job.id, { name, rank }), ...queue.completeWrites(job)]);
  }
}
