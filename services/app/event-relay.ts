import type { Lifecycle } from '../common/platform/lifecycle/lifecycle.ts';
import type { Parts } from './registry.ts';

/**
 * The relay of domain events to Kafka, where brokers are configured. It stands beside `auth`, which has the least to do;
 * of several replicas one works.
 */
export async function addEventRelay(parts: Parts, lifecycle: Lifecycle): Promise<void> {
  const { config, stores, eventLog, clock, ids, logger, metrics } = parts;
  const { kafkaBrokers: brokers } = config;
  if (brokers === undefined || brokers.length === 0 || !config.services.includes('auth')) return;
  const { createKafkaEventPublisher } = await import('../common/storage/kafka/event-publisher.ts');
  const { createEventRelay } = await import('../common/platform/events/event-relay.ts');
  const publisher = createKafkaEventPublisher({
    brokers,
    topicPrefix: config.kafkaTopicPrefix,
    ...(config.kafkaUser === undefined ? {} : { user: config.kafkaUser }),
    ...(config.kafkaPassword === undefined ? {} : { password: config.kafkaPassword }),
    ...(config.kafkaCaFile === undefined ? {} : { caFile: config.kafkaCaFile }),
  });
  const relay = createEventRelay({ store: stores.documents, eventLog, publisher, clock, ids, logger, metrics });
  metrics.watchRelay(() => relay.lag());
  lifecycle.add({
    name: 'event-relay',
    start: () => relay.start(),
    async stop() {
      await relay.stop();
      await publisher.close();
    },
  });
}
