import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Admin, Kafka, type KafkaMessage, logLevel } from 'kafkajs';

export interface ReadMessage {
  readonly type: string;
  readonly key: string;
  readonly value: Buffer | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly partition: number;
}

/** Topics under a prefix of the test's own; `dispose` removes them. */
export interface TestTopics {
  readonly prefix: string;
  readonly kafka: Kafka;
  /** The types that have a topic. */
  types(): Promise<readonly string[]>;
  /** Everything in those topics now, in the order of each partition. */
  readAll(types: readonly string[]): Promise<readonly ReadMessage[]>;
  dispose(): Promise<void>;
}

export function createTestTopics(brokers: string): TestTopics {
  const prefix = `test-${randomUUID().slice(0, 8)}.`;
  const kafka = new Kafka({ brokers: brokers.split(','), clientId: 'engram-test', logLevel: logLevel.NOTHING });
  const admin = kafka.admin();
  const connected = admin.connect();
  const types = async () => {
    await connected;
    return (await admin.listTopics())
      .filter((topic) => topic.startsWith(prefix))
      .map((each) => each.slice(prefix.length));
  };
  const groups: string[] = [];
  return {
    prefix,
    kafka,
    types,
    async readAll(wanted) {
      const there = await types();
      const topics = wanted.filter((type) => there.includes(type)).map((type) => prefix + type);
      let expected = 0;
      for (const topic of topics) {
        for (const { low, high } of await admin.fetchTopicOffsets(topic)) expected += Number(high) - Number(low);
      }
      if (expected === 0) return [];
      const groupId = `${prefix}${randomUUID()}`;
      groups.push(groupId);
      const consumer = kafka.consumer({ groupId, maxWaitTimeInMs: 100 });
      await consumer.connect();
      await consumer.subscribe({ topics, fromBeginning: true });
      const read: ReadMessage[] = [];
      const { promise, resolve } = Promise.withResolvers<void>();
      await consumer.run({
        async eachMessage({ topic, partition, message }) {
          read.push({ type: topic.slice(prefix.length), partition, ...contentOf(message) });
          if (read.length >= expected) resolve();
        },
      });
      await promise;
      await consumer.disconnect();
      return read;
    },
    async dispose() {
      const topics = (await types()).map((type) => prefix + type);
      if (topics.length > 0) await admin.deleteTopics({ topics });
      await removeGroups(admin, groups);
      await admin.disconnect();
    },
  };
}

/** A group that was just left may still have its member for the coordinator. */
async function removeGroups(admin: Admin, all: readonly string[]): Promise<void> {
  let groups = all;
  for (let tries = 1; groups.length > 0; tries += 1) {
    try {
      await admin.deleteGroups([...groups]);
      return;
    } catch (error) {
      if (tries === 20 || !(error instanceof Error) || error.name !== 'KafkaJSDeleteGroupsError') throw error;
      await sleep(100);
      const left = new Set((await admin.listGroups()).groups.map(({ groupId }) => groupId));
      groups = groups.filter((group) => left.has(group));
    }
  }
}

function contentOf({ key, value, headers }: KafkaMessage) {
  const entries = Object.entries(headers ?? {}).map(([name, content]) => [name, String(content)] as const);
  return { key: String(key), value, headers: Object.fromEntries(entries) };
}
