import { randomUUID } from 'node:crypto';
import { DeleteObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { expect } from 'chai';
import { connectS3 } from '../../../services/common/storage/blobs/s3/connection.ts';
import { createS3Connector } from '../../../services/integrations/providers/s3.ts';
import { connectorSuite } from '../../conformance/connector.ts';
import { withBackend } from '../backend.ts';
import { openTestBucket } from './test-bucket.ts';

withBackend('s3', (address) => {
  connectorSuite('S3 bucket', async () => {
    const bucket = await openTestBucket(address);
    const { options } = bucket;
    const connection = connectS3(options);
    const prefix = `notes-${randomUUID()}/`;
    const place = (name: string) => ({ Bucket: options.bucket, Key: `${prefix}${name}.md` });
    return {
      connector: createS3Connector({ ...options, roots: [`s3://${options.bucket}`], maxBytes: 1000 }),
      account: { accountId: `s3://${options.bucket}/${prefix}`, accountLabel: 'notes' },
      feed: 'objects',
      put: (name, text) => connection.client.send(new PutObjectCommand({ ...place(name), Body: text })),
      remove: (name) => connection.client.send(new DeleteObjectCommand(place(name))),
      async [Symbol.asyncDispose]() {
        connection.close();
        await bucket.dispose();
      },
    };
  });

  describe('connecting an S3 bucket', () => {
    it('takes what the operator lists, and says what else is wrong', async () => {
      const { options, dispose } = await openTestBucket(address);
      const connector = createS3Connector({ ...options, roots: [`s3://${options.bucket}/open`], maxBytes: 1000 });
      const connect = async (text: string) => {
        const [outcome] = await Promise.allSettled([connector.connect?.(text)]);
        return outcome.status === 'fulfilled' ? outcome.value?.label : (outcome.reason as Error).message;
      };
      expect(await connect(`s3://${options.bucket}/open/notes/`)).to.equal(`${options.bucket}/open/notes`);
      for (const other of ['', '/openly', '/other', '/open/../other'])
        expect(await connect(`s3://${options.bucket}${other}`), other).to.contain('ENGRAM_SOURCE_S3_ROOTS');
      await dispose();
    });
  });
});
