import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  createKafkaEventPublisher,
  type KafkaOptions,
} from '../../../services/common/storage/kafka/event-publisher.ts';
import type { PublishedEvent } from '../../../services/common/storage/ports/event-publisher.ts';
import { rejection } from '../../support/refusal-of.ts';
import { selfSignedCertificate } from '../../support/self-signed-certificate.ts';
import { withBackend, withKafkaListeners } from '../backend.ts';
import { createTestTopics, type TestTopics } from './test-topics.ts';

const SASL_PASSWORD = process.env['KAFKA_SASL_PASSWORD'] ?? 'engram-test';

const event = (key: string, text: string | null, type = 'item.added'): PublishedEvent => ({
  type,
  key,
  headers: { ce_id: key, unicode: 'ünï' },
  payload: text === null ? null : Buffer.from(text),
});

withBackend('kafka', ({ ENGRAM_TEST_KAFKA_BROKERS: brokers }) => {
  describe('event publisher on Kafka', () => {
    let topics: TestTopics;
    before(() => {
      topics = createTestTopics(brokers);
    });
    after(() => topics.dispose());
    const publisherWith = (options: Partial<KafkaOptions> = {}) =>
      createKafkaEventPublisher({
        brokers: brokers.split(','),
        topicPrefix: topics.prefix,
        connectTimeoutMs: 1000,
        requestTimeoutMs: 5000,
        publishTimeoutMs: 20_000,
        ...options,
      });
    /** The error of one publication, which must tell no password. */
    const refusal = async (options: Partial<KafkaOptions>, events = [event('t/1', 'x')]) => {
      const publisher = publisherWith(options);
      const error = await rejection(publisher.publish(events));
      await publisher.close();
      if (options.password !== undefined) expect(error.message).to.not.include(options.password);
      return error;
    };
    const [host, port] = brokers.split(':');
    const saslBroker = `${host}:${Number(port) + 2}`;

    it('makes a compacted topic of each type and keeps key, headers, order and tombstones', async () => {
      const publisher = publisherWith();
      const keys = Array.from({ length: 10 }, (_, index) => `t/${index}`);
      for (let round = 0; round < 3; round += 1)
        await publisher.publish(keys.map((key) => event(key, `${key}#${round}`)));
      await publisher.publish([event('t/0', null), event('t/0', 'gone', 'item.forgotten'), event('t/0', 'again')]);
      await publisher.close();
      expect([...(await topics.types())].sort()).to.deep.equal(['item.added', 'item.forgotten']);
      const read = await topics.readAll(['item.added']);
      for (const key of keys.slice(1)) {
        const mine = read.filter((message) => message.key === key);
        expect(mine.map(({ value }) => String(value))).to.deep.equal([0, 1, 2].map((round) => `${key}#${round}`));
        expect(new Set(mine.map(({ partition }) => partition)).size).to.equal(1);
        expect(mine[0]?.headers).to.deep.equal({ ce_id: key, unicode: 'ünï' });
      }
      const first = read
        .filter((message) => message.key === 't/0')
        .map(({ value }) => (value === null ? null : String(value)));
      expect(first).to.deep.equal(['t/0#0', 't/0#1', 't/0#2', null, 'again']);
      const admin = topics.kafka.admin();
      await admin.connect();
      const { resources } = await admin.describeConfigs({
        includeSynonyms: false,
        resources: [{ type: 2, name: `${topics.prefix}item.added`, configNames: ['cleanup.policy'] }],
      });
      await admin.disconnect();
      expect(resources[0]?.configEntries[0]?.configValue).to.equal('compact,delete');
    });

    withKafkaListeners(() => {
      it('logs in with SCRAM, and says that the password, or the port, is the wrong one', async () => {
        const admin = publisherWith({ brokers: [saslBroker], user: 'admin', password: SASL_PASSWORD });
        await admin.publish([event('t/sasl', 'x', 'run.started')]);
        await admin.close();
        expect(await topics.readAll(['run.started'])).to.have.length(1);
        const wrong = await refusal({ brokers: [saslBroker], user: 'admin', password: 'wrong-password' });
        expect(wrong).to.include({ wireName: 'ServiceUnavailableError', retryable: false });
        expect(wrong.message).to.equal(
          `Kafka at ${saslBroker} refuses the credentials: wrong user, password or SASL mechanism`,
        );
        const plain = await refusal({ user: 'admin', password: SASL_PASSWORD });
        expect(plain.message).to.match(/does not take this login/);
      });

      it('says that the user may not write', async () => {
        const error = await refusal({ brokers: [saslBroker], user: 'tenant-a', password: SASL_PASSWORD });
        expect(error).to.include({ wireName: 'ServiceUnavailableError', retryable: false });
        expect(error.message).to.match(/does not allow this to the user/);
      });
    });

    it('says that nothing answers, that TLS is not spoken there, that half of the credentials is missing', async () => {
      const away = await refusal({ brokers: ['127.0.0.1:1'] });
      expect(away).to.include({ wireName: 'ServiceUnavailableError', retryable: true });
      expect(away.message).to.equal('Kafka at 127.0.0.1:1 cannot be reached');
      await using directory = await mkdtempDisposable(join(tmpdir(), 'engram-kafka-'));
      const caFile = join(directory.path, 'ca.pem');
      await writeFile(caFile, selfSignedCertificate().cert);
      expect((await refusal({ caFile })).message).to.match(/TLS/);
      expect(() => publisherWith({ user: 'somebody' })).to.throw('set both user and password');
    });

    it('says that an event is too large, and publishes the next one', async () => {
      const publisher = publisherWith();
      const large = event('t/large', 'x'.repeat(2_000_000));
      expect(await rejection(publisher.publish([large]))).to.include({
        wireName: 'PayloadTooLargeError',
        retryable: false,
      });
      await publisher.publish([event('t/small', 'x', 'item.small')]);
      await publisher.close();
      expect((await topics.readAll(['item.small'])).map(({ key }) => key)).to.deep.equal(['t/small']);
    });

    it('gives a silent broker up in time, or at once when it is told to', async () => {
      const sockets = new Set<Socket>();
      const silent = createServer((socket) => void sockets.add(socket));
      await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
      const address = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
      const begin = performance.now();
      const late = await refusal({ brokers: [address], requestTimeoutMs: 500, publishTimeoutMs: 1500 });
      expect(late.wireName).to.be.oneOf(['DeadlineExceededError', 'ServiceUnavailableError']);
      expect(late.retryable).to.equal(true);
      expect(performance.now() - begin).to.be.lessThan(15_000);
      const publisher = publisherWith({ brokers: [address], requestTimeoutMs: 500 });
      const controller = new AbortController();
      setTimeout(() => controller.abort(new Error('enough')), 50);
      expect((await rejection(publisher.publish([event('t/1', 'x')], controller.signal))).message).to.equal('enough');
      await publisher.close();
      for (const socket of sockets) socket.destroy();
      silent.close();
    });
  });
});
