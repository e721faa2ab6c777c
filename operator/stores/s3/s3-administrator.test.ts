import { expect } from 'chai';
import { realmOf } from '../realm.ts';
import { createS3Administrator } from './s3-administrator.ts';

describe('administrator of S3', () => {
  it('names both settings when one of the two keys is missing, as the services do', async () => {
    const administrator = createS3Administrator({ bucket: null, prefix: '', region: 'r', accessKey: 'a' });
    const credentials = { current: { slot: 'a', password: 'p' }, previous: null } as const;
    const failed = await administrator
      .ensure(realmOf('uid'), credentials, new AbortController().signal)
      .catch((error: Error) => error);
    expect((failed as Error).message).to.equal(
      'S3 credentials are incomplete: set both ENGRAM_S3_ACCESS_KEY and ENGRAM_S3_SECRET_KEY',
    );
  });
});
