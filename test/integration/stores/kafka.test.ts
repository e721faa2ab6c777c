import { Kafka, logLevel } from 'kafkajs';
import { createKafkaAdministrator } from '../../../operator/stores/kafka/kafka-administrator.ts';
import type { Provision } from '../../../operator/stores/store-administrator.ts';
import { createKafkaEventPublisher } from '../../../services/common/storage/kafka/event-publisher.ts';
import {
  type AdministratorSubject,
  describeStoreAdministrator,
  type RealmAccess,
} from '../../conformance/store-administrator.ts';
import { withBackend } from '../backend.ts';

withBackend('kafka', ({ ENGRAM_TEST_KAFKA_BROKERS: list, ENGRAM_TEST_KAFKA_PLAIN_ONLY: plainOnly }) => {
  describeStoreAdministrator('Kafka', async (): Promise<AdministratorSubject> => {
    const brokers = list.split(',');
    // The next port but one asks for a login.
    const guarded = brokers.map((broker) => broker.replace(/\d+$/, (port) => String(Number(port) + 2)));
    return {
      administrator: createKafkaAdministrator({ brokers }),
      away: createKafkaAdministrator({ brokers: ['127.0.0.1:9'], user: 'u', password: 'away-password' }),
      awayPassword: 'away-password',
      refused: plainOnly
        ? null
        : {
            administrator: createKafkaAdministrator({ brokers: guarded, user: 'admin', password: 'wrong' }),
            setting: 'ENGRAM_KAFKA_PASSWORD',
          },
      damages: {},
      // Topics hold none.
      holdsMarks: false,
      connect: async (provision) => connect(provision),
      async dispose() {},
    };
  });
});

/** The services' own publisher; a thing is an event type, which is a topic. */
function connect({ settings }: Provision): RealmAccess {
  const brokers = (settings['ENGRAM_KAFKA_BROKERS'] ?? '').split(',');
  const topicPrefix = settings['ENGRAM_KAFKA_TOPIC_PREFIX'] ?? '';
  const publisher = createKafkaEventPublisher({ brokers, topicPrefix });
  const admin = new Kafka({ brokers, logLevel: logLevel.NOTHING }).admin();
  return {
    write: (id) => publisher.publish([{ type: `thing.${id}`, key: 'k', headers: {}, payload: Buffer.from('{}') }]),
    async has(id) {
      await admin.connect();
      return (await admin.listTopics()).includes(`${topicPrefix}thing.${id}`);
    },
    trespass: null,
    async close() {
      await publisher.close();
      await admin.disconnect();
    },
  };
}
