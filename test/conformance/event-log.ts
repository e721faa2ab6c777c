import { expect } from 'chai';
import { type Scope, SYSTEM_SCOPE } from '../../services/common/kernel/scope.ts';
import { createEventLog, eventsCollection } from '../../services/common/platform/events/event-log.ts';
import { createIdSource } from '../../services/common/platform/system/id-source.ts';
import type { EventLog } from '../../services/common/ports/event-log.ts';
import { type DocumentStore, insert } from '../../services/common/storage/ports/document-store.ts';
import type { DocumentStoreSubject } from '../support/document-stores.ts';
import { rejection } from '../support/refusal-of.ts';
import { newDataset, newTenant, tenantThings } from './document-store-subject.ts';

/** The event log on every document store; `open` gives an empty one. */
export function eventLogConformance(name: string, open: () => Promise<DocumentStoreSubject>): void {
  describe(`event log: ${name}`, () => {
    let subject: DocumentStoreSubject;
    let log: EventLog;
    before(async () => {
      subject = await open();
      await subject.store.prepare([eventsCollection, tenantThings]);
      const clock = { now: () => new Date('2026-01-02T03:04:05Z') };
      log = createEventLog({ store: subject.store, clock, ids: createIdSource() });
    });
    after(() => subject.dispose());
    eventLogTests(
      () => subject.store,
      () => log,
    );
  });
}

function eventLogTests(store: () => DocumentStore, log: () => EventLog): void {
  const append = (scope: Scope, ...types: readonly string[]) =>
    store().commit(
      scope,
      log().appendWrites(
        scope,
        types.map((type, index) => ({ type, subjectId: `s${index}`, data: { index } })),
      ),
    );
  const typesOf = async (scope: Parameters<EventLog['read']>[0], after = 0, types?: readonly string[]) =>
    (await log().read(scope, { after, limit: 100, ...(types === undefined ? {} : { types }) })).map(({ type }) => type);

  it('gives events back whole, in the order they were appended', async () => {
    const scope = newDataset();
    await append(scope, 'run.started', 'run.completed');
    const [first, second] = await log().read(scope, { after: 0, limit: 10 });
    expect(first).to.deep.include({
      type: 'run.started',
      subjectId: 's0',
      data: { index: 0 },
      tenant: scope.tenant,
      dataset: scope.dataset,
      occurredAt: '2026-01-02T03:04:05.000Z',
    });
    expect(second?.type).to.equal('run.completed');
    expect(second?.offset).to.be.greaterThan(first?.offset ?? Number.POSITIVE_INFINITY);
    expect(second?.id).to.not.equal(first?.id);
  });

  it('reads on after an offset, by limit and by type', async () => {
    const scope = newTenant();
    await append(scope, 'a.x', 'b.x', 'a.x', 'c.x');
    const [first] = await log().read(scope, { after: 0, limit: 1 });
    expect(await typesOf(scope, first?.offset)).to.deep.equal(['b.x', 'a.x', 'c.x']);
    expect(await typesOf(scope, 0, ['c.x', 'a.x'])).to.deep.equal(['a.x', 'a.x', 'c.x']);
    expect(await typesOf(scope, 0, [])).to.deep.equal([]);
  });

  it('shows a tenant its own events, a dataset those of the dataset, the system all', async () => {
    const tenant = newTenant();
    const dataset = newDataset(tenant);
    await append(tenant, 'tenant.renamed');
    await append(dataset, 'item.added');
    await append(newDataset(tenant), 'other.added');
    await append(newDataset(), 'foreign.added');
    expect(await typesOf(tenant)).to.deep.equal(['tenant.renamed', 'item.added', 'other.added']);
    expect(await typesOf(dataset)).to.deep.equal(['item.added']);
    expect(await typesOf(SYSTEM_SCOPE)).to.include.members(['tenant.renamed', 'foreign.added']);
  });

  it('holds an event if and only if its state was written', async () => {
    const scope = newTenant();
    const events = log().appendWrites(scope, [{ type: 'thing.made', subjectId: 'a', data: {} }]);
    await store().commit(scope, [insert(tenantThings, 'a', {}), ...events]);
    const again = log().appendWrites(scope, [{ type: 'thing.made', subjectId: 'a', data: {} }]);
    await rejection(store().commit(scope, [...again, insert(tenantThings, 'a', {})]));
    expect(await typesOf(scope)).to.deep.equal(['thing.made']);
  });
}
