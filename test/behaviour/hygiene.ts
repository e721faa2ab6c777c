import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { judgeStatements } from '../../services/cognify/statements/judge-statements.ts';
import type { DataItemId, DatasetId, TenantId, UserId } from '../../services/common/kernel/brand.ts';
import { asId, dataItemId } from '../../services/common/kernel/ids.ts';
import { type DatasetScope, datasetScope } from '../../services/common/kernel/scope.ts';
import { slices } from '../../services/common/kernel/slices.ts';
import { createLedger } from '../../services/common/records/cognify/ledger.ts';
import { createStatements } from '../../services/common/records/cognify/statements.ts';
import { createSupersessions } from '../../services/common/records/cognify/supersessions.ts';
import { recordCollections } from '../../services/common/records/collections.ts';
import { createEchoMarks, echoMarksCollection } from '../../services/common/records/ingest/echo-marks.ts';
import { createRepetitions } from '../../services/common/records/ingest/repetitions.ts';
import { type DocumentStore, DuplicateKeyError } from '../../services/common/storage/ports/document-store.ts';
import { type Statement, statementId, statementKey } from '../../services/common/text/statements/statement.ts';
import type { SharedDocuments } from '../support/document-stores.ts';

const USER = asId<UserId>('00000000-0000-4000-8000-00000000000a');
const OTHER = asId<UserId>('00000000-0000-4000-8000-00000000000b');

/** Statements, what replaces what, and marks of what was shown, over any document store, with two processes at it. */
export function hygieneBehaviour(name: string, open: () => Promise<SharedDocuments>): void {
  describe(`memory hygiene over ${name}`, () => {
    let subject: SharedDocuments;
    let scope: DatasetScope;
    before(async () => {
      subject = await open();
      for (const store of subject.stores) await store.prepare(recordCollections);
    });
    beforeEach(() => {
      scope = datasetScope(asId<TenantId>(randomUUID()), asId<DatasetId>(randomUUID()));
    });
    after(() => subject.dispose());

    const partsOf = (store: DocumentStore) => ({
      store,
      statements: createStatements(store),
      supersessions: createSupersessions(store),
      repetitions: createRepetitions(store),
      ledger: createLedger(store),
      clock: { now: () => new Date('2031-05-05T00:00:00Z'), monotonicMs: () => 0 },
    });
    const processes = () => subject.stores.map(partsOf);
    const one = () => partsOf(subject.stores[0]);

    /** Somebody says in an item of its own where Ann works, on a day of 2030. */
    const say = async (employer: string, day: number, { isCommitted = true, about = 'Ann Stone' } = {}) => {
      const { statements, ledger, store } = one();
      const item = dataItemId(randomUUID());
      const at = new Date(Date.UTC(2030, 0, day)).toISOString();
      const text = `${about} works at ${employer}.`;
      const place = { item, chunk: randomUUID(), text };
      const statement: Statement = {
        id: statementId(place),
        key: statementKey(about, 'works_at'),
        subject: about,
        predicate: 'works_at',
        value: { kind: 'words', words: [employer.toLowerCase()] },
        valueText: employer,
        ...place,
        ordinal: 0,
        at,
        from: at,
        isDated: false,
        isChange: false,
        isEnd: false,
      };
      const generation = await ledger.begin(scope, item);
      await statements.put(scope, generation, [statement]);
      const commit = () => store.commit(scope, ledger.commitWrites(item, generation, 'hash', at));
      if (isCommitted) await commit();
      return { item, commit };
    };
    const forget = async (item: DataItemId) => {
      const { ledger, statements, supersessions } = one();
      await ledger.tombstone(scope, [item]);
      await statements.remove(scope, { item });
      await supersessions.removeOfItem(scope, item);
    };
    const replaced = async () =>
      (await one().supersessions.list(scope, { after: null, limit: 1000 })).items
        .map(({ older, newer }) => `${older.value} → ${newer.value}`)
        .sort();

    it('chains statements by their time, in any order of arrival, and not again when repeated', async () => {
      await say('Globex', 2);
      await judgeStatements(one(), scope);
      await say('Hooli', 3);
      await say('Initech', 1);
      expect(await judgeStatements(one(), scope)).to.equal(2);
      expect(await replaced()).to.deep.equal(['Globex → Hooli', 'Initech → Globex']);
      expect(await judgeStatements(one(), scope)).to.equal(0);
      expect(await replaced()).to.deep.equal(['Globex → Hooli', 'Initech → Globex']);
    });

    it('ignores uncommitted statements, and counts them once committed', async () => {
      await say('Initech', 1);
      const { commit } = await say('Globex', 2, { isCommitted: false });
      await judgeStatements(one(), scope);
      expect(await replaced()).to.deep.equal([]);
      await commit();
      await judgeStatements(one(), scope);
      expect(await replaced()).to.deep.equal(['Initech → Globex']);
    });

    it('gives one result when two processes judge concurrently', async () => {
      for (const [at, employer] of ['Initech', 'Globex', 'Hooli', 'Vandelay'].entries()) await say(employer, at + 1);
      await Promise.all([...processes(), ...processes()].map((parts) => judgeStatements(parts, scope)));
      expect(await replaced()).to.deep.equal(['Globex → Hooli', 'Hooli → Vandelay', 'Initech → Globex']);
    });

    it('removes the statements of one generation, or of those before it only', async () => {
      const { statements } = one();
      const { item } = await say('Initech', 1);
      const [first] = (await statements.unjudged(scope, null)).items.filter((statement) => statement.item === item);
      if (first === undefined) throw new Error('nothing was said');
      for (const generation of [2, 3, 4]) await statements.put(scope, generation, [first]);
      expect(await statements.remove(scope, { item, generation: 4 })).to.equal(1);
      expect(await statements.remove(scope, { item, beforeGeneration: 3 })).to.equal(2);
      expect(await statements.count(scope, [item])).to.equal(1);
    });

    it('closes the gap of a forgotten statement, and keeps nothing of it', async () => {
      await say('Initech', 1);
      const { item } = await say('Globex', 2);
      await say('Hooli', 3);
      await judgeStatements(one(), scope);
      const judging = processes().map((parts) => judgeStatements(parts, scope));
      await Promise.all([forget(item), ...judging]);
      await judgeStatements(one(), scope);
      expect(await replaced()).to.deep.equal(['Initech → Hooli']);
      const { statements, supersessions } = one();
      expect(await statements.count(scope, [item])).to.equal(0);
      expect(await supersessions.count(scope, [item])).to.equal(0);
    });

    it('keeps a supersession reverted after later judging, and reverts it once', async () => {
      await say('Initech', 1);
      await say('Globex', 2);
      await judgeStatements(one(), scope);
      const { supersessions, store } = one();
      const [found] = (await supersessions.list(scope, { after: null, limit: 10 })).items;
      if (found === undefined) throw new Error('nothing was replaced');
      const revert = supersessions.revertWrite(found, USER, '2031-01-01T00:00:00.000Z');
      await store.commit(scope, [revert]);
      const again = await store.commit(scope, [revert]).catch((error: unknown) => error);
      expect(again).to.be.instanceOf(DuplicateKeyError);
      await say('Hooli', 3);
      await judgeStatements(one(), scope);
      expect((await supersessions.get(scope, found.id))?.reverted?.by).to.equal(USER);
    });

    it('judges a subject with hundreds of statements by the newest of them', async () => {
      const days = Array.from({ length: 300 }, (_, at) => at + 1);
      for (const slice of slices(days, 50)) {
        await Promise.all(slice.map((day) => say(day % 2 === 0 ? 'Globex' : 'Initech', day)));
      }
      await judgeStatements(one(), scope);
      expect(await replaced()).to.have.length(299);
      await say('Hooli', 301);
      expect(await judgeStatements(one(), scope)).to.equal(1);
      const all = await replaced();
      expect(all).to.have.length(300);
      expect(all).to.include('Globex → Hooli');
    });

    it('counts every repetition of two processes, and settles each once', async () => {
      const item = dataItemId(randomUUID());
      const [first, second] = processes();
      const noted = Array.from({ length: 10 }, (_, at) =>
        (at % 2 === 0 ? first : second)?.repetitions.note(scope, item, `2031-01-01T00:00:0${at % 10}.000Z`),
      );
      await Promise.all(noted);
      const { repetitions, store } = one();
      const [repetition] = await repetitions.unsettled(scope);
      expect(repetition?.count).to.equal(10);
      if (repetition === undefined) return;
      await repetitions.note(scope, item, '2031-01-02T00:00:00.000Z');
      await store.commit(scope, [repetitions.settledWrite(repetition)]);
      const [later] = await repetitions.unsettled(scope);
      expect(later?.count).to.equal(11);
      await store.commit(scope, later === undefined ? [] : [repetitions.settledWrite(later)]);
      expect(await repetitions.unsettled(scope)).to.deep.equal([]);
    });

    it('finds sentences shown to a user from both processes, until they expire', async () => {
      const item = dataItemId(randomUUID());
      const marks = subject.stores.map(createEchoMarks);
      const shown = (print: string) => ({ fingerprint: print, item });
      const now = new Date('2031-01-01T00:00:00Z');
      const time = { now, ttlMs: 60_000 };
      await Promise.all(
        [0, 1, 0, 1].map((at) => marks[at]?.put(scope, USER, [shown('same'), shown(`own-${at}`)], time)),
      );
      const [first] = marks;
      const prints = ['same', 'own-0', 'own-1', 'unknown'];
      const found = await first?.find(scope, USER, prints, now);
      expect([...(found?.keys() ?? [])].sort()).to.deep.equal(['own-0', 'own-1', 'same']);
      expect((await first?.find(scope, OTHER, prints, now))?.size).to.equal(0);
      expect((await first?.find(scope, null, prints, now))?.size).to.equal(3);
      const later = new Date(now.getTime() + 61_000);
      expect((await first?.find(scope, USER, prints, later))?.size).to.equal(0);
      await first?.put(scope, USER, [shown('new')], { now: later, ttlMs: 60_000 });
      expect(await subject.stores[0].count(scope, echoMarksCollection, {})).to.equal(1);
    });
  });
}
