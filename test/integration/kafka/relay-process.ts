/**
 * A process beside the tests of `event-relay.test.ts`: DATABASE-FILE BROKERS TOPIC-PREFIX BATCHES
 * It relays the log of the database, and is killed after the publication of so many batches, before their offset is kept.
 */
import { createKafkaEventPublisher } from '../../../services/common/storage/kafka/event-publisher.ts';
import { openRelay } from './test-relay.ts';

const [file = '', brokers = '', topicPrefix = '', batches = ''] = process.argv.slice(2);
const publisher = createKafkaEventPublisher({ brokers: brokers.split(','), topicPrefix });
let left = Number(batches);
const { relay } = await openRelay({
  file,
  publisher: {
    ...publisher,
    async publish(events, signal) {
      await publisher.publish(events, signal);
      left -= 1;
      if (left === 0) process.kill(process.pid, 'SIGKILL');
    },
  },
  settings: { batchSize: 10, leaseMs: 500 },
});
relay.start();
