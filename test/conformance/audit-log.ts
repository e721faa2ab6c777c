import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { auditRecordsCollection, createAuditLog } from '../../services/auth/repositories/audit-log.ts';
import { type AuditRecords, createAuditRecords } from '../../services/auth/repositories/audit-records.ts';
import { createChainCheck } from '../../services/cli/audit-check.ts';
import type { AuditRecord } from '../../services/common/domain/audit-record.ts';
import type { TenantId } from '../../services/common/kernel/brand.ts';
import { asId } from '../../services/common/kernel/ids.ts';
import { SYSTEM_SCOPE } from '../../services/common/kernel/scope.ts';
import type { AuditEntry, AuditLog } from '../../services/common/ports/audit-log.ts';
import {
  type Collection,
  type DocumentStore,
  DuplicateKeyError,
  insert,
  replace,
  update,
  VersionConflictError,
} from '../../services/common/storage/ports/document-store.ts';
import type { SharedDocuments } from '../support/document-stores.ts';

type Counter = { readonly count: number };
const counters: Collection<Counter> = { name: 'audited_counters', level: 'system', indexes: [] };

const clock = { now: () => new Date('2026-01-02T03:04:05.678Z') };

/** What the audit log promises over any document store, with two processes at it. */
export function auditLogConformance(name: string, open: () => Promise<SharedDocuments>): void {
  describe(`audit log over ${name}`, () => {
    let subject: SharedDocuments;
    let logs: readonly [AuditLog, AuditLog];
    let records: AuditRecords;
    let store: DocumentStore;
    let tenant: TenantId;

    before(async () => {
      subject = await open();
      for (const each of subject.stores) await each.prepare([auditRecordsCollection, counters]);
      [store] = subject.stores;
      logs = [createAuditLog(subject.stores[0], clock), createAuditLog(subject.stores[1], clock)];
      records = createAuditRecords(store);
    });
    after(() => subject.dispose());
    beforeEach(() => {
      tenant = asId<TenantId>(randomUUID());
    });

    const entry = (subjectId: string, of: TenantId = tenant): AuditEntry => ({
      tenant: of,
      action: 'thing.changed',
      actor: null,
      subject: subjectId,
    });
    const chainOf = async (of: TenantId): Promise<readonly AuditRecord[]> => {
      const chain: AuditRecord[] = [];
      for (;;) {
        const next = await records.range(of, chain.at(-1)?.number ?? 0, Number.MAX_SAFE_INTEGER);
        if (next.length === 0) return chain;
        chain.push(...next);
      }
    };
    const expectUnbroken = (chain: readonly AuditRecord[]): void => {
      const check = createChainCheck();
      for (const record of chain) expect(check.follow(record)).to.equal(null);
    };

    it('gives two processes that record at once one chain without gaps or forks', async () => {
      const subjects = Array.from({ length: 200 }, (_, index) => `s${index}`);
      await Promise.all(subjects.map((each, index) => logs[index % 2 === 0 ? 0 : 1].record(entry(each))));
      const chain = await chainOf(tenant);
      expectUnbroken(chain);
      expect(chain.map(({ number }) => number)).to.deep.equal(subjects.map((_, index) => index + 1));
      expect(chain.map((record) => record.subject).toSorted()).to.deep.equal(subjects.toSorted());
    });

    it('commits the described writes exactly once, however often a record was built again', async () => {
      const id = randomUUID();
      await store.commit(SYSTEM_SCOPE, [insert(counters, id, { count: 0 })]);
      const add = update(counters, id, { increment: { count: 1 }, required: true });
      const results = await Promise.all(
        Array.from({ length: 60 }, (_, index) =>
          logs[index % 2 === 0 ? 0 : 1].commit(SYSTEM_SCOPE, [add], [entry(`s${index}`)]),
        ),
      );
      expect((await store.get(SYSTEM_SCOPE, counters, id))?.value).to.deep.equal({ count: 60 });
      const counts = results.map((result) => (result[0]?.stored?.value as Counter | undefined)?.count ?? -1);
      expect(counts.toSorted((one, other) => one - other)).to.deep.equal(results.map((_, index) => index + 1));
      expect(await chainOf(tenant)).to.have.length(60);
    });

    it('rejects only the caller whose own write was refused, with the error of the store', async () => {
      const [taken, changed] = [randomUUID(), randomUUID()];
      await store.commit(SYSTEM_SCOPE, [
        insert(counters, taken, { count: 0 }),
        insert(counters, changed, { count: 0 }),
      ]);
      const [log] = logs;
      const good = () => insert(counters, randomUUID(), { count: 0 });
      const settled = await Promise.allSettled([
        log.commit(SYSTEM_SCOPE, [good()], [entry('good')]),
        log.commit(SYSTEM_SCOPE, [insert(counters, taken, { count: 1 })], [entry('duplicate')]),
        log.commit(SYSTEM_SCOPE, [good()], [entry('good')]),
        log.commit(SYSTEM_SCOPE, [replace(counters, changed, { count: 1 }, 7)], [entry('conflict')]),
        log.commit(SYSTEM_SCOPE, [good()], [entry('good')]),
      ]);
      const reasons = settled.map((each) => (each.status === 'rejected' ? (each.reason as unknown) : null));
      expect(reasons[1]).to.be.instanceOf(DuplicateKeyError);
      expect((reasons[1] as DuplicateKeyError).collection).to.equal(counters.name);
      expect(reasons[3]).to.be.instanceOf(VersionConflictError);
      expect(reasons.filter((reason) => reason === null)).to.have.length(3);
      const chain = await chainOf(tenant);
      expectUnbroken(chain);
      expect(chain.map((record) => record.subject)).to.deep.equal(['good', 'good', 'good']);
    });

    it('appends to several chains in one commit, or to none', async () => {
      const other = asId<TenantId>(randomUUID());
      const [log] = logs;
      await log.commit(SYSTEM_SCOPE, [], [entry('both'), entry('both', other), entry('again', other)]);
      const taken = randomUUID();
      await store.commit(SYSTEM_SCOPE, [insert(counters, taken, { count: 0 })]);
      const refused = log.commit(
        SYSTEM_SCOPE,
        [insert(counters, taken, { count: 1 })],
        [entry('none'), entry('none', other)],
      );
      expect(await refused.catch((error: unknown) => error)).to.be.instanceOf(DuplicateKeyError);
      await Promise.all([log.record(entry('last')), log.record(entry('last', other))]);
      expect((await chainOf(tenant)).map((record) => record.subject)).to.deep.equal(['both', 'last']);
      expect((await chainOf(other)).map((record) => record.subject)).to.deep.equal(['both', 'again', 'last']);
      expectUnbroken(await chainOf(other));
    });

    it('pages newest first, by what is asked for', async () => {
      const actor = randomUUID();
      const [log] = logs;
      for (let index = 1; index <= 7; index += 1) {
        await log.record({ ...entry(`s${index}`), actor: index % 2 === 0 ? actor : null, action: `a.${index % 3}` });
      }
      const seen: number[] = [];
      let after: string | null = null;
      do {
        const page: Awaited<ReturnType<AuditRecords['page']>> = await records.page(tenant, {}, { limit: 3, after });
        seen.push(...page.items.map(({ number }) => number));
        after = page.next;
      } while (after !== null);
      expect(seen).to.deep.equal([7, 6, 5, 4, 3, 2, 1]);
      const numbersOf = async (filter: Parameters<AuditRecords['page']>[1]) =>
        (await records.page(tenant, filter, { limit: 10, after: null })).items.map(({ number }) => number);
      expect(await numbersOf({ actor })).to.deep.equal([6, 4, 2]);
      expect(await numbersOf({ actor, action: 'a.0' })).to.deep.equal([6]);
      expect(await numbersOf({ subject: 's5' })).to.deep.equal([5]);
      expect(await numbersOf({ since: '2026-01-02T03:04:05.679Z' })).to.deep.equal([]);
      expect(await numbersOf({ until: '2026-01-02T03:04:05.678Z' })).to.deep.equal([]);
      expect(await numbersOf({ since: '2026-01-02T03:04:05.678Z', action: 'a.1' })).to.deep.equal([7, 4, 1]);
    });
  });
}
