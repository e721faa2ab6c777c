import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { asId } from '../../../services/common/kernel/ids.ts';
import { datasetScope } from '../../../services/common/kernel/scope.ts';
import { domainEventCodec } from '../../../services/common/platform/messaging/published-events.ts';
import type { NewEvent } from '../../../services/common/ports/event-log.ts';
import { createKafkaEventPublisher } from '../../../services/common/storage/kafka/event-publisher.ts';
import type { EventPublisher } from '../../../services/common/storage/ports/event-publisher.ts';
import { withBackend, withKafkaListeners } from '../backend.ts';
import { openRelay } from './test-relay.ts';
import { createTestTopics, type ReadMessage, type TestTopics } from './test-topics.ts';

const PROGRAM = fileURLToPath(new URL('relay-process.ts', import.meta.url));
const scope = datasetScope(asId('tenant'), asId('dataset'));
const item = (index: number): NewEvent => ({
  type: 'item.added',
  subjectId: `item-${index}`,
  data: { format: 'text', sizeBytes: index },
});
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

withBackend('kafka', ({ ENGRAM_TEST_KAFKA_BROKERS: brokers }) => {
  describe('event relay to Kafka', () => {
    let topics: TestTopics;
    let directory: string;
    const closers: (() => Promise<unknown>)[] = [];
    beforeEach(async () => {
      topics = createTestTopics(brokers);
      directory = await mkdtemp(join(tmpdir(), 'engram-relay-'));
    });
    afterEach(async () => {
      for (const close of closers.splice(0).toReversed()) await close();
      await topics.dispose();
      await rm(directory, { recursive: true });
    });
    /** `hasty`: for a broker that is to be missed soon. */
    const publisherTo = (address: string, { hasty = false } = {}): EventPublisher => {
      const limits = hasty ? { connectTimeoutMs: 300, requestTimeoutMs: 1000, publishTimeoutMs: 3000 } : {};
      const publisher = createKafkaEventPublisher({
        brokers: address.split(','),
        topicPrefix: topics.prefix,
        ...limits,
      });
      closers.push(() => publisher.close());
      return publisher;
    };
    const open = async (publisher: EventPublisher, settings = {}) => {
      const opened = await openRelay({ file: join(directory, 'control.db'), publisher, settings });
      closers.push(async () => {
        await opened.relay.stop();
        await opened.store.close();
      });
      return opened;
    };
    const caughtUp = async ({ relay }: Awaited<ReturnType<typeof open>>) => {
      for (let tries = 0; (await relay.lag()).events > 0; tries += 1) {
        expect(tries, 'it catches up').to.be.lessThan(1000);
        await sleep(20);
      }
    };
    const subjectsOf = (messages: readonly ReadMessage[]) => messages.map(({ key }) => key.replace('tenant/item-', ''));

    it('gives each event to the topic of its type, as its protobuf message', async () => {
      const opened = await open(publisherTo(brokers));
      const created: NewEvent = { type: 'dataset.created', subjectId: scope.dataset, data: { ownerId: 'u' } };
      await opened.append(scope, [created, ...numbers(5).map(item)]);
      opened.relay.start();
      await caughtUp(opened);
      expect([...(await topics.types())].sort()).to.deep.equal(['dataset.created', 'item.added']);
      const read = await topics.readAll(['dataset.created', 'item.added']);
      for (const { type, key, value, headers } of read) {
        const event = domainEventCodec.decode(value ?? new Uint8Array());
        expect(event).to.include({ type, tenant: 'tenant', dataset: 'dataset', id: headers['ce_id'] });
        expect(key).to.equal(`tenant/${event.subjectId}`);
      }
      expect(read).to.have.length(6);
    });

    it('that is killed between publication and offset publishes again and loses nothing', async () => {
      const file = join(directory, 'control.db');
      const first = await openRelay({ file, publisher: publisherTo(brokers) });
      await first.append(scope, numbers(100).map(item));
      await first.store.close();
      const child = spawn(process.execPath, [PROGRAM, file, brokers, topics.prefix, '3'], { stdio: 'inherit' });
      const [, signal] = await once(child, 'exit');
      expect(signal).to.equal('SIGKILL');
      expect(await topics.readAll(['item.added'])).to.have.length(30);
      const opened = await open(publisherTo(brokers), { leaseMs: 10_000, batchSize: 10 });
      opened.relay.start();
      await caughtUp(opened);
      const read = subjectsOf(await topics.readAll(['item.added']));
      expect(new Set(read).size).to.equal(100);
      const repeated = read.filter((subject, index) => read.indexOf(subject) !== index).map(Number);
      expect(
        repeated.sort((left, right) => left - right),
        'the third batch',
      ).to.deep.equal(numbers(10).map((index) => index + 20));
    });

    it('keeps nothing in memory while the broker is away', async () => {
      let attempts = 0;
      const unreachable = publisherTo('127.0.0.1:1', { hasty: true });
      const counted: EventPublisher = {
        ...unreachable,
        publish(events, signal) {
          attempts += 1;
          return unreachable.publish(events, signal);
        },
      };
      const opened = await open(counted, { backOffMs: 1, maxBackOffMs: 1, batchSize: 100 });
      await opened.append(scope, numbers(300).map(item));
      opened.relay.start();
      setFlagsFromString('--expose-gc');
      const collect = runInNewContext('gc') as () => void;
      const figuresAfter = async (count: number) => {
        while (attempts < count) await sleep(10);
        collect();
        return { heap: process.memoryUsage().heapUsed / 1e6, handles: process.getActiveResourcesInfo().length };
      };
      const before = await figuresAfter(3);
      const later = await figuresAfter(12);
      expect(later.heap - before.heap).to.be.lessThan(3);
      expect(later.handles - before.handles).to.be.lessThan(10);
      expect(opened.log.filter((event) => event === 'relay.failed')).to.have.length(1);
    });

    withBackend('chaos', ({ ENGRAM_TEST_CHAOS_URL: control }) => {
      withKafkaListeners(() => {
        it('catches up by itself when a broker that was cut off, then silent, is back', async () => {
          const [host = '', port = ''] = brokers.split(':');
          // The listener for a proxy: the broker sends clients from there back to the port after it.
          const [upstream, listen] = [`${host}:${Number(port) + 3}`, `${host}:${Number(port) + 4}`];
          const name = `kafka-${topics.prefix.slice(5, -1)}`;
          const ask = async (path: string, method: string, body?: object) => {
            const init = body === undefined ? { method } : { method, body: JSON.stringify(body) };
            const answer = await fetch(control + path, init);
            expect(answer.ok, `${method} ${path}: ${answer.status}`).to.equal(true);
          };
          await ask('/proxies', 'POST', { name, listen, upstream, enabled: true });
          closers.push(() => ask(`/proxies/${name}`, 'DELETE'));
          const opened = await open(publisherTo(listen, { hasty: true }), { batchSize: 7 });
          let count = 0;
          const append = async (events: number) => {
            for (const index of numbers(events)) {
              await opened.append(scope, [item(count + index)]);
              await sleep(5);
            }
            count += events;
          };
          /** Goes on while the broker is away, until the relay has given up for now so many times. */
          const appendUntilFailed = async (times: number) => {
            while (opened.log.filter((event) => event === 'relay.failed').length < times) await append(5);
          };
          opened.relay.start();
          await append(20);
          await caughtUp(opened);
          await ask(`/proxies/${name}`, 'POST', { enabled: false });
          await appendUntilFailed(1);
          expect((await opened.relay.lag()).events).to.be.greaterThan(20);
          await ask(`/proxies/${name}`, 'POST', { enabled: true });
          await append(20);
          await caughtUp(opened);
          await ask(`/proxies/${name}/toxics`, 'POST', {
            name: 'silent',
            type: 'timeout',
            stream: 'downstream',
            attributes: { timeout: 0 },
          });
          await appendUntilFailed(2);
          await ask(`/proxies/${name}/toxics/silent`, 'DELETE');
          await append(10);
          await caughtUp(opened);
          const read = subjectsOf(await topics.readAll(['item.added']));
          expect([...new Set(read)].map(Number).sort((left, right) => left - right)).to.deep.equal(numbers(count));
          const again = new Set(read.filter((subject, at) => read.indexOf(subject) < at));
          expect(again.size, 'nothing comes again but what was under way').to.be.at.most(2 * 7);
          expect(opened.log.filter((event) => event === 'relay.recovered')).to.have.length(2);
        });
      });
    });
  });
});
