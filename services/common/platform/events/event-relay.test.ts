import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { createMemoryDocumentStore } from '../../../../test/support/memory/document-store.ts';
import { until } from '../../../../test/support/until.ts';
import { engramError } from '../../kernel/errors.ts';
import { asId } from '../../kernel/ids.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { datasetScope, type Scope } from '../../kernel/scope.ts';
import type { NewEvent } from '../../ports/event-log.ts';
import type { LogFields } from '../../ports/logger.ts';
import type { EventPublisher, PublishedEvent } from '../../storage/ports/event-publisher.ts';
import { domainEventCodec } from '../messaging/published-events.ts';
import { createSystemClock } from '../system/clock.ts';
import { createIdSource } from '../system/id-source.ts';
import { createEventLog, eventsCollection } from './event-log.ts';
import { createEventRelay, type EventRelay, type EventRelaySettings } from './event-relay.ts';
import { createRelayPositions, relayPositionsCollection } from './relay-position.ts';

const scope = datasetScope(asId('tenant'), asId('dataset'));
const QUICK = { pollMs: 5, backOffMs: 1, maxBackOffMs: 4 } as const satisfies Partial<EventRelaySettings>;

interface Line {
  readonly event: string;
  readonly fields: LogFields;
}

async function createWorld() {
  const store = createMemoryDocumentStore();
  await store.prepare([eventsCollection, relayPositionsCollection]);
  const clock = createSystemClock();
  const ids = createIdSource(clock);
  const eventLog = createEventLog({ store, clock, ids });
  const published: PublishedEvent[] = [];
  const lines: Line[] = [];
  const log = (event: string, fields: LogFields = {}) => void lines.push({ event, fields });
  const relays: EventRelay[] = [];
  const counts: Record<string, number> = {};
  return {
    store,
    clock,
    ids,
    eventLog,
    published,
    lines,
    counts,
    append: (events: readonly NewEvent[], where: Scope = scope) =>
      store.commit(where, eventLog.appendWrites(where, events)),
    relay(publish: EventPublisher['publish'], settings: Partial<EventRelaySettings> = {}): EventRelay {
      const relay = createEventRelay({
        store,
        clock,
        ids,
        eventLog,
        publisher: { publish, close: async () => {} },
        logger: { debug: log, info: log, warn: log, error: log },
        metrics: {
          eventsRelayed(type, count) {
            counts[type] = (counts[type] ?? 0) + count;
          },
        },
        settings: { ...QUICK, ...settings },
      });
      relays.push(relay);
      return relay;
    },
    take: async (events: readonly PublishedEvent[]) => void published.push(...events),
    position: () => createRelayPositions({ store, clock, name: 'kafka', holder: 'test', leaseMs: 1 }).offset(),
    stop: () => Promise.all(relays.map((relay) => relay.stop())),
  };
}

const item = (id: string, type = 'item.added'): NewEvent => ({
  type,
  subjectId: id,
  data: type === 'item.added' ? { format: 'text', sizeBytes: 3 } : {},
});
const subjects = (events: readonly PublishedEvent[]) => events.map(({ key }) => key.split('/')[1]).join(' ');

describe('event relay', () => {
  let world: Awaited<ReturnType<typeof createWorld>>;
  beforeEach(async () => {
    world = await createWorld();
  });
  afterEach(() => world.stop());

  it('publishes the log in order with keys, headers and messages, and resumes after its last event', async () => {
    await world.append([item('a'), item('b'), item('c')]);
    const first = world.relay(world.take, { batchSize: 2 });
    first.start();
    await until('all are published', () => world.published.length === 3);
    await first.stop();
    await world.append([item('d')], { tenant: scope.tenant });
    world.relay(world.take).start();
    await until('the new one is published', () => world.published.length === 4);
    await sleep(20);
    expect(subjects(world.published)).to.equal('a b c d');
    expect(world.counts).to.deep.equal({ 'item.added': 4 });
    const [event] = await world.eventLog.read(scope, { after: 0, limit: 1 });
    const [told] = world.published;
    expect(told).to.deep.include({ type: 'item.added', key: 'tenant/a' });
    expect(told?.headers).to.include({ ce_id: event?.id, ce_type: 'engram.item.added', ce_tenant: 'tenant' });
    expect(told?.headers).to.include({ ce_dataset: 'dataset', ce_offset: String(event?.offset) });
    expect(domainEventCodec.decode(told?.payload ?? new Uint8Array())).to.deep.equal(event);
    expect(world.published[3]?.headers).to.not.have.property('ce_dataset');
  });

  it('publishes unacknowledged events again, and logs the failure once', async () => {
    await world.append([item('a'), item('b')]);
    let isAway = true;
    const attempts: string[] = [];
    const relay = world.relay(async (events) => {
      attempts.push(subjects(events));
      if (isAway) throw engramError('ServiceUnavailableError', 'Kafka cannot be reached', { retryable: true });
      await world.take(events);
    });
    relay.start();
    await until('several attempts', () => attempts.length > 5);
    expect(await world.position()).to.equal(0);
    expect((await relay.lag()).events).to.equal(2);
    isAway = false;
    await until('published', () => world.published.length > 0);
    await until('acknowledged', async () => (await relay.lag()).events === 0);
    expect(new Set(attempts)).to.deep.equal(new Set(['a b']));
    expect(subjects(world.published)).to.equal('a b');
    const names = world.lines.map(({ event }) => event);
    expect(names.filter((event) => event === 'relay.failed')).to.have.length(1);
    await until('the recovery is logged', () => world.lines.some(({ event }) => event === 'relay.recovered'));
  });

  it('works in one process of several, and another one takes over at once when it stops', async () => {
    const by: string[] = [];
    const relays = ['first', 'second', 'third'].map((name) =>
      world.relay(async (events) => {
        by.push(...events.map(() => name));
        await world.take(events);
      }),
    );
    for (const relay of relays) relay.start();
    for (let index = 0; index < 20; index += 1) {
      await world.append([item(`${index}`)]);
      await sleep(2);
    }
    await until('all are published', () => world.published.length >= 20);
    expect(subjects(world.published)).to.equal(Array.from({ length: 20 }, (_, index) => `${index}`).join(' '));
    expect(new Set(by).size).to.equal(1);
    await relays[['first', 'second', 'third'].indexOf(by[0] ?? '')]?.stop();
    await world.append([item('after')]);
    await until('another published', () => world.published.length === 21);
    expect(new Set(by).size).to.equal(2);
  });

  it('is taken over when its lease ends, and cannot move the position then', async () => {
    const options = { store: world.store, name: 'kafka', leaseMs: 1000 };
    let nowMs = 0;
    const clock = { now: () => new Date(nowMs) };
    const late = await createRelayPositions({ ...options, clock, holder: 'late' }).claim();
    const others = createRelayPositions({ ...options, clock, holder: 'other' });
    expect(await others.claim()).to.equal(null);
    nowMs = 700;
    await late?.keep();
    nowMs = 1500;
    expect(await others.claim(), 'its lease was extended').to.equal(null);
    nowMs = 1701;
    const other = await others.claim();
    await other?.advance(7);
    for (const change of [() => late?.advance(3), () => late?.release()]) {
      expect(await Promise.resolve(change()).catch((error: Error) => error.name)).to.equal('LeaseLostError');
    }
    expect(await others.offset()).to.equal(7);
    expect(other?.offset).to.equal(7);
  });

  it('publishes tombstones of erased subjects before the erasure and before later events', async () => {
    const other = datasetScope(scope.tenant, asId('other'));
    const run = (id: string): NewEvent => ({ type: 'run.started', subjectId: id, data: { pipeline: 'p' } });
    const dataset = (type: string): NewEvent => ({ type, subjectId: 'dataset', data: { ownerId: 'u' } });
    await world.append([item('stays')], other);
    await world.append([dataset('dataset.created'), item('a'), item('b'), run('r'), item('a', 'item.forgotten')]);
    await world.append([dataset('dataset.removed'), dataset('dataset.created'), item('new')]);
    world.relay(world.take).start();
    await until('all are published', () => world.published.some(({ key }) => key.endsWith('/new')));
    const told = world.published.map(
      ({ type, key, payload }) => `${payload === null ? '-' : '+'} ${type} ${key.slice(7)}`,
    );
    expect(told).to.deep.equal([
      '+ item.added stays',
      ...['+ dataset.created dataset', '+ item.added a', '+ item.added b', '+ run.started r'],
      ...['- item.added a', '- item.updated a', '+ item.forgotten a'],
      ...['- dataset.created dataset', '- item.added a', '- item.added b', '- run.started r', '- item.forgotten a'],
      ...['+ dataset.removed dataset', '+ dataset.created dataset', '+ item.added new'],
    ]);
  });

  it('publishes tombstones of a tenant when the tenant is erased', async () => {
    const member = (type: string): NewEvent => ({ type, subjectId: 'ada', data: {} });
    const tenant = { tenant: scope.tenant };
    const other: Scope = { tenant: asId('other') };
    await world.append([member('membership.added')], other);
    await world.append([{ type: 'tenant.created', subjectId: 't', data: { ownerId: 'ada' } }], tenant);
    await world.append([item('a')]);
    await world.append([member('membership.added'), member('membership.removed')], tenant);
    await world.append([{ type: 'tenant.erased', subjectId: 't', data: {} }], tenant);
    world.relay(world.take).start();
    await until('all are published', () => world.published.some(({ type }) => type === 'tenant.erased'));
    const takenBack = world.published
      .filter(({ payload }) => payload === null)
      .map(({ type, key }) => `${type} ${key}`);
    const { tenant: id } = tenant;
    expect(takenBack).to.deep.equal([
      ...[`tenant.created ${id}/t`, `membership.added ${id}/ada`, `membership.removed ${id}/ada`],
    ]);
    expect(world.published.at(-1)?.type).to.equal('tenant.erased');
  });

  it('does not skip an unknown event, and leaves it to a process of another release', async () => {
    await world.append([item('a'), { type: 'later.invented', subjectId: 'b', data: {} }, item('c')]);
    world.relay(world.take).start();
    await until('it is said', () => world.lines.some(({ event }) => event === 'relay.failed'));
    expect(String(world.lines.find(({ event }) => event === 'relay.failed')?.fields['error'])).to.include(
      'later.invented',
    );
    expect(await world.position()).to.equal(0);
    await until('the lease is free', async () => {
      const stored = await world.store.get(scope, relayPositionsCollection, 'kafka');
      return stored?.value.leaseUntilMs === 0;
    });
  });

  it('holds one batch in memory while the broker is unavailable for hundreds of attempts', async () => {
    const data: JsonObject = { format: 'x'.repeat(500), sizeBytes: 1 };
    for (let index = 0; index < 20; index += 1) {
      await world.append(Array.from({ length: 50 }, (_, each) => ({ ...item(`${index}-${each}`), data })));
    }
    let attempts = 0;
    const relay = world.relay(
      async () => {
        attempts += 1;
        throw engramError('ServiceUnavailableError', 'Kafka cannot be reached', { retryable: true });
      },
      { batchSize: 20, backOffMs: 1, maxBackOffMs: 1 },
    );
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const heap = () => {
      collect();
      return process.memoryUsage().heapUsed / 1e6;
    };
    relay.start();
    await until('it is warm', () => attempts > 100);
    const before = heap();
    const begunAt = attempts;
    await until('hundreds more', () => attempts > begunAt + 400);
    expect(heap() - before).to.be.lessThan(3);
    await relay.stop();
  });

  it('stops while a publication hangs, and reports its lag', async () => {
    await world.append([item('a')]);
    let isPublishing = false;
    const relay = world.relay(
      (_, signal) =>
        new Promise((_resolve, reject) => {
          isPublishing = true;
          signal?.addEventListener('abort', () => reject(signal.reason));
        }),
      { drainMs: 20 },
    );
    expect(await relay.lag()).to.deep.include({ events: 1 });
    relay.start();
    await until('it publishes', () => isPublishing);
    await relay.stop();
    expect((await relay.lag()).events).to.equal(1);
    expect((await relay.lag()).seconds).to.be.within(0, 60);
    const next = world.relay(world.take);
    next.start();
    await until('another goes on', () => world.published.length === 1);
  });
});
