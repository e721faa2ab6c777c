import { randomBytes, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import { asId } from '../../../services/common/kernel/ids.ts';
import { datasetScope } from '../../../services/common/kernel/scope.ts';
import { openS3BlobStore } from '../../../services/common/storage/blobs/s3/blob-store.ts';
import type { S3Options } from '../../../services/common/storage/blobs/s3/connection.ts';
import { rejection } from '../../support/refusal-of.ts';
import { withBackend } from '../backend.ts';
import { openTestBucket, type TestBucket } from './test-bucket.ts';

const scope = datasetScope(asId(randomUUID()), asId(randomUUID()));

withBackend('s3', (address) => {
  describe('S3 that cannot be used', () => {
    let bucket: TestBucket;
    before(async () => {
      bucket = await openTestBucket(address);
    });
    after(() => bucket.dispose());
    /** The error of opening a store, with what it must not tell. */
    const refusal = async (change: Partial<S3Options>) => {
      const options = { ...bucket.options, requestTimeoutMs: 5_000, ...change };
      const error = await rejection(openS3BlobStore(options));
      for (const secret of [options.secretKey, options.accessKey]) expect(error.message).to.not.include(String(secret));
      return error;
    };

    it('says that the secret, or the key, is wrong', async () => {
      for (const change of [{ secretKey: 'wrong-secret' }, { accessKey: 'nobody' }]) {
        const error = await refusal(change);
        expect(error).to.include({ wireName: 'ServiceUnavailableError', retryable: false });
        expect(error.message).to.match(/^S3 at 127\.0\.0\.1:\d+ refuses the credentials/);
      }
    });

    it('says that the bucket is missing', async () => {
      const error = await refusal({ bucket: 'engram-no-such-bucket' });
      expect(error).to.include({ wireName: 'ServiceUnavailableError', retryable: false });
      expect(error.message).to.match(/has no bucket engram-no-such-bucket/);
    });

    it('says that nothing answers, that half of the credentials is missing, that the address is none', async () => {
      const away = await refusal({ endpoint: 'http://127.0.0.1:1' });
      expect(away).to.include({ wireName: 'ServiceUnavailableError', retryable: true });
      expect(away.message).to.equal('S3 at 127.0.0.1:1 cannot be reached: ECONNREFUSED');
      const { secretKey: _, ...half } = bucket.options;
      expect((await rejection(openS3BlobStore(half))).message).to.match(/^S3 credentials are incomplete/);
      expect((await refusal({ endpoint: 'localhost' })).message).to.match(/not an http:\/\/ or https:\/\/ address/);
    });

    it('says that something else than S3 answers', async () => {
      const page = createServer((_, reply) => reply.end('<html><body>Welcome!</body></html>'));
      await new Promise<void>((resolve) => page.listen(0, '127.0.0.1', resolve));
      const { port } = page.address() as AddressInfo;
      const error = await refusal({ endpoint: `http://user:hidden@127.0.0.1:${port}` });
      expect(error).to.include({ wireName: 'ServiceUnavailableError', retryable: false });
      expect(error.message).to.equal(`The server at 127.0.0.1:${port} is not S3`);
      page.close();
    });
  });

  withBackend('chaos', ({ ENGRAM_TEST_CHAOS_URL: control }) => {
    describe('S3 behind a broken connection', () => {
      let bucket: TestBucket;
      const name = `s3-${randomUUID().slice(0, 8)}`;
      let endpoint: string;
      const ask = async (path: string, method: string, body?: object) => {
        const answer = await fetch(control + path, {
          method,
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        expect(answer.ok, `${method} ${path}: ${answer.status}`).to.equal(true);
        return answer.status === 204 ? {} : ((await answer.json()) as { readonly listen?: string });
      };
      before(async () => {
        bucket = await openTestBucket(address);
        const upstream = new URL(address.ENGRAM_TEST_S3_URL).host;
        const proxy = { name, listen: '127.0.0.1:0', upstream, enabled: true };
        endpoint = `http://${(await ask('/proxies', 'POST', proxy)).listen}`;
      });
      after(async () => {
        await ask(`/proxies/${name}`, 'DELETE');
        await bucket.dispose();
      });
      const open = () => openS3BlobStore({ ...bucket.options, endpoint, requestTimeoutMs: 2_000 });
      const toxic = (body: object) => ask(`/proxies/${name}/toxics`, 'POST', { name: 'fault', ...body });

      it('ends a call when it is silent, and serves the next one when it is back', async () => {
        const store = await open();
        await store.put(scope, 'a', Buffer.from('before'));
        await toxic({ type: 'timeout', stream: 'downstream', attributes: { timeout: 0 } });
        const begin = performance.now();
        const calls = [store.put(scope, 'a', Buffer.from('x')), store.get(scope, 'a'), store.list(scope, { limit: 1 })];
        for (const error of await Promise.all(calls.map(rejection))) {
          expect(error).to.include({ wireName: 'DeadlineExceededError', retryable: true });
        }
        expect(performance.now() - begin).to.be.lessThan(30_000);
        await ask(`/proxies/${name}/toxics/fault`, 'DELETE');
        await store.put(scope, 'a', Buffer.from('after'));
        expect(String(await buffer((await store.get(scope, 'a')) as Readable))).to.equal('after');
        await store.close();
      });

      it('is said to be unreachable while it is cut', async () => {
        const store = await open();
        await ask(`/proxies/${name}`, 'POST', { enabled: false });
        expect(await rejection(store.stat(scope, 'a'))).to.include({
          wireName: 'ServiceUnavailableError',
          retryable: true,
        });
        expect(await rejection(store.check())).to.include({ wireName: 'ServiceUnavailableError', retryable: true });
        await ask(`/proxies/${name}`, 'POST', { enabled: true });
        await store.check();
        await store.close();
      });

      it('that breaks a read off is asked for the rest of the same blob, and for no other', async () => {
        const store = await open();
        const content = randomBytes(5_000_000);
        await store.put(scope, 'large', content);
        await toxic({ type: 'limit_data', stream: 'downstream', attributes: { bytes: 2_000_000 } });
        expect((await buffer((await store.get(scope, 'large')) as Readable)).equals(content)).to.equal(true);
        const reading = (await store.get(scope, 'large')) as Readable;
        const direct = await openS3BlobStore(bucket.options);
        await direct.put(scope, 'large', randomBytes(5_000_000));
        expect(await rejection(buffer(reading))).to.include({ wireName: 'CorruptStoreError' });
        await Promise.all([store.close(), direct.close()]);
      });
    });
  });
});
