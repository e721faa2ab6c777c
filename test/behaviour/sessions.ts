import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { collections } from '../../services/app/collections.ts';
import type { DatasetId, TenantId, UserId } from '../../services/common/kernel/brand.ts';
import { asId } from '../../services/common/kernel/ids.ts';
import { SYSTEM_SCOPE } from '../../services/common/kernel/scope.ts';
import {
  createImproveRequests,
  type StoredImproveRequest,
} from '../../services/common/records/improve/improve-requests.ts';
import { createSessionRemoval } from '../../services/common/records/session-removal.ts';
import { createSessionEntries, type QaNote } from '../../services/common/records/sessions/session-entries.ts';
import { createSessions } from '../../services/common/records/sessions/sessions.ts';
import { createVisibleSessions, type SessionOrder } from '../../services/common/records/sessions/visible-sessions.ts';
import type { SharedDocuments } from '../support/document-stores.ts';

const EVERYTHING = { from: null, before: null };

/** What sessions promise over any document store, with two processes at it. */
export function sessionsBehaviour(name: string, open: () => Promise<SharedDocuments>): void {
  describe(`sessions over ${name}`, () => {
    let subject: SharedDocuments;
    const scope = { tenant: asId<TenantId>(randomUUID()) };
    const key = () => ({ user: asId<UserId>(randomUUID()), session: `😀 ${randomUUID()}` });
    before(async () => {
      subject = await open();
      for (const store of subject.stores) await store.prepare(collections);
    });
    after(() => subject.dispose());

    const both = () =>
      subject.stores.map((store) => ({ store, entries: createSessionEntries(store, createSessions(store)) }));
    const entriesOf = (index: number) => {
      const found = both()[index % subject.stores.length];
      if (found === undefined) throw new Error('no store');
      return found.entries;
    };
    const entry = { question: 'q', context: '', answer: '\0\ud800', feedbackText: null, feedbackScore: null };
    const say = (
      index: number,
      where: ReturnType<typeof key>,
      more: Partial<{ dataset: DatasetId; at: string }> = {},
    ) =>
      entriesOf(index).appendQa(
        ...([scope, where, randomUUID()] as const),
        { ...entry, usedGraphElements: null, usedContextIds: null },
        { dataset: more.dataset ?? null, lastActivityAt: more.at ?? new Date().toISOString() },
      );

    it('number what two processes append at once without gaps, and lose nothing', async () => {
      const where = key();
      const stored = await Promise.all(Array.from({ length: 24 }, (_, index) => say(index, where)));
      const numbers = stored.map(({ number }) => number).toSorted((one, other) => one - other);
      expect(numbers).to.deep.equal(Array.from({ length: 24 }, (_, index) => index + 1));
      const all = await entriesOf(0).qasAfter(scope, where, 0, 100);
      expect(all.map(({ id }) => id)).to.have.members(stored.map(({ id }) => id));
      expect(all[0]?.answer).to.equal('\0\ud800');
    });

    it('keep each feedback and each note that two processes give at once', async () => {
      const where = key();
      const { id } = await say(0, where);
      const at = new Date().toISOString();
      await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          entriesOf(index).giveFeedback(scope, where, id, { text: null, score: (index % 5) + 1, at }),
        ),
      );
      const [rated] = await entriesOf(1).feedbackAfter(scope, where, 0, 10);
      expect(rated?.feedbackNumber).to.equal(8);
      const note = (index: number): QaNote => ({ id, memifyMetadata: { [`k${index}`]: true }, ofFeedback: 8 });
      await Promise.all(Array.from({ length: 6 }, (_, index) => entriesOf(index).note(scope, where, [note(index)])));
      expect(Object.keys((await entriesOf(0).qa(scope, where, id))?.memifyMetadata ?? {})).to.have.length(7);
    });

    it('are bound to one dataset when two processes bind them at once', async () => {
      const where = key();
      const datasets = [randomUUID(), randomUUID()].map((id) => asId<DatasetId>(id));
      await Promise.all(
        datasets.flatMap((dataset, index) => Array.from({ length: 5 }, () => say(index, where, { dataset }))),
      );
      const [store] = subject.stores;
      const session = await createSessions(store).get(scope, where);
      expect(datasets).to.include(session?.dataset);
      expect(session?.qaCount).to.equal(10);
    });

    it('give a request to one of two schedulers, again when that one died, and keep later entries', async () => {
      const dataset = asId<DatasetId>(randomUUID());
      const where = { ...key(), dataset };
      const improveRequests = subject.stores.map(createImproveRequests);
      const [one, other] = improveRequests;
      if (one === undefined || other === undefined) throw new Error('no store');
      const start = Date.now();
      const request = async (seconds: number, debounce = { entries: 1, ms: 0 }, keyId: string | null = null) => {
        const writes = await one.requestWrites(
          scope,
          { ...where, keyId },
          { at: new Date(start + seconds * 1000), debounce },
        );
        await subject.stores[0].commit(scope, writes);
      };
      const due = async (seconds: number): Promise<StoredImproveRequest | undefined> => {
        const found = await other.due(SYSTEM_SCOPE, new Date(start + seconds * 1000), 1000);
        return found.find((candidate) => candidate.dataset === dataset);
      };
      await request(0, { entries: 3, ms: 10_000 });
      await request(1, { entries: 3, ms: 10_000 }, 'first key');
      expect(await due(2)).to.equal(undefined);
      expect(await due(10)).to.include({ entries: 2, keyId: 'first key' });
      await request(3, { entries: 3, ms: 10_000 }, 'second key');
      const found = await due(3);
      if (found === undefined) throw new Error('not due after three entries');
      const until = new Date(start + 60_000);
      const taken = (await Promise.all(improveRequests.map((each) => each.take(found, until)))).filter(
        (request) => request !== null,
      );
      expect(taken).to.have.length(1);
      expect(await due(59)).to.equal(undefined);
      const again = await due(60);
      if (again === undefined) throw new Error('a dead scheduler keeps a request');
      const second = await other.take(again, new Date(start + 120_000));
      if (second === null) throw new Error('nobody else could take it');
      expect(second.keyId).to.equal('second key');
      await request(61);
      expect(await due(62)).to.equal(undefined);
      await one.settle(second);
      expect(await due(62)).to.include({ entries: 1, keyId: null });
      const last = await one.take((await due(62)) as StoredImproveRequest, until);
      await other.settle(last as StoredImproveRequest);
      expect(await due(1_000_000)).to.equal(undefined);
    });

    it('are paged in every order, own ones and shared ones together, each once', async () => {
      const [mine, theirs] = [key(), key()];
      const dataset = asId<DatasetId>(randomUUID());
      const at = (minute: number) => `2026-01-02T03:${String(minute).padStart(2, '0')}:00.000Z`;
      for (let minute = 0; minute < 12; minute += 1) {
        const who = minute % 3 === 0 ? theirs : mine;
        await say(minute, { ...who, session: `s${minute}` }, { dataset, at: at(minute) });
      }
      const visible = createVisibleSessions(subject.stores[0], createSessions(subject.stores[0]));
      for (const order of ['lastActivityAt', 'startedAt', 'tokensIn', 'tokensOut'] satisfies SessionOrder[]) {
        for (const viewer of [
          { users: [mine.user], datasets: [dataset] },
          { users: [mine.user, theirs.user], datasets: [] },
        ]) {
          const seen: string[] = [];
          for (let offset = 0; offset < 15; offset += 5) {
            const query = { ...EVERYTHING, order, descending: true, limit: 5, offset };
            const page = await visible.page(scope, viewer, query);
            expect(page.total).to.equal(12);
            seen.push(...page.sessions.map(({ session }) => session));
          }
          expect(new Set(seen).size, order).to.equal(12);
          if (order.endsWith('At')) expect(seen[0]).to.equal('s11');
        }
      }
      expect(await visible.named(scope, { users: [mine.user], datasets: [dataset] }, 's3')).to.have.length(1);
    });

    it('go with their dataset while others write to them', async () => {
      const dataset = asId<DatasetId>(randomUUID());
      const keys = Array.from({ length: 5 }, key);
      await Promise.all(keys.map((where, index) => say(index, where, { dataset })));
      const removal = createSessionRemoval(subject.stores[1] ?? subject.stores[0]);
      await Promise.allSettled([removal.ofDataset(scope, dataset), ...keys.map((where) => say(0, where, { dataset }))]);
      expect(await removal.ofDataset(scope, dataset)).to.equal(0);
      for (const where of keys) expect(await entriesOf(0).lastQas(scope, where, 10)).to.deep.equal([]);
    });
  });
}
