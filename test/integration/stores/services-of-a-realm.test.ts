import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { type DedicatedStoreSettings, openDedicatedStores } from '../../../operator/stores/dedicated-stores.ts';
import type { Realm } from '../../../operator/stores/realm.ts';
import type { StoreAdministrator } from '../../../operator/stores/store-administrator.ts';
import { newCredentials, newRealm } from '../../conformance/store-administrator.ts';
import { type StartedApp, startApp } from '../../support/start-app.ts';
import { until } from '../../support/until.ts';
import { type BackendAddress, withBackend, withBackends } from '../backend.ts';
import { openTestBucket, type TestBucket } from '../s3/test-bucket.ts';
import { canStartMongod, type MongodWithUsers, startMongodWithUsers } from './mongod-with-users.ts';

const NEVER = new AbortController().signal;

withBackends(['mongodb', 'nats', 'elasticsearch', 'neo4j', 'kafka'], () => {
  withBackend('s3', (s3: BackendAddress<'s3'>) => {
    (canStartMongod ? describe : describe.skip)('services with what a realm was given', () => {
      let mongod: MongodWithUsers;
      let bucket: TestBucket;
      before(async () => {
        mongod = await startMongodWithUsers();
        bucket = await openTestBucket(s3);
      });
      after(async () => {
        await bucket?.dispose();
        await mongod?.[Symbol.asyncDispose]();
      });

      it('remember and find, apart from another realm’s on the same servers, until all of it is removed', async () => {
        const [full, least] = [await open(settingsOf(mongod, bucket)), await open(settingsOf(mongod, null))];
        const realms = [newRealm(), newRealm()] as const;
        const [here, there] = [await startServices(full, realms[0]), await startServices(least, realms[1])];
        try {
          // Ids of the personal space, of its user and of the data set are the same in both.
          await Promise.all([
            remember(here, 'Ada Lovelace met Charles Babbage in London.'),
            remember(there, 'Grace Hopper wrote a compiler in Philadelphia.'),
          ]);
          expect(await search(here, 'Who met Babbage in London?'))
            .to.contain('Lovelace')
            .and.not.contain('Hopper');
          expect(await search(there, 'Who met Babbage in London?'))
            .to.contain('Hopper')
            .and.not.contain('Lovelace');
          for (const administrator of full) {
            const isThere = async () => (await administrator.residue(realms[0], NEVER)) > 0;
            await until(`something of the realm is in ${administrator.driver}`, isThere, { everyMs: 50 });
          }
        } finally {
          await here.stop();
        }
        await removeAll(full, realms[0]);
        expect(await search(there, 'Who wrote a compiler?')).to.contain('Hopper');
        await there.stop();
        await removeAll(least, realms[1]);
        for (const administrator of [...full, ...least]) await administrator.close();
      });
    });
  });
});

async function open(settings: DedicatedStoreSettings): Promise<readonly StoreAdministrator[]> {
  const stores = await openDedicatedStores(settings);
  if (!stores.available) throw new Error(stores.reason);
  return stores.administrators;
}

/** Without a bucket: only what a realm cannot do without. */
function settingsOf(mongod: MongodWithUsers, bucket: TestBucket | null): DedicatedStoreSettings {
  const { endpoint, region = '', accessKey, secretKey } = bucket?.options ?? { region: 'us-east-1' };
  return {
    operatorMongodbUrl: mongod.url,
    operatorElasticsearchUrl: process.env['ENGRAM_TEST_ELASTICSEARCH_URL'],
    operatorNeo4jUser: process.env['ENGRAM_TEST_NEO4J_USER'],
    operatorNeo4jPassword: process.env['ENGRAM_TEST_NEO4J_PASSWORD'],
    operatorNatsUrl: process.env['ENGRAM_TEST_NATS_URL'],
    operatorNatsCredentialsFile: undefined,
    operatorNatsSigningKeyFile: undefined,
    operatorNatsSystemCredentialsFile: undefined,
    operatorS3Buckets: false,
    neo4jUrl: process.env['ENGRAM_TEST_NEO4J_URL'],
    elasticsearchCaFile: undefined,
    elasticsearchReplicas: 0,
    natsCaFile: undefined,
    s3Bucket: bucket?.bucket,
    s3Url: endpoint,
    s3Region: region,
    s3AccessKey: accessKey,
    s3SecretKey: secretKey,
    s3Prefix: '',
    kafkaBrokers: bucket === null ? undefined : (process.env['ENGRAM_TEST_KAFKA_BROKERS'] ?? '').split(','),
    kafkaUser: undefined,
    kafkaPassword: undefined,
    kafkaCaFile: undefined,
  };
}

/** All six in one process, with nothing but what the administrators say. */
async function startServices(administrators: readonly StoreAdministrator[], realm: Realm): Promise<StartedApp> {
  const environment: Record<string, string> = {
    ENGRAM_STORES: 'cluster',
    ENABLE_AUTO_MIGRATIONS: 'true',
    HTTP_API_HOST: '127.0.0.1',
    FASTAPI_USERS_JWT_SECRET: randomBytes(32).toString('hex'),
  };
  for (const administrator of administrators) {
    const { settings, secrets, files } = await administrator.ensure(realm, newCredentials(), NEVER);
    expect(files).to.deep.equal({});
    for (const [name, value] of Object.entries({ ...settings, ...secrets })) {
      expect(environment, administrator.driver).to.not.have.property(name);
      environment[name] = value;
    }
  }
  return startApp(environment);
}

async function remember({ baseUrl }: StartedApp, text: string): Promise<void> {
  await post(baseUrl, '/add', { datasetName: 'letters', data: [text] });
  await post(baseUrl, '/cognify', { datasets: ['letters'] });
}

async function search({ baseUrl }: StartedApp, query: string): Promise<string> {
  return JSON.stringify(await post(baseUrl, '/search', { searchType: 'CHUNKS', query, datasets: ['letters'] }));
}

async function post(baseUrl: string, path: string, body: object): Promise<unknown> {
  const response = await fetch(`${baseUrl}/api/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  expect(response.status, text).to.equal(200);
  return JSON.parse(text);
}

async function removeAll(administrators: readonly StoreAdministrator[], realm: Realm): Promise<void> {
  for (const administrator of administrators) {
    await administrator.remove(realm, NEVER);
    expect(await administrator.residue(realm, NEVER), administrator.driver).to.equal(0);
  }
}
