import { randomUUID } from 'node:crypto';
import { CreateBucketCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { expect } from 'chai';
import { namesOf } from '../../../operator/stores/realm.ts';
import { createS3Administrator } from '../../../operator/stores/s3/s3-administrator.ts';
import type { Provision } from '../../../operator/stores/store-administrator.ts';
import { asId } from '../../../services/common/kernel/ids.ts';
import type { Scope } from '../../../services/common/kernel/scope.ts';
import { openS3BlobStore } from '../../../services/common/storage/blobs/s3/blob-store.ts';
import {
  type AdministratorSubject,
  describeStoreAdministrator,
  newCredentials,
  newRealm,
  type RealmAccess,
} from '../../conformance/store-administrator.ts';
import { withBackend } from '../backend.ts';
import { openTestBucket } from '../s3/test-bucket.ts';

withBackend('s3', (address) => {
  for (const shape of ['a bucket of each', 'a folder of one bucket'] as const) {
    describeStoreAdministrator(`S3 with ${shape}`, async (): Promise<AdministratorSubject> => {
      const shared = await openTestBucket(address);
      const { endpoint = '', region, accessKey = '', secretKey = '' } = shared.options;
      const bucket = shape === 'a bucket of each' ? null : shared.bucket;
      const options = { bucket, prefix: 'some/', endpoint, region, accessKey, secretKey };
      const administrator = createS3Administrator(options);
      const away = createS3Administrator({ ...options, endpoint: 'http://127.0.0.1:9', secretKey: 'away-password' });
      const refused = createS3Administrator({ ...options, secretKey: 'wrong' });
      return {
        administrator,
        away,
        awayPassword: 'away-password',
        refused: { administrator: refused, setting: 'ENGRAM_S3_SECRET_KEY' },
        damages: {},
        holdsMarks: true,
        connect,
        async dispose() {
          await Promise.all([administrator, away, refused].map((each) => each.close()));
          await shared.dispose();
        },
      };
    });
  }

  it('completes and removes a bucket of S3 whose mark was not written any more', async () => {
    const shared = await openTestBucket(address);
    const { endpoint = '', region, accessKey = '', secretKey = '' } = shared.options;
    const administrator = createS3Administrator({ bucket: null, prefix: '', endpoint, region, accessKey, secretKey });
    const realm = newRealm();
    const Bucket = namesOf(realm).dashed;
    for (const completes of [true, false]) {
      await shared.client.send(new CreateBucketCommand({ Bucket }));
      expect(await administrator.residue(realm, NEVER)).to.equal(1);
      if (completes) await administrator.ensure(realm, newCredentials(), NEVER);
      await administrator.remove(realm, NEVER);
      expect(await administrator.residue(realm, NEVER)).to.equal(0);
    }
    await administrator.close();
    await shared.dispose();
  });

  it('leaves a bucket of S3 alone that has something, and no mark', async () => {
    const shared = await openTestBucket(address);
    const { endpoint = '', region, accessKey = '', secretKey = '' } = shared.options;
    const realm = newRealm();
    const options = { bucket: shared.bucket, prefix: '', endpoint, region, accessKey, secretKey };
    const administrator = createS3Administrator(options);
    const Key = `${namesOf(realm).folder}something`;
    await shared.client.send(new PutObjectCommand({ Bucket: shared.bucket, Key, Body: 'x' }));
    for (const attempt of [
      () => administrator.ensure(realm, newCredentials(), NEVER),
      () => administrator.remove(realm, NEVER),
    ]) {
      expect(await attempt().catch((thrown: unknown) => thrown)).to.include({ wireName: 'OwnedByAnother' });
    }
    expect(await shared.names()).to.deep.equal([Key]);
    await administrator.close();
    await shared.dispose();
  });
});

const NEVER = new AbortController().signal;
const SCOPE: Scope = { tenant: asId(randomUUID()) };

/** The services' own blob store. */
async function connect({ settings, secrets }: Provision): Promise<RealmAccess> {
  const store = await openS3BlobStore({
    bucket: settings['ENGRAM_S3_BUCKET'] ?? '',
    prefix: settings['ENGRAM_S3_PREFIX'] ?? '',
    endpoint: settings['ENGRAM_S3_URL'] ?? '',
    region: settings['ENGRAM_S3_REGION'] ?? '',
    accessKey: settings['ENGRAM_S3_ACCESS_KEY'] ?? '',
    secretKey: secrets['ENGRAM_S3_SECRET_KEY'] ?? '',
  });
  return {
    write: async (id) => void (await store.put(SCOPE, id, Buffer.from(id))),
    has: async (id) => (await store.stat(SCOPE, id)) !== null,
    trespass: null,
    close: async () => store.close(),
  };
}
