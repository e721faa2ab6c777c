import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { CreateMultipartUploadCommand, UploadPartCommand } from '@aws-sdk/client-s3';
import { expect } from 'chai';
import { asId } from '../../../services/common/kernel/ids.ts';
import { datasetScope } from '../../../services/common/kernel/scope.ts';
import {
  createS3BlobStore,
  openS3BlobStore,
  type S3BlobStore,
} from '../../../services/common/storage/blobs/s3/blob-store.ts';
import { connectS3 } from '../../../services/common/storage/blobs/s3/connection.ts';
import { nameOf } from '../../../services/common/storage/blobs/s3/object-names.ts';
import { withBackend } from '../backend.ts';
import { openTestBucket, type TestBucket } from './test-bucket.ts';

const MIB = 1024 * 1024;
const newScope = () => datasetScope(asId(randomUUID()), asId(randomUUID()));

withBackend('s3', (address) => {
  describe('transfers to and from S3', () => {
    let bucket: TestBucket;
    let store: S3BlobStore;
    before(async () => {
      bucket = await openTestBucket(address);
      store = await openS3BlobStore(bucket.options);
    });
    after(async () => {
      await store.close();
      await bucket.dispose();
    });

    /** So many pieces of 1 MiB, the same for the same seed; `fail` ends them with an error. */
    async function* pieces(count: number, fail?: Error): AsyncGenerator<Buffer> {
      for (let index = 0; index < count; index += 1) yield Buffer.alloc(MIB, index % 251);
      if (fail !== undefined) throw fail;
    }

    it('of a blob of many parts give its hashes, and hold a few parts in memory', async () => {
      const scope = newScope();
      const count = 96;
      const hash = createHash('md5');
      for await (const piece of pieces(count)) hash.update(piece);
      setFlagsFromString('--expose-gc');
      const collect = runInNewContext('gc') as () => void;
      const before = process.memoryUsage().arrayBuffers;
      let highest = 0;
      const watched = async function* () {
        for await (const piece of pieces(count)) {
          collect();
          highest = Math.max(highest, process.memoryUsage().arrayBuffers - before);
          yield piece;
        }
      };
      const info = await store.put(scope, 'large', Readable.from(watched()));
      expect(info).to.include({ sizeBytes: count * MIB, md5: hash.digest('hex') });
      expect(highest / MIB).to.be.lessThan(48);
      expect(await bucket.uploads()).to.deep.equal([]);
      const read = createHash('sha256');
      for await (const piece of (await store.get(scope, 'large')) as Readable) read.update(piece);
      expect(read.digest('hex')).to.equal(info.sha256);
    });

    it('that break or are aborted after some parts leave no part behind', async () => {
      const scope = newScope();
      const gone = Object.assign(new Error('the client went away'), { code: 'ECONNRESET' });
      const [broken] = await Promise.allSettled([store.put(scope, 'a', Readable.from(pieces(30, gone)))]);
      expect(broken, 'what broke it').to.have.property('reason', gone);
      const controller = new AbortController();
      const endless = new Readable({ read() {} });
      for (let index = 0; index < 20; index += 1) endless.push(Buffer.alloc(MIB));
      const aborted = store.put(scope, 'a', endless, controller.signal);
      while ((await bucket.uploads()).length === 0) await sleep(5);
      controller.abort(new Error('enough'));
      const [outcome] = await Promise.allSettled([aborted]);
      expect(outcome).to.have.nested.property('reason.message', 'enough');
      expect(endless.destroyed).to.equal(true);
      expect(await bucket.uploads()).to.deep.equal([]);
      expect(await store.list(scope, { limit: 5 })).to.deep.equal([]);
    });

    it('that a dead process left unfinished are removed with their dataset, and no others', async () => {
      const [scope, other] = [newScope(), newScope()];
      for (const each of [scope, other]) {
        const place = { Bucket: bucket.bucket, Key: nameOf('', each, 'a') };
        const { UploadId } = await bucket.client.send(new CreateMultipartUploadCommand(place));
        await bucket.client.send(new UploadPartCommand({ ...place, UploadId, PartNumber: 1, Body: Buffer.from('x') }));
      }
      await (await openS3BlobStore(bucket.options)).close();
      expect(await bucket.uploads(), 'young ones may be under way').to.have.length(2);
      await store.removeAll(scope);
      expect(await bucket.uploads()).to.deep.equal([nameOf('', other, 'a')]);
      await store.removeAll({ tenant: other.tenant });
      expect(await bucket.uploads()).to.deep.equal([]);
    });

    it('of names go in pages: a thousand blobs are listed, counted and removed in a few requests', async () => {
      const scope = newScope();
      const keys = Array.from({ length: 1100 }, (_, index) => `items/${1000 + index}/original`);
      const todo = [...keys];
      const work = async () => {
        for (let key = todo.pop(); key !== undefined; key = todo.pop()) await store.put(scope, key, Buffer.from('x'));
      };
      await Promise.all(Array.from({ length: 20 }, work));
      const connection = connectS3(bucket.options);
      const sent: string[] = [];
      connection.client.middlewareStack.add(
        (next, context) => (request) => {
          sent.push(String(context.commandName));
          return next(request);
        },
        { step: 'initialize' },
      );
      const counted = createS3BlobStore(connection);
      expect(await counted.remove(scope, [...keys.slice(0, 300), 'items/1000/missing', 'items/10'])).to.equal(300);
      expect(sent.splice(0)).to.deep.equal(['ListObjectsV2Command', 'DeleteObjectsCommand']);
      expect(await counted.list(scope, { prefix: 'items/', limit: 790 })).to.have.length(790);
      expect(sent.splice(0)).to.have.length(1);
      expect(await counted.removeAll(scope, 'items/')).to.equal(800);
      expect(sent.splice(0)).to.deep.equal(['ListObjectsV2Command', 'DeleteObjectsCommand']);
      connection.close();
    });

    it('to a reader who pauses for longer than a connection may be silent go on afterwards', async () => {
      const impatient = await openS3BlobStore({ ...bucket.options, requestTimeoutMs: 1_000 });
      const scope = newScope();
      const content = randomBytes(12 * MIB);
      await store.put(scope, 'a', content);
      const read: Buffer[] = [];
      for await (const piece of (await impatient.get(scope, 'a')) as Readable) {
        if (read.length === 1) await sleep(2_500);
        read.push(piece as Buffer);
      }
      expect(Buffer.concat(read).equals(content)).to.equal(true);
      const unread = (await impatient.get(scope, 'a')) as Readable;
      await sleep(2_000);
      expect((await buffer(unread)).equals(content), 'read late').to.equal(true);
      (await impatient.get(scope, 'a'))?.destroy();
      await impatient.close();
    });
  });
});
