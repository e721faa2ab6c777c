import { expect } from 'chai';
import { type DedicatedStoreSettings, openDedicatedStores } from './dedicated-stores.ts';
import type { DedicatedStores, StoreAdministrator } from './store-administrator.ts';

const NONE: DedicatedStoreSettings = {
  operatorMongodbUrl: undefined,
  operatorElasticsearchUrl: undefined,
  operatorNeo4jUser: undefined,
  operatorNeo4jPassword: undefined,
  operatorNatsUrl: undefined,
  operatorNatsCredentialsFile: undefined,
  operatorNatsSigningKeyFile: undefined,
  operatorNatsSystemCredentialsFile: undefined,
  operatorS3Buckets: false,
  neo4jUrl: undefined,
  elasticsearchCaFile: undefined,
  elasticsearchReplicas: 1,
  natsCaFile: undefined,
  s3Bucket: undefined,
  s3Url: undefined,
  s3Region: 'us-east-1',
  s3AccessKey: undefined,
  s3SecretKey: undefined,
  s3Prefix: '',
  kafkaBrokers: undefined,
  kafkaUser: undefined,
  kafkaPassword: undefined,
  kafkaCaFile: undefined,
};

const NEEDED: DedicatedStoreSettings = {
  ...NONE,
  operatorMongodbUrl: 'mongodb://root:secret@a/',
  operatorElasticsearchUrl: 'http://elastic:secret@b:9200',
  operatorNeo4jUser: 'neo4j',
  operatorNeo4jPassword: 'secret',
  operatorNatsUrl: 'nats://u:secret@d',
  neo4jUrl: 'bolt://c',
};

describe('stores of Dedicated tenants', () => {
  const opened: StoreAdministrator[] = [];
  const open = async (settings: DedicatedStoreSettings): Promise<DedicatedStores> => {
    const stores = await openDedicatedStores(settings);
    if (stores.available) opened.push(...stores.administrators);
    return stores;
  };
  const rolesOf = async (settings: DedicatedStoreSettings) => {
    const stores = await open(settings);
    if (!stores.available) throw new Error(stores.reason);
    return stores.administrators.map(({ driver, roles }) => `${driver}: ${roles.join(' ')}`);
  };
  afterEach(async () => {
    for (const administrator of opened.splice(0)) await administrator.close();
  });

  it('are unavailable with the name of the missing setting', async () => {
    expect(await open({ ...NEEDED, operatorNatsUrl: undefined, operatorMongodbUrl: '' })).to.deep.equal({
      available: false,
      reason: 'Dedicated needs ENGRAM_OPERATOR_MONGODB_URL, ENGRAM_OPERATOR_NATS_URL',
    });
    const nothing = await open(NONE);
    expect(nothing.available).to.equal(false);
    expect('reason' in nothing ? nothing.reason : '').to.have.length.below(200);
  });

  it('keep files in GridFS, or in S3 with a bucket or one per tenant', async () => {
    const others = ['nats: Bus', 'elasticsearch: Text Vectors', 'neo4j: Graph'];
    expect(await rolesOf(NEEDED)).to.deep.equal(['mongodb: Documents Blobs', ...others]);
    for (const more of [{ s3Bucket: 'files' }, { operatorS3Buckets: true }]) {
      expect(await rolesOf({ ...NEEDED, ...more })).to.deep.equal(['mongodb: Documents', ...others, 's3: Blobs']);
    }
  });

  it('use accounts of NATS when both operator files are configured', async () => {
    const files = { operatorNatsSigningKeyFile: '/key', operatorNatsSystemCredentialsFile: '/creds' };
    for (const [more, makesUsers] of [
      [{}, false],
      [files, true],
    ] as const) {
      const stores = await open({ ...NEEDED, ...more });
      const bus = stores.available ? stores.administrators.find(({ driver }) => driver === 'nats') : undefined;
      expect(bus?.makesUsers).to.equal(makesUsers);
    }
    const half = await open({ ...NEEDED, operatorNatsSigningKeyFile: '/key' });
    expect('reason' in half && half.reason).to.contain('ENGRAM_OPERATOR_NATS_SYSTEM_CREDENTIALS_FILE');
  });

  it('include Kafka when brokers are configured', async () => {
    expect(await rolesOf({ ...NEEDED, kafkaBrokers: ['e:9092'] })).to.include('kafka: Events');
  });
});
