import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { type StartedApp, startApp } from '../../support/start-app.ts';
import { until } from '../../support/until.ts';
import { createWire } from '../../support/wire.ts';
import { type BackendAddress, withBackend, withBackends } from '../backend.ts';
import { createTestTopics, type TestTopics } from '../kafka/test-topics.ts';
import { type OwnNames, takeOwnNames } from '../own-names.ts';
import { openTestBucket, type TestBucket } from '../s3/test-bucket.ts';

withBackends(['mongodb', 'nats', 'elasticsearch', 'neo4j', 'kafka'], () => {
  withBackend('s3', (s3: BackendAddress<'s3'>) => {
    describe('the cluster shape with S3 and Kafka', () => {
      const brokers = process.env['ENGRAM_TEST_KAFKA_BROKERS'] ?? '';
      let names: OwnNames;
      let topics: TestTopics;
      let bucket: TestBucket;
      let app: StartedApp;

      before(async () => {
        names = takeOwnNames();
        topics = createTestTopics(brokers);
        bucket = await openTestBucket(s3);
        app = await startApp({
          ...names.environment,
          HTTP_API_HOST: '127.0.0.1',
          FASTAPI_USERS_JWT_SECRET: randomBytes(32).toString('hex'),
          ENGRAM_S3_URL: s3.ENGRAM_TEST_S3_URL,
          ENGRAM_S3_ACCESS_KEY: s3.ENGRAM_TEST_S3_ACCESS_KEY,
          ENGRAM_S3_SECRET_KEY: s3.ENGRAM_TEST_S3_SECRET_KEY,
          ENGRAM_S3_REGION: s3.ENGRAM_TEST_S3_REGION,
          ENGRAM_S3_BUCKET: bucket.options.bucket,
          ENGRAM_KAFKA_BROKERS: brokers,
          ENGRAM_KAFKA_TOPIC_PREFIX: topics.prefix,
        });
      });
      after(async () => {
        await app?.stop();
        await names.remove();
        await topics.dispose();
        await bucket.dispose();
      });

      const post = async (path: string, body: object): Promise<void> => {
        const { status, text } = await createWire(app.baseUrl).post(path, body);
        expect(status, text).to.equal(200);
      };
      const untilTopic = (type: string) =>
        until(`an event ${type}`, async () => (await topics.types()).includes(type), { everyMs: 100 });

      it('keeps files in the bucket, tells of what happens in topics, and takes both back', async () => {
        await post('/add', { datasetName: 'letters', data: ['Ada Lovelace met Charles Babbage in London.'] });
        expect(await bucket.names()).to.have.length.greaterThan(0);
        await post('/cognify', { datasets: ['letters'] });
        await untilTopic('item.added');
        await untilTopic('run.completed');
        const health = (await (await fetch(`${app.baseUrl}/health/detailed`)).json()) as {
          readonly components: Readonly<Record<string, { readonly provider: string; readonly status: string }>>;
        };
        expect(health.components['file_storage']).to.include({ provider: 's3', status: 'healthy' });
        await post('/forget', { dataset: 'letters' });
        expect(await bucket.names()).to.deep.equal(['installation']);
        await untilTopic('dataset.removed');
      });
    });
  });
});
