import { expect } from 'chai';
import { createMemoryDocumentStore } from '../../../test/support/memory/document-store.ts';
import type { TenantId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { createEventLog, eventsCollection } from '../../common/platform/events/event-log.ts';
import { relayPositionsCollection } from '../../common/platform/events/relay-position.ts';
import { insert } from '../../common/storage/ports/document-store.ts';
import { createRetentions, tenantRetentionCollection } from '../repositories/retention.ts';
import { expireEvents } from './expire-events.ts';

const ACME = { tenant: asId<TenantId>('acme') };
const OTHER = { tenant: asId<TenantId>('other') };
const DAY = 86_400_000;

async function world(eventsArePublished: boolean) {
  const store = createMemoryDocumentStore();
  await store.prepare([eventsCollection, tenantRetentionCollection, relayPositionsCollection]);
  let nowMs = Date.parse('2026-01-02T03:00:00Z');
  let ids = 0;
  const clock = { now: () => new Date(nowMs) };
  const log = createEventLog({ store, clock, ids: { ordered: () => `e${ids++}` } });
  const retentions = createRetentions(store);
  await store.commit(ACME, [retentions.ofTenants.putWrite({ sessionsMs: null, eventsMs: 10 * DAY }, null)]);
  return {
    tell: (scope: typeof ACME) =>
      store.commit(scope, log.appendWrites(scope, [{ type: 'item.added', subjectId: 'x', data: {} }])),
    pass: (days: number) => {
      nowMs += days * DAY;
    },
    publish: (offset: number) =>
      store.commit(SYSTEM_SCOPE, [
        insert(relayPositionsCollection, 'kafka', { offset, holder: null, leaseUntilMs: 0, fencingToken: 1 }),
      ]),
    expire: (signal?: AbortSignal) =>
      expireEvents({ store, retentions, clock, settings: { eventsArePublished } }, signal),
    left: async (scope: typeof ACME) => (await log.read(scope, { after: 0, limit: 1000 })).map(({ offset }) => offset),
  };
}

describe('events of the past', () => {
  it('go once they are older than their tenant keeps them, and those of others stay', async () => {
    const { tell, pass, expire, left } = await world(false);
    for (const scope of [ACME, OTHER, ACME]) await tell(scope);
    pass(6);
    await tell(ACME);
    expect(await expire()).to.equal(0);
    pass(6);
    expect(await expire()).to.equal(2);
    expect(await left(ACME)).to.deep.equal([4]);
    expect(await left(OTHER)).to.deep.equal([2]);
  });

  it('stay until they are published where Kafka gets them', async () => {
    const { tell, pass, publish, expire, left } = await world(true);
    for (let event = 0; event < 3; event += 1) await tell(ACME);
    pass(20);
    expect(await expire(), 'nothing is published yet').to.equal(0);
    await publish(2);
    expect(await expire()).to.equal(2);
    expect(await left(ACME)).to.deep.equal([3]);
  });

  it('stay for the next time when the process stops', async () => {
    const { tell, pass, expire } = await world(false);
    await tell(ACME);
    pass(20);
    expect(await expire(AbortSignal.abort())).to.equal(0);
    expect(await expire()).to.equal(1);
  });

  it('go in parts when they are very many', async () => {
    const { tell, pass, expire, left } = await world(false);
    for (let event = 0; event < 1203; event += 1) await tell(ACME);
    pass(20);
    expect(await expire()).to.equal(1203);
    expect(await left(ACME)).to.deep.equal([]);
  });
});
