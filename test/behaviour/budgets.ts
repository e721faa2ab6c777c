import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import {
  type BudgetAccount,
  type BudgetKind,
  type BudgetLimits,
  billOf,
  type Demand,
  type Payer,
} from '../../services/common/domain/budget.ts';
import type { UserId } from '../../services/common/kernel/brand.ts';
import { isEngramError } from '../../services/common/kernel/errors.ts';
import { asId } from '../../services/common/kernel/ids.ts';
import { PERSONAL_TENANT, SYSTEM_SCOPE } from '../../services/common/kernel/scope.ts';
import { createEventLog, eventsCollection } from '../../services/common/platform/events/event-log.ts';
import type { Budgets } from '../../services/common/ports/budgets.ts';
import { datasetsCollection } from '../../services/common/records/auth/datasets.ts';
import { createBudgets } from '../../services/common/records/budgets/budget-keeper.ts';
import { budgetsCollection, createStoredBudgets } from '../../services/common/records/budgets/budgets.ts';
import { foldExpired, tokenReservationsCollection } from '../../services/common/records/budgets/token-reservations.ts';
import { countStored, usageCollection } from '../../services/common/records/budgets/usage.ts';
import { dataItemsCollection } from '../../services/common/records/ingest/data-items.ts';
import {
  type Collection,
  type DocumentStore,
  insert,
  remove,
  replace,
} from '../../services/common/storage/ports/document-store.ts';
import { textItem } from '../support/data-item.ts';
import type { SharedDocuments } from '../support/document-stores.ts';

type Thing = { readonly account: string };
const things: Collection<Thing> = { name: 'budget_things', level: 'system', indexes: [{ fields: ['account'] }] };

const LEVELS = ['items', 'datasets', 'concurrentRuns', 'storageBytes'] as const satisfies readonly BudgetKind[];

/** What budgets promise over any document store, with two processes at it. */
export function budgetBehaviour(name: string, open: () => Promise<SharedDocuments>): void {
  describe(`budgets over ${name}`, () => {
    let subject: SharedDocuments;
    let store: DocumentStore;
    let both: readonly [Budgets, Budgets];
    let account: BudgetAccount;
    let payer: Payer;
    let now = Date.parse('2026-01-02T03:04:05.678Z');

    const ignore = () => {};
    const logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };
    const clock = { now: () => new Date(now), monotonicMs: () => performance.now() };
    const ids = { uuid: randomUUID, ordered: () => randomUUID() };
    const process = (of: DocumentStore): Budgets =>
      createBudgets({ store: of, clock, ids, logger, eventLog: createEventLog({ store: of, clock, ids }) });

    before(async () => {
      subject = await open();
      const own = [budgetsCollection, usageCollection, tokenReservationsCollection, things, eventsCollection];
      for (const each of subject.stores) await each.prepare([...own, dataItemsCollection, datasetsCollection]);
      [store] = subject.stores;
    });
    after(() => subject.dispose());
    beforeEach(() => {
      both = [process(subject.stores[0]), process(subject.stores[1])];
      const id = randomUUID();
      account = `tenant/${id}`;
      payer = { tenant: asId(id), accounts: [account] };
    });

    const give = async (limits: BudgetLimits, to: BudgetAccount = account): Promise<void> => {
      const budgets = createStoredBudgets(store);
      const write = budgets.putWrite(
        { account: to, limits, ceiling: {}, updatedAt: clock.now().toISOString() },
        await budgets.get(to),
      );
      await store.commit(SYSTEM_SCOPE, [write]);
      for (const each of both) each.forget();
    };
    const charge = (by: Budgets, of: DocumentStore, demand: Demand): Promise<unknown> =>
      by.charge(billOf(payer, demand), (writes) =>
        of.commit(SYSTEM_SCOPE, [...writes, insert(things, randomUUID(), { account })]),
      );
    const outcomes = async (calls: readonly Promise<unknown>[]): Promise<Readonly<Record<string, number>>> => {
      const counts: Record<string, number> = {};
      for (const result of await Promise.allSettled(calls)) {
        const key = result.status === 'fulfilled' ? 'ok' : nameOf(result.reason);
        counts[key] = (counts[key] ?? 0) + 1;
      }
      return counts;
    };
    const fromBoth = (times: number, call: (by: Budgets, of: DocumentStore) => Promise<unknown>) =>
      outcomes(
        Array.from({ length: times }, (_, index) =>
          call(both[index % 2 === 0 ? 0 : 1], subject.stores[index % 2 === 0 ? 0 : 1]),
        ),
      );

    const itemsOf = async (accounts: readonly BudgetAccount[]) =>
      Promise.all(accounts.map(async (each) => (await both[1].standing(each)).used.items));

    for (const kind of LEVELS) {
      it(`lets exactly as many ${kind} through as the limit says, whoever asks`, async () => {
        await give({ [kind]: { limit: 7, action: 'Enforce' } });
        const counts = await fromBoth(20, (by, of) => charge(by, of, { [kind]: 1 }));
        const refusal = kind === 'concurrentRuns' ? 'TooManyRequestsError 429' : 'PayloadTooLargeError 413';
        expect(counts).to.deep.equal({ ok: 7, [refusal]: 13 });
        expect(await store.count(SYSTEM_SCOPE, things, { account })).to.equal(7);
        expect((await both[1].standing(account)).used[kind]).to.equal(7);
      });
    }

    it('lets exactly as many requests of a minute through as the limit says, and more in the next', async () => {
      await give({ requestsPerMinute: { limit: 5, action: 'Enforce' } });
      expect(await fromBoth(12, (by) => by.admitRequest(payer))).to.deep.equal({
        ok: 5,
        'TooManyRequestsError 429': 7,
      });
      const refusal = await both[0].admitRequest(payer).catch((error: unknown) => error);
      expect((refusal as { retryAfterSeconds: number }).retryAfterSeconds).to.equal(55);
      now += 60_000;
      expect(await fromBoth(1, (by) => by.admitRequest(payer))).to.deep.equal({ ok: 1 });
    });

    it('counts a rush of requests in time, of a tenant and its keys together', async () => {
      const keys = [`key/${randomUUID()}`, `key/${randomUUID()}`] as const;
      await give({ requestsPerMinute: { limit: 100, action: 'Enforce' } });
      await give({ requestsPerMinute: { limit: 30, action: 'Enforce' } }, keys[0]);
      let turn = 0;
      const counts = await fromBoth(300, (by) => {
        const key = keys[turn++ % 3];
        return by.admitRequest({ ...payer, accounts: key === undefined ? [account] : [account, key] });
      });
      expect(counts).to.deep.equal({ ok: 100, 'TooManyRequestsError 429': 200 });
      const told = await createEventLog({ store, clock, ids }).read({ tenant: payer.tenant }, { after: 0, limit: 9 });
      expect(told.find(({ data }) => data['account'] === account)?.data).to.include({ used: 100, limit: 100 });
      const [tenant, key] = await Promise.all([both[0].standing(account), both[0].standing(keys[0])]);
      expect(tenant.used.requestsPerMinute).to.equal(100);
      expect(key.used.requestsPerMinute).to.be.at.most(30);
    });

    it('reads limits once a second, however many requests there are', async () => {
      let reads = 0;
      const getMany: DocumentStore['getMany'] = (...parts) => {
        reads += 1;
        return store.getMany(...parts);
      };
      const refuse = () => Promise.reject(new Error('nothing else is asked for'));
      const counted = process({ ...store, getMany, get: refuse, find: refuse, count: refuse, commit: refuse });
      const startedAt = performance.now();
      for (let request = 0; request < 100; request += 1) {
        await counted.admitRequest(payer);
        expect(await counted.warnings(payer)).to.deep.equal([]);
      }
      expect(reads).to.be.at.most(2 + Math.floor((performance.now() - startedAt) / 1000));
    });

    it('never admits a call once the tokens are spent, and goes beyond by one call at most', async () => {
      await give({ llmTokensPerDay: { limit: 1000, action: 'Enforce' } });
      const counts = await fromBoth(20, async (by) => {
        const reservation = await by.reserveTokens(payer, 150);
        await reservation.settle({ inputTokens: 90, outputTokens: 30 });
      });
      // Nine calls of 120 pass 1000; what they set aside beforehand must not turn any of them away.
      expect(counts).to.deep.equal({ ok: 9, 'LLMPaymentRequiredError 402': 11 });
      const { used } = await both[0].standing(account);
      expect(used.llmTokensPerDay).to.equal(1080);
      expect(used.llmTokensPerMonth).to.equal(1080);
    });

    it('gives back what a failed call had set aside', async () => {
      await give({ llmTokensPerMonth: { limit: 100, action: 'Enforce' } });
      for (let call = 0; call < 3; call += 1)
        await (await both[call % 2 === 0 ? 0 : 1].reserveTokens(payer, 100)).release();
      expect((await both[0].standing(account)).used.llmTokensPerMonth).to.equal(0);
    });

    it('gives back what a dead process had set aside, once its reservation has ended', async () => {
      await give({ llmTokensPerDay: { limit: 100, action: 'Enforce' } });
      await both[0].reserveTokens(payer, 100);
      const waiting = both[1].reserveTokens(payer, 50);
      now += 61_000;
      await (await waiting).settle({ inputTokens: 10, outputTokens: 0 });
      expect((await both[1].standing(account)).used.llmTokensPerDay).to.equal(10);
      expect(await foldExpired(store, clock.now())).to.equal(0);
    });

    it('begins a new day with all its tokens', async () => {
      await give({ llmTokensPerDay: { limit: 10, action: 'Enforce' } });
      await (await both[0].reserveTokens(payer, 5)).settle({ inputTokens: 20, outputTokens: 0 });
      expect(await fromBoth(1, (by) => by.reserveTokens(payer, 5))).to.deep.equal({ 'LLMPaymentRequiredError 402': 1 });
      now += 86_400_000;
      await (await both[1].reserveTokens(payer, 5)).release();
    });

    it('keeps a key within its own limit and within the one of its tenant', async () => {
      const key: BudgetAccount = `key/${randomUUID()}`;
      payer = { ...payer, accounts: [account, key] };
      await give({ items: { limit: 5, action: 'Enforce' } });
      await give({ items: { limit: 3, action: 'Enforce' } }, key);
      expect(await fromBoth(6, (by, of) => charge(by, of, { items: 1 }))).to.deep.equal({
        ok: 3,
        'PayloadTooLargeError 413': 3,
      });
      await give({ items: { limit: 30, action: 'Enforce' } }, key);
      expect(await fromBoth(6, (by, of) => charge(by, of, { items: 1 }))).to.deep.equal({
        ok: 2,
        'PayloadTooLargeError 413': 4,
      });
      expect((await both[0].standing(key)).used.items).to.equal(5);
    });

    it('counts what comes and goes at the same time without drifting', async () => {
      await give({ items: { limit: 10, action: 'Enforce' } });
      const own: string[] = [];
      await fromBoth(60, async (by, of) => {
        const id = randomUUID();
        const gone = own.shift();
        if (gone === undefined) {
          await by.charge(billOf(payer, { items: 1, storageBytes: 3 }), (writes) =>
            of.commit(SYSTEM_SCOPE, [...writes, insert(things, id, { account })]),
          );
          own.push(id);
        } else {
          await by.charge(billOf(payer, { items: -1, storageBytes: -3 }), (writes) =>
            of.commit(SYSTEM_SCOPE, [...writes, remove(things, gone)]),
          );
        }
      });
      const left = await store.count(SYSTEM_SCOPE, things, { account });
      const { used } = await both[1].standing(account);
      expect({ items: used.items, bytes: used.storageBytes }).to.deep.equal({ items: left, bytes: left * 3 });
    });

    it('counts the data that was there before it counted', async () => {
      const tenant = asId<Payer['tenant']>(account.slice('tenant/'.length));
      const dataset = randomUUID();
      const at = clock.now().toISOString();
      await store.commit({ tenant, dataset: asId(dataset) }, [
        insert(datasetsCollection, dataset, { name: 'old', ownerId: randomUUID(), createdAt: at, updatedAt: null }),
        ...[10, 20].map((sizeBytes) => insert(dataItemsCollection, randomUUID(), itemOf(sizeBytes, at))),
      ]);
      const { used } = await both[0].standing(account);
      expect([used.datasets, used.items, used.storageBytes]).to.deep.equal([1, 2, 30]);
      await charge(both[1], subject.stores[1], { items: 1 });
      expect((await both[0].standing(account)).used.items).to.equal(3);
    });

    it('counts anew what passed from one account to another while others add to both', async () => {
      const users = [randomUUID(), randomUUID()] as const;
      const at = clock.now().toISOString();
      const scope = { tenant: PERSONAL_TENANT };
      const dataset = randomUUID();
      const ownedBy = (ownerId: string) => ({ name: dataset, ownerId, createdAt: at, updatedAt: null });
      await store.commit({ ...scope, dataset: asId(dataset) }, [
        insert(datasetsCollection, dataset, ownedBy(users[0])),
        insert(dataItemsCollection, randomUUID(), itemOf(10, at)),
      ]);
      const accounts: readonly BudgetAccount[] = [`user/${users[0]}`, `user/${users[1]}`];
      expect(await itemsOf(accounts)).to.deep.equal([1, 0]);
      const addTo = async (owner: string, by: Budgets, of: DocumentStore): Promise<void> => {
        const [id, bill] = [randomUUID(), { items: 1, datasets: 1, storageBytes: 1 }];
        const charged = billOf({ ...scope, accounts: [`user/${owner}`] }, bill);
        await by.charge(charged, (writes) =>
          of.commit({ ...scope, dataset: asId(id) }, [
            ...writes,
            insert(datasetsCollection, id, { ...ownedBy(owner), name: id }),
            insert(dataItemsCollection, randomUUID(), itemOf(1, at)),
          ]),
        );
      };
      const passOn = async (to: string): Promise<void> => {
        const found = await store.get(scope, datasetsCollection, dataset);
        await store.commit(scope, [
          replace(datasetsCollection, dataset, ownedBy(to), found?.version ?? 0),
          ...both[0].recountWrites(accounts),
        ]);
      };
      const adding = fromBoth(20, (by, of) => addTo(users[of === store ? 0 : 1], by, of));
      for (const to of [users[1], users[0], users[1]]) await passOn(to);
      const { ok = 0 } = await adding;
      const [one = 0, two = 0] = await itemsOf(accounts);
      expect([ok, one + two]).to.deep.equal([20, 21]);
      const counted = await Promise.all(accounts.map((each) => countStored(store, each)));
      expect(counted.map(({ items }) => items)).to.deep.equal([one, two]);
    });

    it('lets everything through where the limit only warns, and tells it once', async () => {
      await give({ items: { limit: 2, action: 'Warn' } });
      expect(await fromBoth(6, (by, of) => charge(by, of, { items: 1 }))).to.deep.equal({ ok: 6 });
      expect(await both[0].warnings(payer)).to.deep.equal(['items of the tenant: 6 used, limit 2']);
      const events = await createEventLog({ store, clock, ids }).read(
        { tenant: payer.tenant },
        { after: 0, limit: 100 },
      );
      expect(events.map(({ type, data }) => [type, data['kind'], data['limit']])).to.deep.equal([
        ['budget.warned', 'items', 2],
      ]);
    });

    it('tells once per window that a limit was exceeded', async () => {
      await give({ items: { limit: 0, action: 'Enforce' }, datasets: { limit: 0, action: 'Enforce' } });
      await fromBoth(6, (by, of) => charge(by, of, { items: 1 }));
      await fromBoth(2, (by, of) => charge(by, of, { datasets: 1 }));
      now += 86_400_000;
      await fromBoth(2, (by, of) => charge(by, of, { items: 1 }));
      const events = await createEventLog({ store, clock, ids }).read(
        { tenant: payer.tenant },
        { after: 0, limit: 100 },
      );
      const told = events.map(({ type, data }) => `${type} ${String(data['kind'])}`);
      expect(told).to.deep.equal(['budget.exceeded items', 'budget.exceeded datasets', 'budget.exceeded items']);
    });

    it('takes what was stored before the default, a null too', async () => {
      const [of] = subject.stores;
      const defaults: BudgetLimits = {
        items: { limit: 1, action: 'Enforce' },
        datasets: { limit: 1, action: 'Enforce' },
      };
      const eventLog = createEventLog({ store: of, clock, ids });
      const budgets = createBudgets({ store: of, clock, ids, logger, eventLog, defaults });
      await give({ items: { limit: null, action: 'Enforce' } });
      await charge(budgets, of, { items: 5 });
      expect(await outcomes([charge(budgets, of, { datasets: 2 })])).to.deep.equal({ 'PayloadTooLargeError 413': 1 });
    });
  });
}

function itemOf(sizeBytes: number, createdAt: string) {
  const hash = randomUUID();
  const { id: _, ...item } = textItem({ name: hash, ownerId: asId<UserId>(randomUUID()), contentHash: hash });
  return { ...item, sizeBytes, waitingSince: createdAt, createdAt };
}

function nameOf(error: unknown): string {
  return isEngramError(error) ? `${error.wireName} ${error.status}` : String(error);
}
